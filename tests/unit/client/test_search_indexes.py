"""The search indexes as a whole, seen from the client."""

import json

import httpx
import pytest
from pydantic import JsonValue
from vitrine import ConflictError, Vitrine

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

ROUTE = "/admin/search"
CONSISTENCY, REPAIR, REINDEX = (f"{ROUTE}/{name}" for name in ("consistency", "repair", "reindex"))
REPORT: dict[str, JsonValue] = {
    "jobId": "checkSearch.1",
    "finishedAt": "2026-03-01T12:00:00.000000Z",
    "documents": 10,
    "missing": 1,
    "extra": 2,
    "oldestUnindexedSeconds": 60,
    "examples": [{"drift": "missing", "documentId": "museum:pump"}],
}
INDEXES: list[JsonValue] = [
    {"alias": "assets", "reads": "assets-1", "writes": ["assets-1"], "differences": []}
]


def standing(report: JsonValue = None, *corrections: str) -> httpx.Response:
    body: dict[str, JsonValue] = {"work": [], "indexes": INDEXES, "corrections": list(corrections)}
    return httpx.Response(200, json=body if report is None else {**body, "report": report})


def started_job(*, started: bool = True) -> httpx.Response:
    return httpx.Response(200, json={"jobId": "job-1", "started": started, "message": "so"})


def job(state: str) -> httpx.Response:
    return httpx.Response(200, json={"jobId": "job-1", "state": state, "itemsDone": 3})


def test_the_report_shows_what_differs(client: Vitrine, server: FakeServer) -> None:
    server.fail("GET", CONSISTENCY, standing(REPORT, "POST /admin/search/repair: …"))
    found = client.search_indexes.consistency()
    assert found.report is not None
    assert (found.report.drift, found.report.examples[0].document_id) == (3, "museum:pump")
    assert found.corrections[0].startswith("POST /admin/search/repair")


def test_a_repair_names_one_thing(client: Vitrine, server: FakeServer) -> None:
    server.fail("POST", REPAIR, *[started_job() for _ in range(3)])
    client.search_indexes.repair()
    client.search_indexes.repair(database_id="museum", asset_id="pump")
    client.search_indexes.repair(documents=[{"databaseId": "museum", "assetId": "pump"}])
    assert [json.loads(request.content) for request in server.sent] == [
        {"all": True},
        {"databaseId": "museum", "assetId": "pump"},
        {"documents": [{"databaseId": "museum", "assetId": "pump"}]},
    ]


def test_a_reindex_that_failed_is_a_conflict(client: Vitrine, server: FakeServer) -> None:
    server.fail("POST", REINDEX, httpx.Response(409, json={"message": "resume it"}))
    with pytest.raises(ConflictError, match="resume it"):
        client.search_indexes.reindex()


def test_a_check_waits_and_fails_where_something_differs(shell: Shell, server: FakeServer) -> None:
    server.fail("POST", CONSISTENCY, started_job(), started_job())
    server.fail("GET", "/jobs", job("running"), job("done"), job("done"))
    server.fail("GET", CONSISTENCY, standing(REPORT, "repair it"), standing())
    printed = shell.run("admin", "search", "check")
    assert "museum:pump" in printed
    assert "10 documents: 1 missing, 0 stale, 2 extra; the oldest change" in printed
    assert (shell.code, shell.err) == (1, "to correct this: repair it\n")
    shell.run("admin", "search", "check")
    assert shell.code == 0


def test_the_status_is_printed_as_json(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", CONSISTENCY, standing(REPORT))
    report = shell.json("admin", "search", "status")["report"]
    assert isinstance(report, dict)
    assert (shell.code, report["documents"]) == (0, 10)


def test_a_repair_and_a_reindex_begin_or_are_at_work(shell: Shell, server: FakeServer) -> None:
    server.fail("POST", REPAIR, started_job())
    server.fail("POST", REINDEX, started_job(started=False), started_job())
    server.fail("GET", "/jobs", job("done"))
    assert shell.run("admin", "search", "repair", "--all") == "job-1\tbegan\n"
    assert shell.run("admin", "search", "reindex") == "job-1\twas already running\n"
    assert shell.run("admin", "search", "reindex", "--wait") == "job-1\tbegan\tdone\t3\n"


def test_a_renewal_of_facts_names_its_files(shell: Shell, server: FakeServer) -> None:
    server.fail(
        "POST", "/admin/facts/renew", *[started_job() for _ in range(2)], started_job(started=False)
    )
    server.fail("GET", "/jobs", job("running"), job("done"))
    assert shell.run("facts", "renew", "--all", "--wait") == "job-1\tbegan\tdone\t3\n"
    shell.run("facts", "renew", "--database", "museum", "--format", "dae", "--format", "fbx")
    assert shell.json("facts", "renew", "--format", "dae")["started"] is False
    sent = [json.loads(each.content) for each in server.sent if each.method == "POST"]
    assert sent == [
        {"all": True},
        {"databaseId": "museum", "formats": ["dae", "fbx"]},
        {"formats": ["dae"]},
    ]


@pytest.mark.parametrize("command", ["admin search repair", "facts renew", "admin search reindex"])
def test_the_outcome_of_a_job_that_is_waited_for_is_printed(
    shell: Shell, server: FakeServer, command: str
) -> None:
    body = {"jobId": "job-1", "state": "done", "itemsDone": 3, "problems": ["one was skipped"]}
    server.fail("POST", "/admin/", started_job(), started_job())
    server.fail("GET", "/jobs", *[httpx.Response(200, json=body)] * 2)
    options = [] if command.endswith("reindex") else ["--all"]
    assert shell.run(*command.split(), *options, "--wait") == "job-1\tbegan\tdone\t3\n"
    assert shell.err == "problem: one was skipped\n"
    job = shell.json(*command.split(), *options, "--wait")["job"]
    assert isinstance(job, dict)
    assert (job["state"], job["itemsDone"]) == ("done", 3)


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("admin search repair", "give --all, or --database"),
        ("admin search repair --all --database museum", "--all cannot be used together with --dat"),
        ("admin search repair --asset pump --all", "--asset requires --database"),
        ("facts renew", "give --all, or --database or --format"),
        ("facts renew --all --database museum", "--all cannot be used together with --database"),
        (
            "facts renew --all --database museum --format x",
            "--all cannot be used together with --database and --format",
        ),
        ("facts renew --format EMPTY", "--format has an empty value"),
        ("facts renew --format dae --format EMPTY", "--format has an empty value"),
        ("search pump --tag EMPTY", "--tag has an empty value"),
        ("search pump --facet EMPTY", "--facet has an empty value"),
        ("roles give ann EMPTY", "ROLES has an empty value"),
        ("metadata remove museum pump EMPTY", "KEYS has an empty value"),
    ],
)
def test_wrong_usage_names_what_is_wrong(
    shell: Shell, server: FakeServer, line: str, fact: str
) -> None:
    shell.run(*(" " if part == "EMPTY" else part for part in line.split()))
    assert (shell.code, fact in shell.err, server.sent) == (2, True, []), shell.err
