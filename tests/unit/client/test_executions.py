"""Executions of workflows, seen from the client."""

import json
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue
from vitrine import Vitrine

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

RUN = "0d4f3c52-93c5-4d5a-8f0b-5a0a2a6f6c3e"
ASSET: dict[str, JsonValue] = {"databaseId": "museum", "assetId": "statue", "assetName": "Statue"}
ONE: dict[str, JsonValue] = {
    "executionId": RUN,
    "workflowDatabaseId": "GLOBAL",
    "workflowId": "publish",
    "executionStatus": "RUNNING",
    "startDate": "03/01/2026, 12:00:00",
    "startedAt": "2026-03-01T12:00:00.000Z",
    "inputAssetFileKey": "statue/a.glb",
}
FAILED: dict[str, JsonValue] = {
    **ONE,
    "executionStatus": "FAILED",
    "error": {"code": "OutputsRefused", "message": "one file was not stored"},
    "steps": [
        {
            "number": 1,
            "pipelineId": "convert",
            "databaseId": "GLOBAL",
            "state": "FAILED",
            "startedAt": "2026-03-01T12:00:01.000Z",
            "stoppedAt": "2026-03-01T12:00:09.000Z",
        }
    ],
    "outputs": {"files": ["/b.glb"], "refused": [{"path": "/c.exe", "reason": "blocked"}]},
}
ABSENT = httpx.Response(404, json={"message": {}, "code": "WorkflowNotFound"})


@pytest.fixture
def shell(server: FakeServer, tmp_path: Path) -> Shell:
    shell = Shell(server, tmp_path)
    server.fail("GET", "/assets/statue$", httpx.Response(200, json=ASSET))
    return shell


def answer(message: JsonValue) -> httpx.Response:
    return httpx.Response(200, json={"message": message})


def sent(server: FakeServer) -> JsonValue:
    """The body of the last request that started an execution."""
    posts = [one for one in server.sent if one.method == "POST"]
    return json.loads(posts[-1].content)


def test_a_workflow_runs_on_each_file_and_is_looked_for_in_global(
    shell: Shell, server: FakeServer
) -> None:
    server.fail("GET", "/workflows/publish$", ABSENT)
    started: JsonValue = [{"fileKey": "statue/a.glb", "executionId": "one"}]
    refused: JsonValue = [{"fileKey": "/b.glb", "code": "ExecutionActive", "message": "runs"}]
    reply: JsonValue = {"message": "one", "executions": started, "refused": refused}
    server.fail("POST", "/workflows/publish$", httpx.Response(200, json=reply))
    files = ("--file", "/a.glb", "--file", "/b.glb")
    out = shell.run("run", "publish", "statue", "--database", "museum", *files)
    assert (shell.code, out) == (1, "one\n")
    assert "/b.glb: runs" in shell.err
    assert sent(server) == {"workflowDatabaseId": "GLOBAL", "fileKeys": ["/a.glb", "/b.glb"]}


def test_a_workflow_runs_on_one_file(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", "/workflows/publish$", answer({"workflowId": "publish",
                                                      "databaseId": "museum"}))  # fmt: skip
    server.fail("POST", "/assets/statue/workflows/publish$", answer("one"))
    assert shell.run("run", "publish", "statue", "-d", "museum", "--file", "/a.glb") == "one\n"
    assert sent(server) == {"workflowDatabaseId": "museum", "fileKey": "/a.glb"}


def test_watching_ends_with_the_execution_and_fails_with_it(
    shell: Shell, server: FakeServer
) -> None:
    server.fail("POST", "/assets/statue/workflows/publish$", answer(RUN))
    server.fail("GET", f"/executions/{RUN}$", answer(ONE), answer(FAILED))
    command = ("run", "publish", "statue", "-d", "museum", "--workflow-database", "GLOBAL")
    shell.run(*command, "--watch")
    assert shell.code == 1
    assert f"execution {RUN} is FAILED: OutputsRefused: one file was not stored" in shell.err


def test_a_watched_execution_that_succeeds_is_printed(shell: Shell, server: FakeServer) -> None:
    server.fail("POST", "/assets/statue/workflows/publish$", answer(RUN))
    done = {**ONE, "executionStatus": "SUCCEEDED"}
    server.fail("GET", f"/executions/{RUN}$", answer(ONE), answer(done))
    command = ("run", "publish", "statue", "-d", "museum", "--workflow-database", "GLOBAL")
    out = shell.run(*command, "--watch")
    assert out == f"{RUN}\tpublish\tSUCCEEDED\t2026-03-01T12:00:00.000Z\tstatue/a.glb\t\n"


def test_executions_are_listed_shown_stopped_and_repeated(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", "/workflows/executions/publish$", answer({"Items": [ONE]}))
    listed = ("executions", "list", "museum", "statue", "--workflow", "publish")
    out = shell.run(*listed, "--workflow-database", "GLOBAL")
    assert out.startswith(f"{RUN}\tpublish\tRUNNING\t")
    assert dict(server.sent[-1].url.params)["workflowDatabaseId"] == "GLOBAL"
    asset = httpx.Response(200, json=ASSET)
    server.fail("GET", "/assets/statue$", asset, asset, asset)
    server.fail("GET", f"/executions/{RUN}$", answer(FAILED))
    out = shell.run("executions", "show", "museum", "statue", RUN)
    times = "2026-03-01T12:00:01.000Z\t2026-03-01T12:00:09.000Z"
    assert f"1\tconvert\tGLOBAL\tFAILED\t{times}\nfile\t/b.glb\t\nrefused\t/c.exe\tblocked\n" in out
    server.fail("DELETE", f"/executions/{RUN}$", answer("Execution is stopped"))
    assert shell.run("executions", "stop", "museum", "statue", RUN) == f"{RUN}\n"
    server.fail("POST", f"/executions/{RUN}/rerun$", answer("again"))
    assert shell.run("executions", "rerun", "museum", "statue", RUN) == "again\n"


def test_all_executions_of_an_asset_are_listed(client: Vitrine, server: FakeServer) -> None:
    server.fail("GET", "/statue/workflows/executions$", answer({"Items": [ONE]}))
    (found,) = client.executions.list("museum", "statue")
    assert (found.execution_id, found.has_ended) == (RUN, False)
