"""Jobs in the client: read, stopped, resumed, waited for."""

import httpx
import pytest
from pydantic import JsonValue
from vitrine import ConflictError, Job, JobUnfinishedError, Vitrine

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

ID = "archiveAsset.museum.Grüner Löwe.7"
PATH = "/jobs/archiveAsset.museum.Gr%C3%BCner%20L%C3%B6we.7"


def job(state: str, **more: JsonValue) -> httpx.Response:
    body: dict[str, JsonValue] = {"jobId": ID, "state": state, "assetId": "Grüner Löwe"}
    return httpx.Response(200, json={**body, "itemsDone": 3, "problems": [], **more})


def refusal(status: int, message: str) -> httpx.Response:
    return httpx.Response(status, json={"message": message, "code": "JobStateForbids"})


def test_a_job_is_read_by_its_id_whatever_the_id_holds(client: Vitrine, server: FakeServer) -> None:
    server.fail("GET", "/jobs/", job("running", itemsTotal=10))
    found = client.jobs.get(ID)
    assert (found.state, found.items_done, found.items_total) == ("running", 3, 10)
    assert server.requests[-1] == ("GET", PATH)


def test_the_caller_s_own_jobs_are_listed_page_after_page(shell: Shell, server: FakeServer) -> None:
    started = "2026-03-01T12:00:00Z"
    one: dict[str, JsonValue] = {
        "jobId": "j2",
        "kind": "changeFiles",
        "state": "done",
        "itemsDone": 4,
        "databaseId": "cars",
        "assetId": "car",
        "createdAt": started,
    }
    first: dict[str, JsonValue] = {"items": [one], "NextToken": "more"}
    rest: dict[str, JsonValue] = {"items": [{**one, "jobId": "j1"}]}
    pages = [httpx.Response(200, json=page) for page in (first, rest)]
    server.fail("GET", "/jobs$", *pages)
    assert shell.run("jobs", "list").splitlines() == [
        f"{job_id}\tchangeFiles\tdone\t4\tcars\tcar\t{started}" for job_id in ("j2", "j1")
    ]
    server.fail("GET", "/jobs$", httpx.Response(200, json=first))
    assert shell.run("jobs", "list", "--limit", "1").startswith("j2\t")


def test_a_job_is_cancelled_and_resumed(client: Vitrine, server: FakeServer) -> None:
    server.fail("POST", "/cancel$", job("cancelled"), refusal(409, "it has ended already"))
    server.fail("POST", "/resume$", job("queued"))
    assert client.jobs.cancel(ID).state == "cancelled"
    with pytest.raises(ConflictError, match="ended already"):
        client.jobs.cancel(ID)
    assert client.jobs.resume(ID).state == "queued"
    assert server.requests[0] == ("POST", f"{PATH}/cancel")


def test_waiting_ends_when_the_job_is_done(client: Vitrine, server: FakeServer) -> None:
    server.fail("GET", "/jobs/", job("queued"), job("running"), job("done"))
    pauses: list[float] = []
    seen: list[Job] = []
    assert client.jobs.wait(ID, seen=seen.append, sleep=pauses.append).state == "done"
    assert [one.state for one in seen] == ["queued", "running", "done"]
    assert pauses == [0.25, 0.375]


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_waiting_for_a_job_that_never_gets_done_fails_with_its_reasons(
    client: Vitrine, server: FakeServer, state: str
) -> None:
    server.fail("GET", "/jobs/", job(state, problems=["the bucket is gone"]))
    with pytest.raises(JobUnfinishedError, match=f"is {state}: the bucket is gone") as failed:
        client.jobs.wait(ID)
    assert failed.value.job.state == state


def test_waiting_stops_when_the_time_is_over(client: Vitrine, server: FakeServer) -> None:
    server.fail("GET", "/jobs/", *(job("running") for _ in range(4)))
    times = iter([0.0, 1.0, 5.0, 11.0])
    with pytest.raises(JobUnfinishedError, match="is still running after 10 s"):
        client.jobs.wait(ID, timeout=10, sleep=lambda _: None, clock=lambda: next(times))


def test_the_command_shows_a_job(shell: Shell, server: FakeServer) -> None:
    server.fail(
        "GET", "/jobs/", *(job("failed", itemsTotal=10, problems=["odd"]) for _ in range(2))
    )
    assert shell.run("jobs", "show", ID) == f"{ID}\tfailed\t3/10\tGrüner Löwe\n"
    assert (shell.code, shell.err) == (0, "problem: odd\n")
    assert shell.json("jobs", "show", ID)["problems"] == ["odd"]


@pytest.mark.parametrize(("verb", "state"), [("cancel", "cancelled"), ("resume", "queued")])
def test_the_command_stops_a_job_and_takes_it_up(
    shell: Shell, server: FakeServer, verb: str, state: str
) -> None:
    server.fail("POST", f"/{verb}$", job(state), refusal(409, "no"))
    assert shell.run("jobs", verb, ID) == f"{ID}\t{state}\t3\tGrüner Löwe\n"
    shell.run("jobs", verb, ID)
    assert (shell.code, shell.err) == (1, "error: no\n")


def test_the_command_waits_for_a_job(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", "/jobs/", job("running"), job("done"))
    assert shell.run("jobs", "wait", ID) == f"{ID}\tdone\t3\tGrüner Löwe\n"
    assert shell.code == 0


def test_the_command_that_waits_in_vain_fails(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", "/jobs/", job("failed", problems=["the bucket is gone"]), job("running"))
    shell.run("jobs", "wait", ID)
    assert (shell.code, shell.err) == (1, f"error: job {ID} is failed: the bucket is gone\n")
    shell.run("jobs", "wait", ID, "--timeout", "0")
    assert (shell.code, "is still running" in shell.err) == (1, True)


def test_an_unknown_job_is_not_found(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", "/jobs/", httpx.Response(404, json={"message": "Job x does not exist"}))
    shell.run("jobs", "show", "x")
    assert shell.code == 3


def test_a_tag_is_deleted_only_when_that_is_confirmed(shell: Shell, server: FakeServer) -> None:
    reply = {"success": True, "tagName": "red", "jobId": "withdrawTag.1"}
    server.fail("DELETE", "/tags/red$", httpx.Response(200, json=reply))
    shell.run("tags", "delete", "red")
    assert (shell.code, server.calls("DELETE", "/tags")) == (2, 0)
    assert shell.run("tags", "delete", "red", "--yes") == "red\twithdrawTag.1\n"
