"""Indexes of the first mapping version beside those of the declared one, in a real OpenSearch."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.core.references import AssetRef
from backend.core.transactions import Update
from backend.search.indexing.bulk import BulkWriter, write_of
from backend.search.indexing.projections import project
from backend.search.indexing.state import Pointer, SearchState
from backend.spec.search_indexes import MAPPING_VERSION, SEARCH_INDEXES
from backend.spec.tables.operations import SEARCH_STATE
from tests.factories.search import NOON, store_asset, store_metadata
from tests.integration.indexing.conftest import World

FIRST = json.loads(
    (Path(__file__).parents[2] / "events" / "mappings" / "version_1.json").read_text()
)
WHEEL, GEAR = (f"museum:pump:pump/{name}.glb" for name in ("wheel", "gear"))


def archive(world: World, key: str) -> None:
    world.deployment.objects.delete(world.bucket, key)


def furnish(world: World) -> None:
    """An asset with an active and an archived file, one of markers only, and its preview."""
    store_asset(world.tables, assetName="Gear lamp", tags=["Gearbox"])
    store_metadata(world.tables, "maker", "Lamplighter & Sons")
    for key in ("pump/wheel.glb", "pump/gear.glb", "pump/preview.png"):
        world.put(key, b"marble")
    archive(world, "pump/wheel.glb")
    world.put("pump/ghost.glb")
    for version in world.deployment.objects.list_versions(world.bucket, "pump/ghost.glb").versions:
        archive(world, version.key)
        world.deployment.objects.delete_version(
            world.bucket, version.key, version_id=version.version_id
        )
    keys = ("wheel.glb", "gear.glb", "preview.png", "ghost.glb")
    world.objects_changed(*(f"pump/{name}" for name in keys))


@pytest.fixture
def old_world(world: World, aliases: None) -> World:
    """A deployment whose indexes an earlier release created."""
    engine, pointer = world.deployment.engine, world.pointer
    for alias, name in (("assets", pointer.assets_read), ("files", pointer.files_read)):
        engine.drop_index(name)
        engine.create_index(name, **FIRST[alias])
    state = Update(table=SEARCH_STATE, key={"stateKey": "search"}, remove=("mappingVersions",))
    world.tables.write(state)
    return world


def test_an_archived_file_is_found_with_the_facts_of_its_last_content(world: World) -> None:
    furnish(world)
    documents = world.found()
    assert set(documents) == {"museum:pump", WHEEL, GEAR}
    (content,) = (
        version
        for version in world.deployment.objects.list_versions(
            world.bucket, "pump/wheel.glb"
        ).versions
        if not version.is_delete_marker
    )
    wheel = documents[WHEEL]
    assert wheel["bool_archived"] is True
    assert (wheel["num_filesize"], wheel["str_etag"]) == (6, content.etag)
    assert wheel["str_s3_version_id"] == content.version_id
    assert documents["museum:pump"]["str_previewfilekey"] == "pump/preview.png"


def test_the_stored_size_is_that_of_the_source_and_is_read_without_it(world: World) -> None:
    furnish(world)
    world.found()
    names = (world.pointer.assets_read, world.pointer.files_read)
    client = world.deployment.engine.client
    body: dict[str, Any] = {"_source": False, "docvalue_fields": ["source_bytes"], "size": 10}
    hits = client.search(index=list(names), body=body)["hits"]["hits"]
    assert len(hits) >= 3
    for hit in hits:
        raw = client.transport.perform_request("GET", f"/{hit['_index']}/_source/{_quote_id(hit)}")
        text = json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
        assert hit["fields"]["source_bytes"] == [len(text.encode())]


def inside(text: str) -> dict[str, Any]:
    """A query for a part of a word, in each field with the subfield."""
    value = {"value": f"*{text}*"}
    fields = ("str_assetname", "str_key", "str_description", "list_tags")
    shoulds: list[dict[str, Any]] = [{"wildcard": {f"{name}.inner": value}} for name in fields]
    pair = {"path": "metadata", "query": {"wildcard": {"metadata.string.inner": value}}}
    return {"bool": {"should": [*shoulds, {"nested": pair}]}}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("lam", {"museum:pump", WHEEL, GEAR}),
        ("heel.g", {WHEEL}),
        ("rbox", {"museum:pump", WHEEL, GEAR}),
        ("thing to l", {"museum:pump"}),
        ("lighter & s", {"museum:pump"}),
        ("lamq", set[str]()),
        ("mal", set[str]()),
    ],
)
def test_parts_inside_of_words_are_found(text: str, names: set[str], world: World) -> None:
    furnish(world)
    assert set(world.found(inside(text))) == names


def _quote_id(hit: dict[str, Any]) -> str:
    return str(hit["_id"]).replace("/", "%2F")


def test_indexes_of_the_first_version_take_the_documents_that_they_had(old_world: World) -> None:
    furnish(old_world)
    documents = old_world.found()
    assert "num_filesize" not in documents[WHEEL]
    assert not any("source_bytes" in body for body in documents.values())
    assert {"museum:pump:pump/preview.png", "museum:pump:pump/ghost.glb"} <= set(documents)
    assert old_world.failures() == []
    sources = old_world.rebuilder.sources.read({AssetRef("museum", "pump")}).sources
    writes = [write_of(project(source), old_world.pointer.assets_read, 2**62) for source in sources]
    outcome = BulkWriter(old_world.deployment.engine).write(writes)
    undeclared = "The document has a field that the mapping does not declare"
    assert [reason for _, reason in outcome.refused] == [undeclared]


def test_both_pairs_get_the_documents_of_their_own_version(old_world: World) -> None:
    state, old = SearchState(old_world.tables, lambda: NOON), old_world.pointer
    assets, files = f"{old.assets_read}-2", f"{old.files_read}-2"
    new = Pointer(assets, (assets,), files, (files,))
    for index in SEARCH_INDEXES:
        old_world.deployment.engine.create_index(
            new.current(index), mapping=index.mapping, settings=index.settings
        )
    both = Pointer(
        old.assets_read,
        (*old.assets_write, *new.assets_write),
        old.files_read,
        (*old.files_write, *new.files_write),
    )
    state.change_pointer_once("job", old, both, number=2)
    assert state.mappings() == {
        **dict.fromkeys(old.names, 1),
        **dict.fromkeys(new.names, MAPPING_VERSION),
    }
    furnish(old_world)
    assert "num_filesize" not in old_world.found()[WHEEL]
    state.finish_pointer_changes("job", new)
    moved = World(old_world.deployment, new, old_world.rebuilder, old_world.bucket)
    assert moved.found()[WHEEL]["num_filesize"] == 6
    assert moved.failures() == []
