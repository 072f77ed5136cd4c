"""Waits until a local runtime has processed every change, so that searches include it."""

import time
from collections.abc import Callable
from typing import Final, cast

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from vitrine.errors import ProtocolError, UnreachableError, VitrineError

PAUSE: Final = 0.25
ATTEMPTS: Final = 4
# Printed again so that a long import does not look stuck.
REPORT_SECONDS: Final = 10.0


class DrainTimeoutError(VitrineError):
    """Changes were not processed in time; the message lists the remaining ones."""


class _State(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    drained: bool


def wait_until_drained(
    admin_url: str,
    *,
    timeout: float,
    http: httpx.BaseTransport | None = None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    say: Callable[[str], None] = lambda _: None,
) -> float:
    """Wait until no change is being processed; return the seconds that it took.

    `say` is called with what is waited for, every ten seconds.

    Raises:
        DrainTimeoutError: not all changes were processed in time.
        UnreachableError: the runtime does not respond.
        ProtocolError: the server is not a runtime.
    """
    started = reported = clock()
    missed = 0
    # The runtime lists whole buckets before it confirms.
    with httpx.Client(transport=http, timeout=60.0) as client:
        while True:
            try:
                response = client.get(f"{admin_url.rstrip('/')}/drained")
                missed = 0
            except httpx.TransportError as error:
                missed += 1
                if missed >= ATTEMPTS:
                    raise UnreachableError(f"{admin_url} does not respond: {error}") from error
                sleep(PAUSE)
                continue
            state = _state(response)
            waited = clock() - started
            if state.drained:
                return waited
            if clock() - reported >= REPORT_SECONDS:
                reported = clock()
                say(f"{waited:.0f} s: waiting for {_left(state)}")
            if waited >= timeout:
                left = state.model_dump_json(exclude={"drained"})
                raise DrainTimeoutError(
                    f"not all changes processed after {timeout:g} s; still waiting: {left}"
                )
            sleep(PAUSE)


def _left(state: _State) -> str:
    """Return what a runtime still processes, with counts: `executions 3, running 2`."""
    counts = dict[str, object](state.model_extra or {})
    queues = counts.pop("queues", None)
    if isinstance(queues, dict):
        counts |= {f"queue {name}": count for name, count in cast("dict[str, int]", queues).items()}
    parts = [
        f"{name} {', '.join(map(str, cast('list[object]', value)))}"
        if isinstance(value, list)
        else name
        if value is True
        else f"{name} {value}"
        for name, value in counts.items()
        if value
    ]
    return ", ".join(parts) or "the last changes"


def _state(response: httpx.Response) -> _State:
    try:
        return _State.model_validate_json(response.content)
    except ValidationError as error:
        raise ProtocolError(
            f"unexpected reply from {response.request.url} with status {response.status_code}"
        ) from error
