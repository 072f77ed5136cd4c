"""The uploads that a caller has started, newest first."""

from datetime import timedelta
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest

from backend.spec.tables.assets import ASSET_UPLOADS
from tests.factories.assets import created_asset
from tests.factories.files import Gallery, gallery
from tests.factories.lifecycle import ManualClock
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables


@pytest.fixture
def tables() -> MemoryTables:
    return MemoryTables()


@pytest.fixture
def clock() -> ManualClock:
    """Each look at it is a second later."""
    return ManualClock(tick=timedelta(seconds=1))


@pytest.fixture
def museum(tables: MemoryTables, clock: ManualClock) -> Gallery:
    names = (f"y{number}" for number in count())
    return gallery(tables, MemoryObjects(), clock=clock, new_id=lambda: next(names))


def start(museum: Gallery, *paths: str) -> str:
    files = [{"relativeKey": path, "file_size": 0} for path in paths or ("/a.txt",)]
    answer = museum.initialise(*files)
    assert answer.status == 200, answer.body
    return answer.body["uploadId"]


def ids(museum: Gallery, **query: str) -> list[str]:
    answer = museum.send("GET", "/uploads", query=query)
    assert answer.status == 200, answer.body
    return [upload["uploadId"] for upload in answer.body["items"]]


def change_row(tables: MemoryTables, upload_id: str, **changes: str) -> None:
    """Change the row of an upload, its key too."""
    (row,) = [row for row in tables.rows(ASSET_UPLOADS) if row["uploadId"] == upload_id]
    tables.delete_many(ASSET_UPLOADS, [{"uploadId": upload_id, "assetId": "statue"}])
    tables.put_many(ASSET_UPLOADS, [{**row, **changes}])


def test_a_caller_gets_its_own_uploads_newest_first_with_their_states(
    museum: Gallery, tables: MemoryTables
) -> None:
    first, foreign = start(museum, "/a.txt", "/b.txt"), start(museum)
    change_row(tables, foreign, UserId="bob")
    last = start(museum)
    done: dict[str, Any] = {"relativeKey": "/a.txt", "uploadIdS3": "zero-byte", "parts": []}
    assert museum.complete(last, done).status == 200
    newest, oldest = museum.send("GET", "/uploads").body["items"]
    assert (newest["uploadId"], newest["state"]) == (last, "completed")
    counts = ("files", "filesDone", "size", "assetId")
    assert [oldest[name] for name in counts] == [2, 0, 0, "statue"]
    single = museum.upload(first).body
    assert single["state"] == "open"
    same = ("uploadId", "databaseId", "assetId", "uploadType", "state", "createdAt", "expiresAt")
    assert {name: oldest[name] for name in same} == {name: single[name] for name in same}


def test_expired_uploads_and_those_to_invisible_assets_are_left_out_of_full_pages(
    museum: Gallery, tables: MemoryTables, clock: ManualClock
) -> None:
    start(museum)
    clock.now += timedelta(days=8)
    kept = [start(museum) for _ in range(2)]
    change_row(tables, start(museum), assetId="gone")
    assert ids(museum, pageSize="2") == kept[::-1]
    assert ids(museum) == kept[::-1]


def test_the_asset_of_many_uploads_is_read_once(museum: Gallery) -> None:
    created_asset(museum.assets, "torso")
    uploads = [start(museum) for _ in range(6)]
    assets = museum.assets.assets
    with patch.object(type(assets), "get", autospec=True, side_effect=type(assets).get) as reads:
        assert ids(museum) == uploads[::-1]
    assert [call.args[2] for call in reads.mock_calls] == ["statue"]
