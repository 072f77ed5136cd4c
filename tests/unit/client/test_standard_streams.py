"""As a file name, `-` is standard input or standard output."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell
from tests.unit.client.test_habits import COMMANDS
from tests.unit.client.test_poor_replies import FILE, required_fields_only

_TEMPLATE: dict[str, Any] = {"template": {"name": "mine"}}
_INPUTS: dict[str, Any] = {
    "access constraints put see -": FILE,
    "access template apply - --role r": _TEMPLATE,
    "pipelines put -": FILE,
    "metadata edit -": FILE,
    "metadata-schemas create museum assetMetadata n -": FILE,
    "metadata-schemas update s --fields -": FILE,
    "api PUT /pipelines --input -": FILE,
}
_OTHER_PATHS = {"ingest", "import", "demo", "download", "export"} | {
    *("sync push", "sync pull", "watch", "mcp")
}
"""Commands with paths of folders, of several files, or of an output."""


@pytest.fixture
def shell(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(server, tmp_path)


def test_all_commands_that_read_a_file_are_tested() -> None:
    reading = {
        name
        for name, command in COMMANDS.items()
        for parameter in command.params
        if "Path" in str(parameter.type_descriptor.annotation)
        and "--endpoint" not in parameter.opts
    }
    tested = {name for name in COMMANDS for words in _INPUTS if words.startswith(f"{name} ")}
    assert reading - _OTHER_PATHS <= tested


@pytest.mark.parametrize("words", _INPUTS)
def test_a_file_is_read_from_standard_input(words: str, shell: Shell, server: FakeServer) -> None:
    sent: list[httpx.Request] = []
    server.api = httpx.MockTransport(
        lambda request: sent.append(request) or required_fields_only(request)
    )
    shell.run(*words.split(), typed=json.dumps(_INPUTS[words]))
    assert shell.code == 0, shell.err
    assert sent[-1].method in {"POST", "PUT"}
    shell.run(*words.split(), typed="[")
    assert shell.code == 2
    assert shell.err.startswith("error: standard input"), shell.err


@pytest.mark.parametrize("output", ["-", "pages.jsonl"])
def test_an_export_is_written_to_standard_output_or_a_file(shell: Shell, output: str) -> None:
    hall = {"databaseId": "museum", "assetId": "hall", "assetName": "Hall"}
    page: dict[str, Any] = {"assets": [], "totalAssetsInTree": 0, "assetsInThisPage": 0,
                            "unknown": "a\x9b\u202e\u2028"}  # fmt: skip
    shell.server.fail("GET", "assets/hall$", httpx.Response(200, json=hall))
    pages = httpx.Response(200, json={**page, "NextToken": "t"}), httpx.Response(200, json=page)
    shell.server.fail("POST", "/export$", *pages)
    text = shell.run("export", "museum", "hall", "--output", output)
    assert shell.code == 0, shell.err
    lines = (text if output == "-" else (shell.folder / output).read_text()).splitlines()
    assert all(map(str.isprintable, lines))
    assert [json.loads(line)["assetsInThisPage"] for line in lines] == [0, 0]
    assert not (shell.folder / "-").exists()


def test_the_reply_of_any_route_controls_no_terminal(shell: Shell, server: FakeServer) -> None:
    body = '{\n  "name": "a\x9b\u202e\u2028\u00e9"\n}'.encode()
    server.fail(
        "GET",
        "/database$",
        httpx.Response(200, headers={"Content-Type": "application/json"}, content=body),
    )
    assert (
        shell.run("api", "GET", "/database") == '{\n  "name": "a\\u009b\\u202e\\u2028\u00e9"\n}\n'
    )
