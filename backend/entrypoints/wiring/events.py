"""Lambda handlers of functions without routes: consumers of streams and queues, scheduled runs."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger

from backend.core.deliveries import Event
from backend.core.errors import UnavailableError
from backend.entrypoints import ready
from backend.entrypoints.wiring.context import Context
from backend.spec.functions import Function

Run = Callable[[Event], dict[str, Any]]
"""Takes an event and returns the function's reply."""
# Part of a function's timeout in which a scheduled run starts work: what has begun by then can end.
_SHARE = 0.5
_logger = Logger()


def handle(function: Function, make: Callable[[Context], Run]) -> Callable[..., dict[str, Any]]:
    """Return the Lambda handler of a function."""
    run = make(Context(function))

    @_logger.inject_lambda_context(clear_state=True)
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
        return run(event)

    return ready(handler)


def scheduled(context: Context, work: Callable[[datetime], Mapping[str, int]]) -> Run:
    """Return a run that works until a share of the function's time has passed, and counts."""

    def run(_event: Event) -> dict[str, Any]:
        until = context.clock() + timedelta(seconds=context.function.timeout_seconds * _SHARE)
        try:
            counts = work(until)
        except UnavailableError as error:  # the next run continues
            _logger.warning("outage: the run ends", extra={"reason": error.message})
            return {"outage": 1}
        _logger.info("done", extra={"counts": counts})
        return dict(counts)

    return run
