"""The routes for the search indexes: they only report, and start jobs."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.operations.fact_renewals import FactRenewals
from backend.operations.search_indexes import SearchIndexService
from backend.operations.search_routes import build_router
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.state import SearchState
from backend.search.maintenance.checks import Example
from backend.search.maintenance.work import Report, Reports, SearchWork
from backend.spec.tables.operations import JOBS
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN, asset_service, created_asset, created_database
from tests.factories.audit import audit_service, entries
from tests.factories.http import Client, Response
from tests.factories.jobs import job_service
from tests.factories.search import NOON
from tests.fakes.search_engine import MemorySearchEngine

RENEW = "/admin/facts/renew"
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


@dataclass
class Keeping:
    tables: Tables
    engine: MemorySearchEngine
    service: SearchIndexService
    client: Client


@pytest.fixture
def keeping(tables: Tables, objects: S3Objects) -> Keeping:
    engine, state = MemorySearchEngine(), SearchState(tables, lambda: NOON)
    ensure_indexes(engine, state)
    work = SearchWork(tables, job_service(tables), audit_service(objects), lambda: NOON)
    assets = asset_service(tables, objects)
    created_database(assets)
    created_asset(assets, "pump")
    service = SearchIndexService(
        engine, state, work, Reports(tables), assets, assets.databases, OnlyUser()
    )
    renewals = FactRenewals(work, assets.databases, OnlyUser())
    return Keeping(tables, engine, service, Client(build_router(service, renewals)))


def renewals_of(keeping: Keeping) -> FactRenewals:
    service = keeping.service
    return FactRenewals(service.work, service.assets.databases, OnlyUser())


def post(keeping: Keeping, path: str, body: object = None) -> Response:
    return keeping.client.send("POST", path, body=body)


def job_of(keeping: Keeping, answer: Response) -> Job:
    result = JobRepository(keeping.tables).get(answer.body["jobId"])
    assert result is not None
    return result


def started(keeping: Keeping) -> list[Any]:
    """The audit entries of jobs: those of the database and the asset are left out."""
    return [entry for entry in entries(keeping.tables) if entry["entity"] == "search:indexes"]


def end(keeping: Keeping, job: Job, state: str) -> None:
    item = {**job.model_dump(by_alias=True, exclude_none=True), "state": state}
    keeping.tables.write(Put(table=JOBS, item=item))


def test_the_report_names_what_differs_and_what_mends_it(keeping: Keeping) -> None:
    answer = keeping.client.send("GET", CONSISTENCY)
    assert answer.status == 200
    assert answer.body == {  # before the first check
        "work": [],
        "indexes": [
            {"alias": "assets", "reads": "assets-1", "writes": ["assets-1"], "differences": []},
            {"alias": "files", "reads": "files-1", "writes": ["files-1"], "differences": []},
        ],
        "corrections": [],
    }
    keeping.tables.transact([Reports(keeping.tables).put(REPORT)])
    body = keeping.client.send("GET", CONSISTENCY).body
    assert body["report"]["missing"] == 1
    assert body["report"]["examples"][0]["documentId"] == "museum:pump"
    repair = "POST /admin/search/repair: documents differ from their sources"
    assert body["corrections"] == [repair]
    keeping.engine.mappings["files-1"] = {"dynamic": "true"}
    body = keeping.client.send("GET", CONSISTENCY).body
    assert any("num_filesize" in text for text in body["indexes"][1]["differences"])
    reindex = "POST /admin/search/reindex: a mapping differs from the declared one"
    assert body["corrections"] == [reindex, repair]


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        (CONSISTENCY, None, "checkSearch"),
        (REPAIR, {"all": True}, "repairSearch"),
        (REINDEX, None, "reindexSearch"),
    ],
)
def test_work_is_a_job_that_is_started_once(
    keeping: Keeping, path: str, body: object, kind: str
) -> None:
    first, second = post(keeping, path, body), post(keeping, path, body)
    assert (first.status, second.status) == (200, 200)
    assert (first.body["started"], second.body["started"]) == (True, False)
    assert first.body["jobId"] == second.body["jobId"]
    job = job_of(keeping, first)
    assert (job.kind, job.state, job.database_id) == (kind, "queued", None)
    reply = keeping.client.send("GET", CONSISTENCY).body["work"]
    assert [(item["jobId"], item["kind"]) for item in reply] == [(job.job_id, kind)]
    (entry,) = started(keeping)
    assert (entry["entity"], entry["operation"]) == ("search:indexes", kind)
    end(keeping, job, "done")
    assert post(keeping, path, body).body["started"] is True


def test_a_failed_reindex_has_to_be_resumed_or_cancelled_first(keeping: Keeping) -> None:
    job = job_of(keeping, post(keeping, REINDEX))
    end(keeping, job, "failed")
    answer = post(keeping, REINDEX)
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
    keeping: Keeping, body: object, parameters: dict[str, Any]
) -> None:
    assert job_of(keeping, post(keeping, REPAIR, body)).parameters == parameters


PUMP = {"databaseId": "museum", "assetId": "pump"}


@pytest.mark.parametrize(
    ("path", "body", "fact"),
    [
        (REPAIR, {}, "all: is required, or one of databaseId, documents"),
        (REPAIR, {"all": False}, ""),
        (REPAIR, {"all": True, "databaseId": "museum"}, "all: cannot be combined with databaseId,"),
        (REPAIR, {"assetId": "pump"}, ""),
        (REPAIR, {"documents": []}, ""),
        (REPAIR, {"documents": [{"databaseId": "museum"}]}, ""),
        (REPAIR, {"documents": [PUMP | {"path": "/a", "key": "b"}]}, ""),
        (REPAIR, {"documents": [PUMP] * 1001}, ""),
        (REPAIR, {"databaseId": "a/b"}, ""),
        (REPAIR, {"all": True, "nonsense": 1}, ""),
        (RENEW, {}, "all: is required, or one of databaseId, formats"),
        (RENEW, {"all": True, "databaseId": "museum"}, "combined"),
        (
            RENEW,
            {"all": True, "databaseId": "museum", "formats": ["dae"]},
            "databaseId and formats",
        ),
        (RENEW, {"formats": []}, "formats"),
        (RENEW, {"formats": ["dwg"]}, "Convert the file to DXF"),
        (RENEW, {"formats": ["txt"]}, "are not inspected"),
    ],
)
def test_work_on_nothing_that_is_known_is_refused(
    keeping: Keeping, path: str, body: dict[str, Any], fact: str
) -> None:
    answer = post(keeping, path, body)
    assert (answer.status, fact in str(answer.body)) == (400, True), answer.body
    assert started(keeping) == []


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        (REPAIR, {"databaseId": "nope"}, "DatabaseNotFound"),
        (REPAIR, {"databaseId": "nope", "assetId": "pump"}, "AssetNotFound"),
        (REPAIR, {"databaseId": "museum", "assetId": "nope"}, "AssetNotFound"),
        (RENEW, {"databaseId": "nope"}, "DatabaseNotFound"),
        (RENEW, {"databaseId": "nope", "formats": ["dae"]}, "DatabaseNotFound"),
    ],
)
def test_work_on_what_does_not_exist_or_is_hidden_is_not_started(
    keeping: Keeping, path: str, body: dict[str, Any], code: str
) -> None:
    absent = post(keeping, path, body)
    assert (absent.status, absent.body["code"], started(keeping)) == (404, code, [])
    blind = replace(keeping.service.assets, authorization=OnlyUser("nobody"))
    blind = replace(blind, databases=replace(blind.databases, authorization=OnlyUser("nobody")))
    service = replace(keeping.service, assets=blind, databases=blind.databases)
    renewals = replace(renewals_of(keeping), databases=blind.databases)
    known = body | {"databaseId": "museum"} | ({"assetId": "pump"} if "assetId" in body else {})
    hidden = Client(build_router(service, renewals)).send("POST", path, body=known)
    assert (hidden.status, hidden.body["code"], started(keeping)) == (404, code, [])


def test_documents_of_a_deleted_database_are_repaired_and_its_facts_are_not_renewed(
    keeping: Keeping,
) -> None:
    created_database(keeping.service.assets, "closed")
    keeping.service.assets.databases.delete_database(ADMIN, "closed")
    assert post(keeping, REPAIR, {"databaseId": "closed"}).status == 200
    assert post(keeping, RENEW, {"databaseId": "closed"}).status == 404


def test_only_administrators_look_after_the_indexes_which_there_must_be(keeping: Keeping) -> None:
    stranger = replace(keeping.client, user_id="stranger")
    assert stranger.send("GET", CONSISTENCY).status == 403
    for path, body in ((CONSISTENCY, None), (REPAIR, {"all": True}), (REINDEX, None)):
        assert stranger.send("POST", path, body=body).status == 403
    renewals = renewals_of(keeping)
    without = Client(build_router(replace(keeping.service, engine=None), renewals))
    assert without.send("GET", CONSISTENCY).status == 404
    assert without.send("POST", REINDEX).status == 404
    assert started(keeping) == []
    assert without.send("POST", RENEW, body={"all": True}).status == 200


@pytest.mark.parametrize(
    ("body", "parameters"),
    [
        ({"all": True}, {}),
        ({"databaseId": "museum"}, {"databaseId": "museum"}),
        ({"formats": [".DAE", "fbx"]}, {"formats": ["dae", "fbx"]}),
        (
            {"databaseId": "museum", "formats": ["stp"]},
            {"databaseId": "museum", "formats": ["stp"]},
        ),
    ],
)
def test_a_renewal_of_facts_is_a_job_of_which_one_runs(
    keeping: Keeping, body: object, parameters: dict[str, Any]
) -> None:
    first, second = post(keeping, RENEW, body), post(keeping, RENEW, {"all": True})
    assert (first.body["started"], second.body["started"]) == (True, False)
    assert first.body["jobId"] == second.body["jobId"]
    job = job_of(keeping, first)
    assert (job.kind, job.parameters) == ("renewFacts", parameters)
    (entry,) = started(keeping)
    assert entry["operation"] == "renewFacts"
