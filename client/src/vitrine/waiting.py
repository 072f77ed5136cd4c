"""Waiting until a local runtime has worked off every change, so that a search sees it."""

import time
from collections.abc import Callable
from typing import Final

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from vitrine.errors import ProtocolError, UnreachableError, VitrineError

PAUSE: Final = 0.25
ATTEMPTS: Final = 4


class DrainTimeoutError(VitrineError):
    """Work was still under way when the time was over; the message carries what was left."""


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
) -> float:
    """Asks until nothing is under way; the seconds that it took.

    Raises:
        DrainTimeoutError: not within the time.
        UnreachableError: the runtime does not answer.
        ProtocolError: what answers is no runtime.
    """
    started = clock()
    missed = 0
    # The runtime looks through whole buckets before it says yes.
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
            if waited >= timeout:
                left = state.model_dump_json(exclude={"drained"})
                raise DrainTimeoutError(
                    f"not all changes processed after {timeout:g} s; still waiting: {left}"
                )
            sleep(PAUSE)


def _state(response: httpx.Response) -> _State:
    try:
        return _State.model_validate_json(response.content)
    except ValidationError as error:
        raise ProtocolError(
            f"unexpected reply from {response.request.url} with status {response.status_code}"
        ) from error
