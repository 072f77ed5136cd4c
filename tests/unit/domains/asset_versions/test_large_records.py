"""Records that fit an item, and the larger rows that versions, moves and copies make of them."""

from datetime import timedelta
from typing import Any

import pytest

from backend.aws.items import item_size, to_wire
from backend.core.errors import TooLargeError
from backend.core.paging import PageRequest
from backend.core.references import AssetRef
from backend.core.transactions import Put
from backend.domains.asset_versions.models import HeldRecord, Kind
from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.metadata.models import Entity, Record
from backend.domains.metadata.repository import item_of, largest_row, place_of
from backend.entrypoints.wiring.metadata import records
from backend.spec.keys import FILE, ITEM_BYTES, SNAPSHOT, SORT_KEY_BYTES
from backend.spec.tables.assets import ASSET_FILE_METADATA_VERSIONS, ASSET_FILE_VERSIONS
from tests.factories.http import Client, Response
from tests.factories.metadata import metadata_router, metadata_service
from tests.factories.versions import Versions, versions
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import memory, state_of
from tests.unit.domains.metadata.calls import FILE as FILE_ROUTE
from tests.unit.domains.metadata.calls import record, send

KINDS: tuple[Kind, ...] = ("metadata", "attribute")
KEY = "ä-notes"
PATH = "/a.glb"


@pytest.fixture
def museum() -> Versions:
    """Over ports in memory, which measure an item as DynamoDB does."""
    result = versions(*memory())
    result.lifecycle.gallery.put(PATH)
    return result


def add(museum: Versions, kind: Kind, value: str, *, key: str = KEY) -> Response:
    gallery = museum.lifecycle.gallery
    router = metadata_router(metadata_service(gallery.assets, museum.tables, gallery.objects))
    body = {"metadata": [record("small"), record(key, value)], "filePath": PATH, "type": kind}
    return send(Client(router), "POST", FILE_ROUTE, body=body)


def longest_value(kind: Kind) -> int:
    """The bytes of the largest value that is accepted under the key."""
    empty = Record(metadata_key=KEY)
    return ITEM_BYTES - largest_row(Entity("museum", "statue", PATH, kind), empty)


