"""Lambda handlers, and the modules that wire services to ports."""

import gc
import os
from collections.abc import Callable
from typing import Any, TypeVar

Handler = TypeVar("Handler", bound=Callable[..., Any])

# Starting makes some hundred thousand objects and no garbage: to walk them while they are made
# takes a fifth of the time that a function needs to start. Others who import from here never say
# that they are ready, and would keep all their garbage.
if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:  # noqa: TID251 - no setting, AWS says it
    gc.disable()


def ready(handler: Handler) -> Handler:
    """Collect garbage from now on, but never walk again what was there at the start."""
    gc.freeze()
    gc.enable()
    return handler
