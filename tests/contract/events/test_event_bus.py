"""The contract of the port of the bus. Refusals of EventBridge: `tests/unit/aws`."""

from backend.core.event_bus import Event
from tests.contract.events.conftest import Place

AT = "2026-03-01T12:00:00.000000Z"


def events(count: int, text: str = "") -> list[Event]:
    details = ({"number": number, "filePath": text} for number in range(count))
    return [Event(type="file.changed", at=AT, detail=detail) for detail in details]


def test_nothing_published_is_nothing(place: Place) -> None:
    assert place.bus.publish([]) == set()
    assert place.received() == []


def test_events_arrive_as_they_were_published_in_any_number(place: Place) -> None:
    published = events(25, "/ä€\U0001f600:\n\x01'\"%3A.glb")
    assert place.bus.publish(published) == set()
    received = place.received()
    assert sorted(detail["number"] for _, _, detail in received) == list(range(25))
    assert all(detail["filePath"] == published[0].detail["filePath"] for _, _, detail in received)
    assert {kind for kind, _, _ in received} == {"file.changed"}
    assert {time[:19] for _, time, _ in received} == {AT[:19]}


def test_large_events_arrive(place: Place) -> None:
    assert place.bus.publish(events(4, "x" * 100_000)) == set()
    assert sorted(detail["number"] for _, _, detail in place.received()) == list(range(4))
