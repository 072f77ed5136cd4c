"""The port through which one function calls another and waits for its reply.

`backend/aws/function_calls.py` implements it.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from backend.values import frozen


@frozen
class CallReply:
    """The result of a call of a function, as JSON; `failure` is the reason if it failed.

    `kind` is the name of its error as Lambda reports it, empty without one. `late`: it was ended at
    its time-out, or has not replied until then.
    """

    payload: object = None
    failure: str | None = None
    kind: str = ""
    late: bool = False


class ReplyLostError(Exception):
    """No reply was received, although the function may run, or have run."""


class FunctionCalls(Protocol):
    """Calls functions in tenant isolation."""

    def call(self, function: str, tenant: str, request: Mapping[str, Any]) -> CallReply:
        """Return the reply of an instance that serves this tenant only.

        Raises:
            ReplyLostError: the connection ended before the reply, or Lambda failed.
            UnavailableError: the function cannot be called now.
        """
        ...
