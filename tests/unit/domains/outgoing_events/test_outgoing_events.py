"""Events of audit entries: their content, their numbers, and that none is lost."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from backend.core.errors import UnavailableError
from backend.core.identity import SYSTEM, SYSTEM_PARTITIONS
from backend.core.references import AssetRef
from backend.core.tables import Tables
from backend.domains.outgoing_events.repository import EventNumbers
from backend.domains.outgoing_events.rules import event_of
from backend.domains.outgoing_events.service import EventPublisher, OutgoingEvents
from backend.spec.events import COMMON_FIELDS, EVENT_TYPES, EventType, schema_of
from backend.spec.metrics import Metric
from backend.spec.queues import OUTGOING_EVENTS
from backend.spec.routes import ROUTES
from tests.fakes.event_bus import MemoryBus
from tests.fakes.queues import MemoryQueues
from tests.fakes.tables import MemoryTables

AT = "2026-03-01T12:00:00.000000Z"
TYPES = {event.name: event for event in EVENT_TYPES}
NOT_ROUTES = {"complete_execution"}


def entry(
    operation: str,
    entity: str = "asset:museum:statue",
    number: int = 0,
    /,
    **after: object,
) -> dict[str, Any]:
    return {
        "entity": entity,
        "at": f"{AT}#{number:04}",
        "userId": "ann",
        "operation": operation,
        "changes": {name: {"after": value} for name, value in after.items()},
    }


def valid(event_type: EventType, detail: Mapping[str, Any]) -> bool:
    return Draft202012Validator(schema_of(event_type)).is_valid(detail)


FILE = "file:museum:statue:/a:b/%3A \U0001f5ff\n'.glb"
PATH = {"filePath": "/a:b/%3A \U0001f5ff\n'.glb"}
ENDED = {
    "databaseId": "museum",
    "assetId": "statue",
    "workflowDatabaseId": "GLOBAL",
    "workflowId": "convert",
    "executionStatus": "ABORTED",
}


@pytest.mark.parametrize(
    ("stored", "event_type", "fields"),
    [
        (entry("create_asset", assetName="A statue"), "asset.created", {}),
        (entry("update_asset", description="x" * 9000), "asset.changed", {}),
        (entry("an_operation_of_a_later_release"), "asset.changed", {}),
        (entry("store_outputs", executionId="e1"), "asset.changed", {"executionId": "e1"}),
        (entry("archive_asset"), "asset.archived", {}),
        (entry("delete_asset"), "asset.deleted", {}),
        (
            entry("create_asset_version", assetVersionId="3", currentVersion={"comment": "c"}),
            "version.created",
            {"assetVersionId": "3"},
        ),
        (
            entry("complete_upload", uploadId="y1", files={"/a": "uploaded", "/b": "too large"}),
            "file.uploaded",
            {"uploadId": "y1", "filePaths": ["/a"]},
        ),
        (entry("complete_upload", uploadId="y1"), "file.uploaded", {"uploadId": "y1"}),
        (entry("complete_upload", uploadId="y1", files={"/b": "too large"}), None, {}),
        (entry("update_file_metadata", FILE, note="secret"), "file.changed", PATH),
        (
            entry("revert_file_version", FILE, revertedFromVersionId="v1"),
            "file.changed",
            {**PATH, "revertedFromVersionId": "v1"},
        ),
        (entry("move_file", FILE, path="/c"), "file.moved", {**PATH, "newPath": "/c"}),
        (
            entry("copy_file", FILE, path="/c", copiedFrom="m/s/a", copiedVersionId="v"),
            "file.copied",
            {**PATH, "copiedFrom": "m/s/a", "copiedVersionId": "v"},
        ),
        (entry("delete_file", FILE), "file.deleted", PATH),
        (
            entry("stop_execution", "execution:e1", **ENDED),
            "workflow.execution.completed",
            {
                "executionId": "e1",
                "workflowDatabaseId": "GLOBAL",
                "workflowId": "convert",
                "status": "ABORTED",
            },
        ),
        (entry("stop_execution", "execution:e1", executionStatus="ABORTED"), None, {}),
        (entry("start_execution", "execution:e1", **ENDED), None, {}),
    ],
)
def test_an_event_has_ids_and_the_actor_of_its_entry_and_no_content(
    stored: dict[str, Any], event_type: str | None, fields: dict[str, Any]
) -> None:
    event = event_of(stored)
    if event is None or event_type is None:
        assert event is event_type is None
        return
    assert event.type == event_type
    detail = event.detail(1)
    assert detail == {
        "id": event.id,
        "number": 1,
        "at": AT,
        "actor": "ann",
        "operation": stored["operation"],
        "databaseId": "museum",
        "assetId": "statue",
        **fields,
    }
    assert valid(TYPES[event_type], detail)
    assert not valid(TYPES[event_type], {**detail, "description": "content"})


def test_an_id_derives_from_the_key_of_the_entry_and_changes_of_the_product_name_it() -> None:
    first, again, other = (event_of(entry("update_asset", "asset:m:s", n)) for n in (1, 1, 2))
    assert first is not None
    assert again is not None
    assert other is not None
    assert first.id == again.id != other.id
    own = event_of({**entry("create_asset"), "userId": SYSTEM_PARTITIONS[-1]})
    assert own is not None
    assert own.actor == SYSTEM.user_id


def test_what_an_event_requires_and_the_entry_lacks_is_an_error() -> None:
    with pytest.raises(ValueError, match="newPath"):
        event_of(entry("move_file", FILE))


def test_operations_of_events_exist_and_have_one_type() -> None:
    named = [operation for event in EVENT_TYPES for operation in event.operations]
    assert len(named) == len(set(named))
    assert set(named) - {route.name for route in ROUTES} == NOT_ROUTES
    common = {declared.name for declared in COMMON_FIELDS}
    assert all(not common & {f.name for f in event.fields} for event in EVENT_TYPES)


@dataclass
class World:
    """A publisher, its queue and a bus."""

    tables: Tables = field(default_factory=MemoryTables)
    queues: MemoryQueues = field(default_factory=MemoryQueues)
    bus: MemoryBus = field(default_factory=MemoryBus)
    failures: list[str] = field(default_factory=list[str])
    counted: list[Metric] = field(default_factory=list[Metric])

    def hand_over(self, entries: Iterable[Mapping[str, Any]]) -> None:
        outgoing = OutgoingEvents(self.queues)
        outgoing.send([event for item in entries if (event := outgoing.read(item)) is not None])

    def deliver(self) -> set[str]:
        """Deliver all messages once; return the ids of those that remain in the queue."""
        messages = [m for m in self.queues.messages if m.queue == OUTGOING_EVENTS.name]
        publisher = EventPublisher(
            EventNumbers(self.tables),
            self.bus,
            self.queues,
            lambda name, body, reason: self.failures.append(reason),
            self.counted.append,
        )
        reply = publisher.consume({"Records": self.queues.receive(messages)})
        left = {item["itemIdentifier"] for item in reply["batchItemFailures"]}
        self.queues.remove({message.id for message in messages} - left)
        return left

    def numbers(self) -> dict[str, set[int]]:
        """The published numbers of each event."""
        numbers: dict[str, set[int]] = {}
        for event in self.bus.published:
            numbers.setdefault(event.detail["id"], set()).add(event.detail["number"])
        return numbers

    def check_complete(self, count: int) -> None:
        """Check that each event has one number, and all numbers were published."""
        numbers = self.numbers().values()
        assert all(len(of_event) == 1 for of_event in numbers)
        assert sorted(itertools.chain(*numbers)) == list(range(1, count + 1))


def edits(count: int) -> list[dict[str, Any]]:
    return [entry("update_asset", "asset:museum:statue", number) for number in range(count)]


def test_events_are_numbered_by_asset_in_the_order_of_changes() -> None:
    world = World()
    later = {
        **entry("update_asset", "asset:museum:statue", 1),
        "at": "2026-03-02T00:00:00.000000Z#",
    }
    world.hand_over([later, *edits(1), entry("update_asset", "asset:museum:vase")])
    assert world.deliver() == set()
    published = {(e.detail["assetId"], e.detail["number"], e.at[:10]) for e in world.bus.published}
    assert published == {
        ("statue", 1, "2026-03-01"),
        ("statue", 2, "2026-03-02"),
        ("vase", 1, "2026-03-01"),
    }


def test_repeated_entries_keep_their_numbers_in_any_batch() -> None:
    world = World()
    world.hand_over([*edits(3), *edits(1)])
    world.deliver()
    world.hand_over(reversed(edits(120)))  # more than a transaction takes
    world.deliver()
    world.check_complete(120)


def test_a_used_id_continues_the_numbers_of_the_asset_that_was_deleted() -> None:
    world = World()
    world.hand_over([entry("create_asset"), entry("delete_asset", "asset:museum:statue", 1)])
    world.deliver()
    world.hand_over([entry("create_asset", "asset:museum:statue", 2)])
    world.deliver()
    types = [(event.detail["number"], event.type) for event in world.bus.published]
    assert types == [(1, "asset.created"), (2, "asset.deleted"), (3, "asset.created")]


def test_publishers_at_once_draw_no_number_twice() -> None:
    tables, asset = MemoryTables(), AssetRef("museum", "statue")
    numbers = EventNumbers(tables)
    events = [event for item in edits(12) if (event := event_of(item)) is not None]
    others = [events[3:9], events[6:]]
    drawn: list[dict[str, int]] = []

    def draw_between(operation: str) -> None:
        if operation == "write" and others:
            drawn.append(numbers.draw(asset, others.pop()))

    tables.before = draw_between
    drawn.append(numbers.draw(asset, events[:6]))
    merged = {key: value for part in drawn for key, value in part.items()}
    assert all(merged[key] == value for part in drawn for key, value in part.items())
    assert sorted(merged.values()) == list(range(1, 13))


class Crash(BaseException):
    """The function is killed."""


@pytest.mark.parametrize("step", ["get_many", "write", "before the bus", "after the bus"])
@pytest.mark.parametrize("error", [Crash, UnavailableError])
def test_a_crash_or_an_outage_at_any_step_loses_nothing_and_leaves_no_gap(
    step: str, error: type[BaseException]
) -> None:
    world = World()
    world.hand_over(edits(2))
    world.deliver()
    world.hand_over(edits(5))
    failing = True

    def fail_at(operation: str) -> None:
        nonlocal failing
        if failing and operation == step:
            failing = False
            raise error("gone")

    tables = world.tables
    assert isinstance(tables, MemoryTables)
    tables.before = fail_at
    world.bus.before, world.bus.after = (
        lambda: fail_at("before the bus"),
        lambda: fail_at("after the bus"),
    )
    try:
        assert len(world.deliver()) == 5
        assert error is UnavailableError
        assert [metric.name for metric in world.counted] == ["BatchesGivenBack"]
    except Crash:
        assert error is Crash
    world.hand_over(edits(7))
    assert world.deliver() == set()
    world.check_complete(7)


def test_events_that_the_bus_refuses_return_to_the_queue_with_their_numbers() -> None:
    world = World()
    world.hand_over(edits(4))
    world.bus.refuses = lambda event: event.detail["number"] % 2 == 0
    assert len(world.deliver()) == 2
    assert {seconds for _, _, seconds in world.queues.postponed} == {10}
    assert sorted(event.detail["number"] for event in world.bus.published) == [1, 3]
    world.bus.refuses = lambda event: False
    assert world.deliver() == set()
    world.check_complete(4)


def test_an_unreadable_message_is_stored_and_blocks_no_other() -> None:
    world = World()
    world.queues.send(OUTGOING_EVENTS, [{"type": "asset.changed"}])
    world.hand_over(edits(1))
    assert world.deliver() == set()
    assert len(world.failures) == 1
    world.check_complete(1)
