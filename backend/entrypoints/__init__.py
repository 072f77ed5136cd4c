"""Lambda handlers, and the modules that wire services to ports."""

import gc
import os
from collections.abc import Callable
from typing import Any, TypeVar

Handler = TypeVar("Handler", bound=Callable[..., Any])

# Starting creates some hundred thousand objects and no garbage; collecting meanwhile takes a fifth
# of the time that a function needs to start. Other importers of this package never call `ready`,
# and would keep all their garbage.
if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:  # noqa: TID251 - no setting, AWS says it
    gc.disable()


def ready(handler: Handler) -> Handler:
    """Enable garbage collection, but exclude the objects that exist now."""
    gc.freeze()
    gc.enable()
    return handler
