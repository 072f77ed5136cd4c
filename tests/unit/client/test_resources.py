"""Behaviour of resources besides the requests that `commands.txt` shows."""

import json

import httpx
import pytest
import typer
from pydantic import JsonValue
from vitrine import (
    Job,
    JobUnfinishedError,
    MetadataOwner,
    SchemaField,
    SchemaFields,
    UnreachableError,
    Vitrine,
)
from vitrine.execution_models import ExecutionFailedError
from vitrine.resources.administration import WebRoute

from tests.unit.client.conftest import World
from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell
from tests.unit.client.transcripts import furnished_server

IDS = ("garage", "pump")


@pytest.fixture
def server() -> FakeServer:
    return furnished_server()


def last_body(server: FakeServer) -> JsonValue:
    return json.loads(server.sent[-1].content)


@pytest.mark.parametrize("order", [1, -1])
def test_the_usual_bucket_is_one_that_holds_assets_at_its_root(world: World, order: int) -> None:
    records: list[JsonValue] = [
        {"bucketId": "scans-id", "bucketName": "scans", "baseAssetsPrefix": "north/"},
        {"bucketId": "own", "bucketName": "x", "baseAssetsPrefix": "/"},
    ]
    full, empty = ({"Items": rows} for rows in (records[::order], list[JsonValue]()))
    world.server.fail(
        "GET", "/buckets$", httpx.Response(200, json=full), httpx.Response(200, json=empty)
    )
    bucket = world.client.buckets.usual()
    assert bucket is not None
    assert bucket.bucket_id == "own"
    assert world.client.buckets.usual() is None


def job(state: str, **more: JsonValue) -> httpx.Response:
    return httpx.Response(200, json={"jobId": "j", "state": state, **more})


def test_waiting_ends_when_the_job_is_done_or_the_time_over(
    client: Vitrine, server: FakeServer
) -> None:
    server.fail("GET", "/jobs/", job("queued"), job("running"), job("done"))
    pauses: list[float] = []
    seen: list[Job] = []
    assert client.jobs.wait("j", seen=seen.append, sleep=pauses.append).state == "done"
    assert [state.state for state in seen] == ["queued", "running", "done"]
    assert pauses == [0.25, 0.375]
    server.fail("GET", "/jobs/", *(job("running") for _ in range(4)))
    times = iter([0.0, 1.0, 5.0, 11.0])
    with pytest.raises(JobUnfinishedError, match="is still running after 10 s"):
        client.jobs.wait("j", timeout=10, sleep=lambda _: None, clock=lambda: next(times))
    running = {"executionId": "e", "executionStatus": "RUNNING"}
    server.fail("GET", "/executions/", httpx.Response(200, json={"message": running}))
    with pytest.raises(ExecutionFailedError, match="is still RUNNING after 0 s"):
        client.executions.wait(*IDS, "e", timeout=0)


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_waiting_for_a_job_that_never_gets_done_fails_with_its_reasons(
    client: Vitrine, server: FakeServer, state: str
) -> None:
    server.fail("GET", "/jobs/", job(state, problems=["the bucket is gone"]))
    with pytest.raises(JobUnfinishedError, match=f"is {state}: the bucket is gone") as failed:
        client.jobs.wait("j")
    assert failed.value.job.state == state


def test_a_change_whose_reply_is_lost_is_not_sent_again(world: World) -> None:
    world.server.fail(
        "DELETE", "/(archiveAsset|garage)$", *[httpx.ReadError("lost")] * 2, after=True
    )
    with pytest.raises(UnreachableError):
        world.client.assets.archive(*IDS)
    with pytest.raises(UnreachableError):
        world.client.databases.purge("garage")
    world.server.fail("POST", "/moveFile$", httpx.ReadError("lost"))
    with pytest.raises(UnreachableError):
        world.client.files.move(IDS, "/a", "/b")
    assert [method for method, _ in world.server.requests] == ["DELETE", "DELETE", "POST"]


def test_fields_that_no_command_sends_and_pages_that_a_caller_may_open(
    client: Vitrine, server: FakeServer
) -> None:
    assert client.comments.add("pump", "Nice", version_id="2", comment_id="c1") == "2:c1"
    client.search_indexes.repair(documents=[{"databaseId": "garage", "assetId": "pump"}])
    assert last_body(server) == {"documents": [{"databaseId": "garage", "assetId": "pump"}]}
    client.versions.create(IDS, "some files", files={"/a.glb": "x"})
    named = [{"relativeKey": "/a.glb", "versionId": "x"}]
    assert last_body(server) == {"comment": "some files", "files": named}
    attribute = MetadataOwner(
        database_id="garage", asset_id="pump", file_path="/b.glb", kind="attribute"
    )
    server.fail("DELETE", "/metadata/file$", httpx.Response(200, json={"successfulItems": ["a"]}))
    assert client.metadata.remove(attribute, ["a"]).successful_items == ("a",)
    removed = {"metadataKeys": ["a"], "filePath": "/b.glb", "type": "attribute"}
    assert last_body(server) == removed
    fields = SchemaFields.of(SchemaField(metadata_field_key_name="unit"))
    client.metadata_schemas.update("s", fields=fields)
    unit = {"metadataFieldKeyName": "unit", "metadataFieldValueType": "string", "required": False}
    assert last_body(server) == {"metadataSchemaId": "s", "fields": {"fields": [unit]}}
    page = {"method": "GET", "route__path": "/assets"}
    reply = {"allowedRoutes": [{**page, "object__type": "web"}]}
    server.fail("POST", "/auth/routes$", httpx.Response(200, json=reply))
    (route,) = client.profiles.allowed_routes([WebRoute(method="GET", route__path="/assets")])
    assert route.route_path == "/assets"
    assert last_body(server) == {"routes": [page]}


def test_a_user_must_confirm_the_removal_of_a_referenced_file(
    shell: Shell, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[str] = []

    def answer(question: str, **_: object) -> None:
        questions.append(question)
        raise typer.Abort

    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setattr("typer.confirm", answer)
    users = httpx.Response(200, json={"items": [{"filePath": "/b.obj"}]})
    server.fail("GET", "/dependents$", users, users)
    shell.run("files", "move", *IDS, "/a.png", "/x.png")
    shell.run("files", "delete", *IDS, "/parts", "--folder")
    assert questions == [
        "Files that refer to it: 1 (/b.obj). Move /a.png anyway?",
        "Files that refer to it: 1 (/b.obj). Permanently delete /parts with all versions?",
    ]
    assert server.sent[-1].url.params["isPrefix"] == "true"
    assert {request.method for request in server.sent} == {"GET"}
