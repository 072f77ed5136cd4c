"""An asset with files and records, and creators of versions that die."""

from datetime import timedelta
from typing import Any

import pytest

from backend.core.tables import Query, Tables
from backend.domains.jobs.models import Job
from backend.spec.tables.assets import ASSET_FILE_METADATA_VERSIONS, ASSET_FILE_VERSIONS
from backend.spec.tables.metadata import ASSET_FILE_METADATA, FILE_ATTRIBUTES
from tests.factories.lifecycle import KilledError, kill
from tests.factories.versions import Versions


def put(museum: Versions, *paths: str) -> dict[str, str]:
    return {path: museum.lifecycle.gallery.put(path, path.encode()) for path in paths}


def snapshot_rows(tables: Tables, number: str) -> int:
    partition = f"museum:statue:{number}"
    return sum(
        len(tables.query_all(Query(table=table, partition=partition)))
        for table in (ASSET_FILE_VERSIONS, ASSET_FILE_METADATA_VERSIONS)
    )


def put_records(tables: Tables, wanted: list[tuple[str, str, int]]) -> None:
    """Records, put straight into their tables: file, kind, how many."""
    for path, kind, count in wanted:
        table = ASSET_FILE_METADATA if kind == "metadata" else FILE_ATTRIBUTES
        items = [
            {
                f"{kind}Key": f"key-{number}",
                "databaseId:assetId:filePath": f"museum:statue:{path}",
                "databaseId:assetId": "museum:statue",
                f"{kind}Value": "value",
                f"{kind}ValueType": "string",
            }
            for number in range(count)
        ]
        tables.put_many(table, items)


def killed_at(museum: Versions, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Let the process die once, after a call of a method of the repository."""
    kill(monkeypatch, type(museum.creation.repository), method, times=1, after=True)


def died_making(museum: Versions, monkeypatch: pytest.MonkeyPatch) -> Job:
    """The job of a version whose first worker died over its files."""
    put(museum, "/a.glb")
    killed_at(museum, monkeypatch, "put_files")
    with pytest.raises(KilledError):
        museum.create()
    museum.lifecycle.hands.now += timedelta(seconds=300)
    (job,) = museum.stored_jobs()
    return job


def pages(museum: Versions, below: str, **query: str) -> list[Any]:
    """All pages of a reply."""
    result: list[Any] = []
    while True:
        answer = museum.send("GET", below, **query)
        assert answer.status == 200, answer.body
        result.append(answer.body)
        if "NextToken" not in answer.body:
            return result
        query = {**query, "startingToken": answer.body["NextToken"]}
