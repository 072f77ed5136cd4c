"""Old tombstones are removed from a real OpenSearch; no deleted document reappears."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from opensearchpy import NotFoundError

from backend.core.references import AssetRef
from backend.core.search_engine import DocumentRemoval, DocumentResult
from backend.search.indexing import tombstones
from backend.search.indexing.bulk import BulkWriter, write_of
from backend.search.indexing.projections import AssetGone, project
from backend.search.indexing.state import SearchState
from backend.search.indexing.tombstones import TombstoneSweep
from tests.factories.search import NOON, remove_asset, store_asset
from tests.integration.indexing.conftest import World

A_DAY_LATER = NOON + timedelta(hours=25)


def sweep(world: World, *, at: datetime = A_DAY_LATER, engine: Any = None) -> int:
    state = SearchState(world.tables, lambda: NOON)
    sweep = TombstoneSweep(engine or world.deployment.engine, state, lambda: at)
    world.deployment.engine.refresh([world.pointer.assets_read, world.pointer.files_read])
    return sweep.run(until=at + timedelta(minutes=1))


def find_document(world: World, asset_id: str = "pump") -> dict[str, Any] | None:
    client = world.deployment.engine.client
    try:
        return client.get(index=world.pointer.assets_read, id=f"museum:{asset_id}")
    except NotFoundError:
        return None


def build(world: World, *asset_ids: str) -> None:
    world.rebuilder.rebuild([AssetRef("museum", asset_id) for asset_id in asset_ids])


@pytest.fixture
def deleted(world: World) -> World:
    """An asset that was indexed and deleted."""
    store_asset(world.tables)
    build(world, "pump")
    remove_asset(world.tables)
    build(world, "pump")
    document = find_document(world)
    assert document is not None
    assert document["_source"]["date_deleted"] == "2026-03-01T12:00:00Z"
    return world


def test_a_tombstone_is_removed_after_a_day(deleted: World) -> None:
    assert sweep(deleted, at=NOON) == 0
    assert sweep(deleted, at=NOON + timedelta(hours=24)) == 0
    assert find_document(deleted) is not None
    assert sweep(deleted) == 1
    assert find_document(deleted) is None
    assert sweep(deleted) == 0


def test_live_documents_are_never_swept(world: World) -> None:
    store_asset(world.tables)
    build(world, "pump")
    assert sweep(world, at=NOON + timedelta(days=400)) == 0
    assert set(world.found()) == {"museum:pump"}


def test_an_asset_restored_while_its_tombstone_is_swept_remains(deleted: World) -> None:
    class Racing:
        """The engine, with a rebuild between its answer and the removal."""

        def __getattr__(self, name: str) -> Any:
            return getattr(deleted.deployment.engine, name)

        def remove(self, removals: Sequence[DocumentRemoval]) -> list[DocumentResult]:
            store_asset(deleted.tables)
            build(deleted, "pump")
            return deleted.deployment.engine.remove(removals)

    assert sweep(deleted, engine=Racing()) == 0
    assert set(deleted.found()) == {"museum:pump"}


def test_the_very_next_ticket_is_not_refused_by_the_sweep(deleted: World) -> None:
    before = find_document(deleted)
    assert before is not None
    assert sweep(deleted) == 1
    document = project(AssetGone("museum", "pump"))
    write = write_of(document, deleted.pointer.assets_read, before["_version"] + 1)
    outcome = BulkWriter(deleted.deployment.engine).write([write])
    assert (outcome.written, outcome.overtaken) == (1, 0)


def test_a_writer_with_an_older_ticket_cannot_revive_what_was_just_swept(deleted: World) -> None:
    before = find_document(deleted)
    assert before is not None
    assert sweep(deleted) == 1
    document = project(AssetGone("museum", "pump"))
    write = write_of(document, deleted.pointer.assets_read, before["_version"])
    outcome = BulkWriter(deleted.deployment.engine).write([write])
    assert (outcome.written, outcome.overtaken) == (0, 1)
    assert find_document(deleted) is None


def test_many_tombstones_of_one_ticket_are_swept_page_by_page(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tombstones, "PAGE", 4)
    build(world, *(f"asset-{number}" for number in range(11)))
    total, runs = 0, 0
    while (removed := sweep(world)) > 0:
        total, runs = total + removed, runs + 1
    assert total == 11
    assert runs <= 3


def test_a_run_without_time_removes_nothing(deleted: World) -> None:
    state = SearchState(deleted.tables, lambda: NOON)
    engine = deleted.deployment.engine
    assert TombstoneSweep(engine, state, lambda: A_DAY_LATER).run(until=A_DAY_LATER) == 0
    assert find_document(deleted) is not None