def longest_path() -> str:
    """The longest path that a file may be moved to: in a version it leaves room for its keys."""
    room = SORT_KEY_BYTES - len(SNAPSHOT.build("attribute", "/", "k" * 256).encode())
    segments = ["x" * 200] * (room // 201)
    return "/" + "/".join([*segments, "y" * (room - 201 * len(segments))])


def store(museum: Versions, value: str, *, kind: Kind = "metadata", key: str = KEY) -> None:
    """Put a record as releases did that measured its own row alone, and count it."""
    gallery = museum.lifecycle.gallery
    assert add(museum, kind, "", key=key).body["successCount"] == 2
    entity = Entity("museum", "statue", PATH, kind)
    item = item_of(entity, Record(metadata_key=key, metadata_value=value))
    gallery.changing.tables.write(Put(table=place_of(entity).table, item=item))


def own_row(kind: Kind) -> int:
    """The bytes of the record's own row without its value."""
    entity = Entity("museum", "statue", PATH, kind)
    return item_size(to_wire(item_of(entity, Record(metadata_key=KEY))))


@pytest.mark.parametrize("kind", KINDS)
def test_no_row_of_a_record_is_larger_than_the_one_that_was_judged(kind: Kind) -> None:
    kept = Record(metadata_key=KEY, metadata_value_type="wxyz", metadata_value="x" * 5000)
    judged = largest_row(Entity("museum", "statue", PATH, kind), kept)
    database_id, asset_id = "d" * 63, "a" * 255
    path = "/" + "p" * (SORT_KEY_BYTES - len(FILE.build(database_id, asset_id, "/")))
    moved = item_of(Entity(database_id, asset_id, path, kind), kept)
    assert 5000 < item_size(to_wire(moved)) <= judged
    tables = MemoryTables()
    asset: Any = AssetRef(database_id=database_id, asset_id=asset_id)
    path = "/" + "p" * (SORT_KEY_BYTES - len(SNAPSHOT.build(kind, "/", KEY).encode()))
    held = HeldRecord(kind, path, KEY, kept.metadata_value, kept.metadata_value_type)
    VersionRepository(tables).put_records(asset, "9" * 40, [held])
    (row,) = tables.rows(ASSET_FILE_METADATA_VERSIONS)
    assert 5000 < item_size(to_wire(row)) <= judged


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_record_goes_into_versions_moves_and_copies(
    museum: Versions, kind: Kind
) -> None:
    gallery = museum.lifecycle.gallery
    value = "x" * longest_value(kind)
    assert add(museum, kind, value).body["successCount"] == 2
    assert museum.made() == "1"
    moved = {"sourcePath": PATH, "destinationPath": longest_path()}
    assert gallery.change("POST", "moveFile", moved).status == 200
    copied = {"sourcePath": longest_path(), "destinationPath": "/copy.glb"}
    assert gallery.change("POST", "copyFile", copied).status == 200
    assert museum.made() == "2"
    stored = records(gallery.changing)
    for path in (longest_path(), "/copy.glb"):
        result = stored.records_of(Entity("museum", "statue", path, kind))
        assert {item.metadata_key: item.metadata_value for item in result} == {
            KEY: value,
            "small": "v",
        }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("character", ["x", "ä"])
def test_a_larger_record_is_refused_by_its_key_and_size(
    museum: Versions, kind: Kind, character: str
) -> None:
    value = character * (longest_value(kind) // len(character.encode()) + 1)
    answer = add(museum, kind, value)
    assert (answer.status, answer.body["code"]) == (413, "TooLarge")
    (error,) = answer.body["errors"]
    assert error["field"] == "metadata.1.metadataValue"
    size = ITEM_BYTES - longest_value(kind) + len(value.encode())
    assert f"{KEY!r} has {size} bytes" in error["message"]
    stored = records(museum.lifecycle.gallery.changing)
    assert stored.records_of(Entity("museum", "statue", PATH, kind)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_version_that_cannot_hold_a_record_of_before_names_it(
    museum: Versions, kind: Kind
) -> None:
    store(museum, "x" * (ITEM_BYTES - own_row(kind)), kind=kind)
    answer = museum.create()
    assert answer.status == 413
    assert f"{kind}:{PATH}:{KEY}" in answer.body["message"]
    hands = museum.lifecycle.hands
    hands.tick = timedelta(seconds=10)  # the request leaves all steps to its job
    job_id = museum.create().body["jobId"]
    hands.tick = timedelta(0)
    job = museum.work_off(job_id)
    assert job.state == "failed"
    assert f"{kind}:{PATH}:{KEY}" in job.problems[0]
    for table in (ASSET_FILE_VERSIONS, ASSET_FILE_METADATA_VERSIONS):
        assert museum.tables.scan(table, PageRequest(10)).items == ()
    assert not TooLargeError.needs_operator  # no alarm: its user can shorten the value


@pytest.mark.parametrize("verb", ["moveFile", "copyFile"])
def test_a_move_and_a_copy_that_do_not_hold_a_record_of_before_name_it(
    museum: Versions, verb: str
) -> None:
    store(museum, "x" * (ITEM_BYTES - own_row("metadata")))
    paths = {"sourcePath": PATH, "destinationPath": "/longer.glb"}
    answer = museum.lifecycle.gallery.change("POST", verb, paths)
    assert answer.status == 409
    assert f"metadataKey {KEY!r}" in answer.body["message"]
    assert "museum:statue:/longer.glb" in answer.body["message"]
    assert state_of(museum.lifecycle.gallery.objects) == {PATH: "active"}


@pytest.mark.parametrize("verb", ["moveFile", "copyFile"])
def test_a_path_that_leaves_no_room_for_a_key_in_a_version_is_refused_by_that_key(
    museum: Versions, verb: str
) -> None:
    key = "ä" * 200
    assert add(museum, "metadata", "x", key=key).body["successCount"] == 2
    paths = {"sourcePath": PATH, "destinationPath": longest_path()}
    answer = museum.lifecycle.gallery.change("POST", verb, paths)
    assert answer.status == 409
    assert f"{key!r}: results, with the path, in a key of" in answer.body["message"]
    assert state_of(museum.lifecycle.gallery.objects) == {PATH: "active"}
    assert museum.made() == "1"


def test_a_version_that_cannot_hold_a_key_of_before_names_it(museum: Versions) -> None:
    entity = Entity("museum", "statue", longest_path(), "metadata")
    item = item_of(entity, Record(metadata_key="k" * 300))
    museum.tables.write(Put(table=place_of(entity).table, item=item))
    answer = museum.create()
    assert answer.status == 400
    assert f"metadata:{longest_path()}:{'k' * 300}" in answer.body["message"]
