"""The routes that look after the search indexes: they tell, and start jobs, and do no more."""

from dataclasses import replace
from typing import Any

import pytest

from backend.core.transactions import Put
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.search.checking import Example
from backend.search.work import Report, Reports
from backend.spec.tables.operations import JOBS
from tests.factories.audit import entries
from tests.factories.http import Answer
from tests.unit.operations.conftest import Operations

CONSISTENCY, REPAIR, REINDEX = (
    f"/admin/search/{name}" for name in ("consistency", "repair", "reindex")
)
REPORT = Report(
    job_id="checkSearch.1",
    started_at="2026-03-01T11:00:00.000000Z",
    finished_at="2026-03-01T12:00:00.000000Z",
    oldest_unindexed_seconds=60,
    documents=10,
    missing=1,
    oldest_at="2026-03-01T11:59:00.000000Z",
    examples=[
        Example(drift="missing", document_id="museum:pump", database_id="museum", asset_id="pump")
    ],
)


def post(operations: Operations, path: str, body: object = None) -> Answer:
    return operations.client.send("POST", path, body=body)


def job_of(operations: Operations, answer: Answer) -> Job:
    found = JobRepository(operations.tables).get(answer.body["jobId"])
    assert found is not None
    return found


def end(operations: Operations, job: Job, state: str) -> None:
    item = {**job.model_dump(by_alias=True, exclude_none=True), "state": state}
    operations.tables.write(Put(table=JOBS, item=item))


def test_before_the_first_check_there_is_no_report(operations: Operations) -> None:
    answer = operations.client.send("GET", CONSISTENCY)
    assert answer.status == 200
    assert answer.body == {
        "work": [],
        "indexes": [
            {"alias": "assets", "reads": "assets-1", "writes": ["assets-1"], "differences": []},
            {"alias": "files", "reads": "files-1", "writes": ["files-1"], "differences": []},
        ],
        "mend": [],
    }


def test_the_last_report_names_what_mends_it(operations: Operations) -> None:
    operations.tables.transact([Reports(operations.tables).put(REPORT)])
    body = operations.client.send("GET", CONSISTENCY).body
    assert body["report"]["missing"] == 1
    assert body["report"]["examples"][0]["documentId"] == "museum:pump"
    assert body["mend"] == ["POST /admin/search/repair: documents differ from their sources"]


def test_a_mapping_that_differs_is_told_with_the_reindex_that_mends_it(
    operations: Operations,
) -> None:
    operations.engine.mappings["files-1"] = {"dynamic": "true"}
    body = operations.client.send("GET", CONSISTENCY).body
    assert any("num_filesize" in one for one in body["indexes"][1]["differences"])
    assert body["mend"] == ["POST /admin/search/reindex: a mapping differs from the declared one"]


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        (CONSISTENCY, None, "checkSearch"),
        (REPAIR, {"all": True}, "repairSearch"),
        (REINDEX, None, "reindexSearch"),
    ],
)
def test_work_is_a_job_that_is_started_once(
    operations: Operations, path: str, body: object, kind: str
) -> None:
    first, second = post(operations, path, body), post(operations, path, body)
    assert (first.status, second.status) == (200, 200)
    assert (first.body["started"], second.body["started"]) == (True, False)
    assert first.body["jobId"] == second.body["jobId"]
    job = job_of(operations, first)
    assert (job.kind, job.state, job.database_id) == (kind, "queued", None)
    told = operations.client.send("GET", CONSISTENCY).body["work"]
    assert [(one["jobId"], one["kind"]) for one in told] == [(job.job_id, kind)]
    (entry,) = entries(operations.tables)
    assert (entry["entity"], entry["operation"]) == ("search:indexes", kind)
    end(operations, job, "done")
    assert post(operations, path, body).body["started"] is True


def test_a_failed_reindex_has_to_be_resumed_or_cancelled_first(operations: Operations) -> None:
    job = job_of(operations, post(operations, REINDEX))
    end(operations, job, "failed")
    answer = post(operations, REINDEX)
    assert (answer.status, job.job_id in answer.body["message"]) == (409, True)


@pytest.mark.parametrize(
    ("body", "parameters"),
    [
        ({"databaseId": "museum"}, {"databaseId": "museum"}),
        ({"databaseId": "museum", "assetId": "pump"}, {"databaseId": "museum", "assetId": "pump"}),
        (
            {
                "documents": [
                    {"databaseId": "museum", "assetId": "pump"},
                    {"databaseId": "museum", "assetId": "pump", "path": "a.glb"},
                    {"databaseId": "museum", "assetId": "pump", "key": "pump/b.glb"},
                ]
            },
            {
                "references": [
                    ["asset", "museum", "pump"],
                    ["file", "museum", "pump", "/a.glb"],
                    ["key", "museum", "pump", "pump/b.glb"],
                ]
            },
        ),
    ],
)
def test_a_repair_is_of_what_is_named(
    operations: Operations, body: object, parameters: dict[str, Any]
) -> None:
    assert job_of(operations, post(operations, REPAIR, body)).parameters == parameters


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"all": False},
        {"all": True, "databaseId": "museum"},
        {"assetId": "pump"},
        {"documents": []},
        {"documents": [{"databaseId": "museum"}]},
        {"documents": [{"databaseId": "museum", "assetId": "pump", "path": "/a", "key": "b"}]},
        {"documents": [{"databaseId": "museum", "assetId": "pump"}] * 1001},
        {"databaseId": "a/b"},
        {"all": True, "nonsense": 1},
    ],
)
def test_a_repair_of_nothing_that_is_known_is_refused(
    operations: Operations, body: dict[str, Any]
) -> None:
    assert post(operations, REPAIR, body).status == 400
    assert entries(operations.tables) == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", CONSISTENCY, None),
        ("POST", CONSISTENCY, None),
        ("POST", REPAIR, {"all": True}),
        ("POST", REINDEX, None),
    ],
)
def test_only_administrators_look_after_the_indexes(
    operations: Operations, method: str, path: str, body: object
) -> None:
    answer = replace(operations.client, user_id="stranger").send(method, path, body=body)
    assert answer.status == 403
