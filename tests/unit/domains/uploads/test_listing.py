"""The uploads that a caller has started, newest first."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from backend.core.tables import Tables
from backend.domains.assets.models import CreateAssetBody
from backend.spec.tables.assets import ASSET_UPLOADS
from tests.factories.assets import ADMIN, NOON
from tests.factories.files import Gallery, gallery
from tests.factories.http import Response
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables


class Clock:
    """Moves on by a second with each look at it."""

    def __init__(self) -> None:
        self.seconds: Iterator[int] = count()
        self.days = 0

    def __call__(self) -> datetime:
        return NOON + timedelta(days=self.days, seconds=next(self.seconds))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tables() -> MemoryTables:
    return MemoryTables()


@pytest.fixture
def museum(tables: MemoryTables, clock: Clock) -> Gallery:
    numbers = count()
    names = (f"y{number}" for number in numbers)
    return gallery(tables, MemoryObjects(), clock=clock, new_id=lambda: next(names))


def start(museum: Gallery, *paths: str) -> str:
    files = [{"relativeKey": path, "file_size": 0} for path in paths or ("/a.txt",)]
    answer = museum.initialise(*files)
    assert answer.status == 200, answer.body
    return answer.body["uploadId"]


def get(museum: Gallery, **query: str) -> Response:
    return museum.send("GET", "/uploads", query=query)


def ids(answer: Response) -> list[str]:
    assert answer.status == 200, answer.body
    return [one["uploadId"] for one in answer.body["items"]]


def belong(tables: Tables, upload_id: str, user_id: str) -> None:
    """Make an upload one of another user."""
    assert isinstance(tables, MemoryTables)
    (row,) = [row for row in tables.rows(ASSET_UPLOADS) if row["uploadId"] == upload_id]
    tables.put_many(ASSET_UPLOADS, [{**row, "UserId": user_id}])


def test_a_caller_gets_its_own_uploads_newest_first_with_their_states(
    museum: Gallery, tables: MemoryTables
) -> None:
    first, foreign = start(museum, "/a.txt", "/b.txt"), start(museum)
    belong(tables, foreign, "bob")
    last = start(museum)
    done: dict[str, Any] = {"relativeKey": "/a.txt", "uploadIdS3": "zero-byte", "parts": []}
    assert museum.complete(last, done).status == 200
    answer = get(museum)
    assert ids(answer) == [last, first]
    newest, oldest = answer.body["items"]
    assert newest["state"] == "completed"
    assert {name: oldest[name] for name in ("state", "files", "filesDone", "size", "assetId")} == {
        "state": "open",
        "files": 2,
        "filesDone": 0,
        "size": 0,
        "assetId": "statue",
    }
    single = museum.upload(first).body
    same = ("uploadId", "databaseId", "assetId", "uploadType", "state", "createdAt", "expiresAt")
    assert {name: oldest[name] for name in same} == {name: single[name] for name in same}


def test_expired_uploads_and_those_to_invisible_assets_are_left_out_of_full_pages(
    museum: Gallery, tables: MemoryTables, clock: Clock
) -> None:
    start(museum)
    clock.days = 8
    kept = [start(museum) for _ in range(2)]
    hidden = start(museum)
    (row,) = [row for row in tables.rows(ASSET_UPLOADS) if row["uploadId"] == hidden]
    tables.delete_many(ASSET_UPLOADS, [{"uploadId": hidden, "assetId": "statue"}])
    tables.put_many(ASSET_UPLOADS, [{**row, "assetId": "gone"}])
    assert ids(get(museum, pageSize="2")) == kept[::-1]
    assert ids(get(museum)) == kept[::-1]


def test_the_asset_of_many_uploads_is_read_once(museum: Gallery) -> None:
    body = CreateAssetBody.model_validate(
        {
            "databaseId": "museum",
            "assetId": "torso",
            "assetName": "Torso",
            "description": "Marble",
            "isDistributable": True,
        }
    )
    museum.assets.create_asset(ADMIN, body)
    started = [start(museum) for _ in range(6)]
    real, read = museum.assets.assets.get, list[str]()

    def counted(database_id: str, asset_id: str, *, in_archive: bool = False) -> object:
        read.append(asset_id)
        return real(database_id, asset_id, in_archive=in_archive)

    object.__setattr__(museum.assets.assets, "get", counted)
    assert ids(get(museum)) == started[::-1]
    assert read == ["statue"]
