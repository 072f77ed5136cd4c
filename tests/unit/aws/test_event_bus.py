"""The bus of EventBridge: refused events, throttling, limits of a request."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from backend.aws.event_bus import EventBridgeBus
from backend.core.errors import UnavailableError
from backend.core.event_bus import Event

AT = "2026-03-01T12:00:00.000000Z"


class Bridge:
    """Replaces the client: refuses the events of some numbers, or fails."""

    def __init__(self, refused: Sequence[int] = (), code: str = "") -> None:
        self.requests: list[list[dict[str, Any]]] = []
        self._refused, self._code = {f'{{"number": {number}' for number in refused}, code

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        if self._code:
            status = 400 if self._code.startswith("Throttling") else 500
            facts = {"HTTPStatusCode": status}
            error: Any = {"Error": {"Code": self._code}, "ResponseMetadata": facts}
            raise ClientError(error, "PutEvents")
        self.requests.append(Entries)
        results = [
            {"ErrorCode": "ThrottlingException", "ErrorMessage": "slow down"}
            if any(entry["Detail"].startswith(start) for start in self._refused)
            else {"EventId": "e"}
            for entry in Entries
        ]
        return {"FailedEntryCount": len(self._refused), "Entries": results}


def events(count: int, size: int = 0) -> list[Event]:
    details = ({"number": number, "x": "x" * size} for number in range(count))
    return [Event(type="asset.changed", at=AT, detail=detail) for detail in details]


def bus(client: Any) -> EventBridgeBus:
    return EventBridgeBus(client, "vitrine-test")


def test_refused_events_are_named_by_their_position_in_all_requests() -> None:
    client = Bridge(refused=[3, 12])
    assert bus(client).publish(events(25)) == {3, 12}
    assert [len(request) for request in client.requests] == [10, 10, 5]
    first = client.requests[0][0]
    assert first["Time"] == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert (first["EventBusName"], first["Source"]) == ("vitrine-test", "vitrine")


def test_a_request_has_at_most_256_kilobytes() -> None:
    client = Bridge()
    assert bus(client).publish(events(5, size=100_000)) == set()
    assert [len(request) for request in client.requests] == [2, 2, 1]


@pytest.mark.parametrize("code", ["ThrottlingException", "InternalException"])
def test_a_bus_that_fails_or_throttles_is_an_outage(code: str) -> None:
    with pytest.raises(UnavailableError, match="EventBridge"):
        bus(Bridge(code=code)).publish(events(1))
