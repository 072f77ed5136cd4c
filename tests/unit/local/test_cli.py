"""Messages of the command line about unusable folders, ports and files."""

import socket
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from local import cli, servers
from local.cli import app
from local.errors import LocalError
from local.state import StateFolder


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def _is_one_line_of_error(output: Result, *words: str) -> None:
    assert output.exit_code == 1
    assert isinstance(output.exception, SystemExit)
    assert output.output.startswith("error: ")
    assert output.output.count("\n") == 1
    assert all(word in output.output for word in words), output.output


@pytest.mark.parametrize("command", ["up", "down", "status"])
def test_a_state_folder_that_is_a_file_is_one_line(tmp_path: Path, command: str) -> None:
    state = tmp_path / "state"
    state.write_text("mine", encoding="utf-8")
    _is_one_line_of_error(_run(command, "--state", str(state)), str(state))
    assert state.read_text(encoding="utf-8") == "mine"


def test_a_damaged_file_of_the_runner_is_named(tmp_path: Path) -> None:
    (tmp_path / "runner.json").write_text("{", encoding="utf-8")
    output = _run("down", "--state", str(tmp_path))
    _is_one_line_of_error(output, str(tmp_path / "runner.json"), "damaged")


def test_a_background_start_that_cannot_even_write_its_log_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.sys, "executable", "false")
    output = _run("up", "--detach", "--state", str(tmp_path))
    _is_one_line_of_error(output, "ended with code 1", str(tmp_path / "logs" / "up.log"))


@pytest.mark.parametrize("port", ["0", "65536", "-1"])
def test_a_number_that_is_no_port_is_wrong_usage(tmp_path: Path, port: str) -> None:
    missing = str(tmp_path / "assembly")  # nothing is started, whatever the port
    output = _run("up", "--port", port, "--assembly", missing, "--state", str(tmp_path / "state"))
    assert output.exit_code == 2
    assert not (tmp_path / "state").exists()


def test_a_taken_port_is_skipped_unless_it_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(servers, "_DEFAULT_PORT", port)
        with pytest.raises(LocalError, match=f"port {port} of 127.0.0.1 is in use"):
            servers.bind(port)
        with servers.bind(None) as bound:
            assert bound.getsockname()[1] > port


def test_the_status_names_the_functions_of_streams_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "vitrine-local-" + "A" * 30
    health = {
        "healthy": True,
        "engines": {},
        "functions": {},
        "pumps": {},
        "streams": {f"arn:aws:lambda:us-east-1:000000000000:function:{name}": 0.0},
        "runner": {"memoryBytes": 0},
    }
    reply = httpx.Response(200, json=health, request=httpx.Request("GET", "http://admin.test"))

    def get(*_: object, **__: object) -> httpx.Response:
        return reply

    monkeypatch.setattr(cli.httpx, "get", get)
    StateFolder(tmp_path).write("endpoint.json", {"admin": "http://admin.test", "api": "a"})
    output = _run("status", "--state", str(tmp_path))
    assert output.exit_code == 0
    assert name in output.output
    assert "arn:" not in output.output
