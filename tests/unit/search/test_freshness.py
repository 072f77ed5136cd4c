"""Whether an index is said to hold a write: never before it does, and then before long."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.core.references import AssetRef, FileKeyRef, FileRef
from backend.core.search_engine import JsonObject
from backend.core.sync_tokens import Written, WrittenDocument
from backend.core.transactions import Delete, Put, Update
from backend.domains.assets.repository import AssetRepository
from backend.domains.metadata.models import Entity
from backend.domains.metadata.repository import MetadataRepository, set_key
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.projections import project
from backend.search.indexing.references import Reference
from backend.search.indexing.sources import Sources
from backend.search.indexing.state import SearchState
from backend.search.query.freshness import Freshness, Watch
from backend.search.query.queries import NOT_SHOWN
from backend.spec.keys import archived
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import ASSET_FILE_METADATA, RECORD_SETS
from tests.factories.buckets import stored_bucket
from tests.factories.search import (
    ASSET,
    DATABASE,
    NOON,
    asset_row,
    metadata_key,
    rebuilder,
    remove_asset,
    store_asset,
    store_metadata,
)
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine
from tests.fakes.tables import MemoryTables

PUMP = AssetRef(DATABASE, ASSET)
WHEEL = FileRef(DATABASE, ASSET, "/wheel.glb")
WHEEL_KEY = f"{ASSET}/wheel.glb"
KEYS = ("height", "maker")


class World:
    """The tables, whose global indexes lag, an engine in memory, and one asset that has no row."""

    def __init__(self, *, lagging: bool = True) -> None:
        self.tables = MemoryTables()
        self.objects = MemoryObjects()
        self.engine = MemorySearchEngine()
        stored_bucket(self.tables)
        self.state = SearchState(self.tables, lambda: NOON)
        ensure_indexes(self.engine, self.state)
        self.rebuilder = rebuilder(self.tables, self.objects, MemoryQueues(), self.engine)
        self.tables.lagging = lagging
        self.numbers = iter(range(1, 1000))

    def rebuild(self, *references: Reference) -> None:
        self.rebuilder.rebuild(references or (PUMP,))

    def catch_up(self) -> None:
        self.tables.catch_up(10**9)

    def rename(self, name: str) -> None:
        self.tables.write(Put(table=ASSETS, item=asset_row(assetName=name)))

    def put_record(self, key: str, value: str) -> None:
        """Write a record and, if it is new, count it, as the product does in one transaction."""
        growth = self.tables.get(ASSET_FILE_METADATA, metadata_key(key)) is None
        store_metadata(self.tables, key, value)
        self.count(int(growth))

    def remove_record(self, key: str) -> None:
        there = self.tables.get(ASSET_FILE_METADATA, metadata_key(key)) is not None
        self.tables.write(Delete(table=ASSET_FILE_METADATA, key=metadata_key(key)))
        self.count(-int(there))

    def count(self, growth: int) -> None:
        entity = set_key(Entity(DATABASE, ASSET))
        if growth:
            change = {"count": growth, "revision": 1}
            self.tables.write(Update(table=RECORD_SETS, key=entity, add=change))

    def act(self, what: str, key: str) -> None:
        match what:
            case "put":
                self.put_record(key, str(next(self.numbers)))
            case "remove":
                self.remove_record(key)
            case "rename":
                self.rename(f"Pump {next(self.numbers)}")
            case "rebuild":
                self.rebuild()
            case _:
                self.catch_up()

    def watch(self, *paths: str | None, records: bool = False, kinds: Any = None) -> Watch:
        """Return the watch of a search with the token of a write of these files just now."""
        repository = AssetRepository(self.tables)
        freshness = Freshness(
            Sources(self.tables, self.objects, repository.owners, workers=1),
            MetadataRepository(self.tables),
            GeoKeys(self.tables),
            self.state,
        )
        documents = tuple(WrittenDocument(DATABASE, ASSET, path) for path in paths or (None,))
        written = Written(documents, records, NOON - timedelta(seconds=1))
        return freshness.watch(written, kinds or ("asset", "file"))

    def confirm(self, watch: Watch) -> int:
        """Ask the index, as a search does; how many documents are still waited for."""
        (request,) = watch.facet().values()
        parts: JsonObject = {"doc_count": 1}
        shown = request["aggs"].pop("shown_files", None)
        if shown:
            (of_these, _) = shown["filter"]["bool"]["filter"]
            assert shown["filter"]["bool"]["must_not"] == NOT_SHOWN
            ids: list[str] = of_these["terms"]["str_assetid.keyword"] if self.shows_files() else []
            parts["shown_files"] = {
                "of_asset": {"buckets": [{"key": asset_id} for asset_id in ids]}
            }
        for name, part in request["aggs"].items():
            hits = [self._hit(name) for name in part["filter"]["ids"]["values"]]
            parts[name] = {"documents": {"hits": {"hits": [hit for hit in hits if hit]}}}
        watch.confirm({"written": parts})
        return watch.pending

    def document(self, name: str = f"{DATABASE}:{ASSET}") -> JsonObject | None:
        for index in self.engine.indexes:
            document = self.engine.document(index, name)
            if document is not None:
                return document
        return None

    def shows_files(self) -> bool:
        """Return whether an index has a file that searches find."""
        documents = [body for index in self.engine.indexes.values() for _, body in index.values()]
        files = [body for body in documents if body["_rectype"] == "file"]
        return any(not (body.get("deleted") or body.get("bool_archived")) for body in files)

    def _hit(self, name: str) -> JsonObject | None:
        document = self.document(name)
        if document is None:
            return None
        return {"_id": name, "fields": {field: [document[field]] for field in ("hash", "rev")}}


@pytest.fixture
def world() -> World:
    """A world whose asset has a row."""
    world = World()
    store_asset(world.tables)
    return world


def test_an_asset_is_waited_for_until_the_index_has_its_last_edit(world: World) -> None:
    watch = world.watch()
    assert world.confirm(watch) == 1
    world.rebuild()
    assert world.confirm(watch) == 0
    assert world.confirm(world.watch()) == 0  # it was indexed before the search
    world.rename("Turbine")
    watch = world.watch()
    assert world.confirm(watch) == 1
    world.rebuild()
    world.rename("Generator")  # the index never is as the sources are, but holds the first write
    assert world.confirm(watch) == 0


def test_a_deletion_is_held_by_a_tombstone_or_by_no_document(world: World) -> None:
    world.rebuild()
    remove_asset(world.tables)
    watch = world.watch()
    assert world.confirm(watch) == 1
    world.rebuild()
    assert world.confirm(watch) == 0
    world.engine.forget()
    assert world.confirm(world.watch()) == 0


def test_files_are_waited_for_until_they_are_there_and_until_they_are_deleted(world: World) -> None:
    world.objects.put("assetbucket", WHEEL_KEY, b"x", content_type="text/plain", metadata={})
    watch = world.watch("/wheel.glb")
    assert world.confirm(watch) == 1
    world.rebuild(WHEEL)
    assert world.confirm(watch) == 0
    for version in world.objects.list_versions("assetbucket", WHEEL_KEY, limit=9).versions:
        world.objects.delete_version("assetbucket", WHEEL_KEY, version_id=str(version.version_id))
    watch = world.watch("/wheel.glb")
    assert world.confirm(watch) == 1
    world.rebuild(WHEEL)
    assert world.confirm(watch) == 0


@pytest.mark.parametrize("kinds", [None, ("file",)])
@pytest.mark.parametrize("is_deleted", [False, True])
def test_files_of_an_archived_or_deleted_asset_are_waited_for(kinds: Any, is_deleted: bool) -> None:
    world = World(lagging=False)
    store_asset(world.tables)
    world.objects.put("assetbucket", WHEEL_KEY, b"x", content_type="text/plain", metadata={})
    world.rebuild(PUMP, WHEEL)
    remove_asset(world.tables)
    if not is_deleted:
        store_asset(world.tables, archived=True)
    watch = world.watch(kinds=kinds)
    world.rebuild(PUMP)
    assert [world.confirm(watch) for _ in range(3)] == [1, 1, 1]
    world.rebuild(FileKeyRef(DATABASE, ASSET, WHEEL_KEY))
    assert world.confirm(watch) == 0


def test_files_of_an_asset_that_is_restored_meanwhile_are_not_waited_for() -> None:
    world = World(lagging=False)
    world.objects.put("assetbucket", WHEEL_KEY, b"x", content_type="text/plain", metadata={})
    store_asset(world.tables, archived=True)
    watch = world.watch()
    remove_asset(world.tables, database_id=archived(DATABASE))
    store_asset(world.tables)
    world.rebuild(PUMP, WHEEL)
    assert world.confirm(watch) == 0


def test_documents_that_are_not_searched_are_not_waited_for(world: World) -> None:
    assert world.confirm(world.watch(kinds=("file",))) == 0


def test_an_asset_whose_sources_contradict_each_other_is_not_reported_as_held() -> None:
    world = World()
    world.tables.write(Put(table=ASSETS, item=asset_row(bucketId="none")))
    assert world.confirm(world.watch()) == 1


def test_a_record_that_the_lagging_index_hides_is_waited_for_although_tickets_went_on(
    world: World,
) -> None:
    world.rebuild()
    world.put_record("height", "3")
    watch = world.watch(records=True)
    assert world.confirm(watch) == 1
    world.rebuild()  # reads through the index, which does not show the record yet
    assert world.confirm(watch) == 1
    world.catch_up()
    assert world.confirm(watch) == 1
    world.rebuild()
    assert world.confirm(watch) == 0


def test_the_sources_are_read_once_while_the_index_is_unchanged(world: World) -> None:
    watch = world.watch()
    reads: list[str] = []
    world.tables.before = reads.append
    for _ in range(5):
        assert world.confirm(watch) == 1
    assert reads == []


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("put", "remove")), st.sampled_from(KEYS)),
        st.tuples(st.sampled_from(("rebuild", "catch up", "look", "rename", "look")), st.just("")),
    ),
    max_size=25,
)


@settings(max_examples=300, deadline=None)
@given(before=ACTIONS, removal=st.booleans(), after=ACTIONS)
def test_assets_that_are_reported_as_held_are_held(
    before: list[tuple[str, str]], removal: bool, after: list[tuple[str, str]]
) -> None:
    world = World()
    store_asset(world.tables)
    for what, key in before:
        world.act(what, key)
    mine = next(world.numbers)
    if removal:
        world.remove_record("height")
    else:
        world.put_record("height", str(mine))
    watch = world.watch(records=True)
    removed_later = False
    for what, key in after:
        if what != "look":
            removed_later = removed_later or (what, key) == ("remove", "height")
            world.act(what, key)
        elif world.confirm(watch) == 0:
            shown = (world.document() or {}).get("metadata", [])
            heights = [int(pair["string"]) for pair in shown if pair["key"] == "height"]
            assert all(height >= mine for height in heights)
            assert heights or removal or removed_later
            return
    world.confirm(watch)  # with what the index holds now the sources are compared from here on
    world.catch_up()
    world.rebuild()
    assert world.confirm(watch) == 0


def test_documents_are_projected_as_rebuilds_do() -> None:
    world = World(lagging=False)
    store_asset(world.tables)
    store_metadata(
        world.tables, "place", '{"type": "Point", "coordinates": [1, 2]}', value_type="geopoint"
    )
    world.count(1)
    world.rebuild()
    document = world.document() or {}
    assert "gp_place" in document
    assert world.confirm(world.watch(records=True)) == 0
    (source,) = world.rebuilder.sources.read([PUMP]).sources
    assert project(source).body != document
