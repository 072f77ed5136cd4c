"""The set of an entity's records: counted exactly, read whole, whatever an index shows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from backend.core.errors import ConflictError, NotFoundError
from backend.core.transactions import Check, Write, exists
from backend.domains.assets.service.commands import AssetService
from backend.domains.metadata.models import (
    AnyEntity,
    DatabaseEntity,
    Entity,
    LinkEntity,
    NewRecord,
    Record,
)
from backend.domains.metadata.repository import MetadataRepository
from backend.domains.metadata.service.records import RecordService
from backend.domains.metadata_schemas.models import CreateSchemaBody
from backend.spec.tables.assets import ASSET_LINK_ID, ASSET_LINKS
from backend.spec.tables.metadata import RECORD_SETS
from tests.factories.assets import ADMIN, asset_service, created_asset, created_database
from tests.factories.audit import entries
from tests.factories.metadata import record_service
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.metadata_schemas.calls import field, schema_body

STATUE = Entity("museum", "statue")
LINK = LinkEntity("link-1", ("museum", "garden"))
ENTITIES: tuple[AnyEntity, ...] = (
    STATUE,
    Entity("museum", "statue", "/a.glb"),
    Entity("museum", "statue", "/a.glb", "attribute"),
    DatabaseEntity("museum"),
    LINK,
)


@dataclass
class RecordSetup:
    tables: MemoryTables
    assets: AssetService
    records: RecordService

    def size(self, entity: AnyEntity = STATUE) -> int:
        return self.records.metadata.set_of(entity).size

    def keys(self, entity: AnyEntity = STATUE) -> list[str]:
        return [record.metadata_key for record in self.records.records_of(entity)]

    def add_schema(
        self, database: str, kind: str, key: str, value_type: str = "string", **more: Any
    ) -> None:
        body = schema_body(
            field(key, value_type, **more), databaseId=database, metadataSchemaEntityType=kind
        )
        self.records.schemas.create_schema(ADMIN, CreateSchemaBody.model_validate(body))

    def put(self, *keys: str, entity: AnyEntity = STATUE) -> None:
        self.records.change_records(ADMIN, entity, new(*keys))


def new(*keys: str) -> list[NewRecord]:
    value = {"metadata_value_type": "string", "metadata_value": "v"}
    return [NewRecord.model_validate({"metadata_key": key, **value}) for key in keys]


def made(
    *, lagging: bool = False, waits: Callable[[MemoryTables], None] | None = None
) -> RecordSetup:
    """Services over tables in memory; `waits` is what happens while an index is waited for."""
    tables = MemoryTables(lagging=lagging)
    assets = asset_service(tables, MemoryObjects())
    for name in ("museum", "garden"):
        created_database(assets, name)
    created_asset(assets)
    records = record_service(assets, tables)
    if waits is not None:
        metadata = MetadataRepository(tables, lambda _: waits(tables))
        records = replace(records, metadata=metadata)
    return RecordSetup(tables, assets, records)


def test_replacing_all_waits_for_records_that_an_index_does_not_show_yet() -> None:
    bench = made(lagging=True, waits=lambda tables: tables.catch_up(0))
    bench.put("a", "b")
    assert bench.records.metadata.keys_of(STATUE) == set()
    result = bench.records.change_records(ADMIN, STATUE, new("c"), update_type="replace_all")
    assert result.done == ("c",)
    assert bench.keys() == ["c"]


def test_records_cannot_be_replaced_while_their_index_lags() -> None:
    bench = made(lagging=True)
    bench.put("a", "b")
    with pytest.raises(ConflictError, match="changing the same keys"):
        bench.records.change_records(ADMIN, STATUE, new("c"), update_type="replace_all")
    assert bench.size() == 2
    bench.tables.catch_up(0)
    assert bench.keys() == ["a", "b"]


def test_a_record_that_is_added_while_all_are_replaced_is_replaced_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = made()
    bench.put("a")
    meanwhile(monkeypatch, lambda: bench.put("late"))
    bench.records.change_records(ADMIN, STATUE, new("c"), update_type="replace_all")
    assert (bench.keys(), bench.size()) == (["c"], 1)


def test_what_finds_no_room_after_others_came_in_between_fails_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = made()
    bench.put(*(f"k{number}" for number in range(350)))
    meanwhile(monkeypatch, lambda: bench.put("one more"), after=1)
    wanted = [f"n{number}" for number in range(150)]
    result = bench.records.add_records(ADMIN, STATUE, new(*wanted))
    assert (len(result.done), len(result.failed)) == (98, 52)
    assert {error for _, error in result.failed} == {
        "The entity already has 500 keys, which is the maximum"
    }
    assert bench.size() == len(bench.keys()) == 449


def test_what_was_accepted_once_is_written_as_it_is() -> None:
    bench = made()
    bench.add_schema("museum", "assetMetadata", "weight", "number", required=True)
    result = bench.records.entries(ADMIN, "copy", STATUE)
    records = [Record(metadata_key=key, metadata_value="v") for key in "ab"]
    bench.records.write_as_is(STATUE, records, result)
    assert bench.keys() == ["a", "b"]
    bench.records.write_as_is(STATUE, records, result)
    bench.records.write_as_is(STATUE, [], result)
    assert (bench.keys(), bench.size()) == ([], 0)
    of_asset = [e["operation"] for e in entries(bench.tables) if "statue" in e["entity"]]
    assert of_asset == ["copy_asset_metadata"] * 2  # one that changes nothing tells nothing


def test_a_link_has_the_schemas_of_both_ends_and_a_guard_can_refuse_its_metadata() -> None:
    bench = made()
    for database, key in (("museum", "a"), ("garden", "b"), ("GLOBAL", "c")):
        bench.add_schema(database, "assetLinkMetadata", key)
    assert sorted(bench.records.fields(LINK)) == ["a", "b", "c"]
    gone = Check(
        table=ASSET_LINKS,
        key={ASSET_LINK_ID.name: LINK.asset_link_id},
        conditions=(exists(ASSET_LINK_ID.name),),
        refused=NotFoundError("the link is gone"),
    )
    with pytest.raises(NotFoundError):
        bench.records.add_records(ADMIN, LINK, new("a"), guards=[gone])
    assert bench.size(LINK) == 0
    bench.records.add_records(ADMIN, LINK, new("a"))
    assert bench.keys(LINK) == ["a"]
    (entry,) = [e for e in entries(bench.tables) if e["entity"] == "assetLink:link-1"]
    assert entry["operation"] == "create_asset_link_metadata"
    bench.tables.write(bench.records.count_removal(LINK))
    assert bench.size(LINK) == 0


keys = st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True)
verbs = st.sampled_from(("add", "change", "replace", "remove"))


@hypothesis_settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(ENTITIES), verbs, keys), max_size=12))
def test_the_count_is_that_of_the_records_whatever_is_done(
    steps: list[tuple[AnyEntity, str, list[str]]],
) -> None:
    bench = made()
    model: dict[AnyEntity, set[str]] = {entity: set() for entity in ENTITIES}
    for entity, verb, wanted in steps:
        if verb == "add":
            result = bench.records.add_records(ADMIN, entity, new(*wanted))
            assert set(result.done) == set(wanted) - model[entity]
            model[entity] |= set(wanted)
        elif verb == "remove":
            done = bench.records.remove_records(ADMIN, entity, wanted).done
            assert set(done) == set(wanted) & model[entity]
            model[entity] -= set(wanted)
        else:
            kind = "replace_all" if verb == "replace" else "update"
            bench.records.change_records(ADMIN, entity, new(*wanted), update_type=kind)
            model[entity] = set(wanted) | (model[entity] if kind == "update" else set[str]())
    for entity, expected in model.items():
        assert (set(bench.keys(entity)), bench.size(entity)) == (expected, len(expected))
    assert len(bench.tables.rows(RECORD_SETS)) <= len(ENTITIES)


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None], *, after: int = 0) -> None:
    """Do something just before a transaction, the first one or a later one."""
    transact, calls = MemoryTables.transact, count()

    def raced(self: MemoryTables, writes: Sequence[Write]) -> None:
        if next(calls) == after:
            act()
        transact(self, writes)

    monkeypatch.setattr(MemoryTables, "transact", raced)
