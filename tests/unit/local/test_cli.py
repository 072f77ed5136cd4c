"""Messages of the command line, its settings, the first look, and the state folder."""

import errno
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue
from typer.testing import CliRunner, Result

from local import cli, first_look, servers, synthesis
from local.cli import app, parsed_settings
from local.errors import AlreadyRunningError, LocalError
from local.state import REPOSITORY, StateFolder


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


def test_ctrl_c_while_modules_are_imported_is_one_line(tmp_path: Path) -> None:
    interrupted = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    (tmp_path / "httpx.py").write_text(interrupted, encoding="utf-8")
    command = (sys.executable, "-m", "local", "up", "--state", str(tmp_path / "state"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_while_a_runtime_starts_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("local.serve.serve", serve)
    handler = signal.getsignal(signal.SIGINT)
    try:
        result = _run("up", "--state", str(tmp_path))
    finally:
        signal.signal(signal.SIGINT, handler)
    assert (result.exit_code, result.output) == (130, "interrupted\n")


@pytest.mark.parametrize("port", ["65536", "-1"])
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
        with servers.bind(None) as bound, servers.bind(0) as free:
            assert bound.getsockname()[1] > port
            assert free.getsockname()[1] not in (0, port)


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


def test_values_are_json_where_they_can_be() -> None:
    value = ["userPool=true", "auditDays=7", 'allowedIpRanges=["127.0.0.0/8"]', "webUrl=http://a=b"]
    assert parsed_settings(value, None) == {
        "userPool": True,
        "auditDays": 7,
        "allowedIpRanges": ["127.0.0.0/8"],
        "webUrl": "http://a=b",
    }


@pytest.mark.parametrize("given", ["userPool", "=true", ""])
def test_what_is_no_setting_is_refused(given: str) -> None:
    with pytest.raises(LocalError, match="NAME=VALUE"):
        parsed_settings([given], None)


def test_an_assembly_that_is_there_already_takes_none() -> None:
    assert parsed_settings([], Path("cdk.out")) == {}
    with pytest.raises(LocalError, match="--assembly"):
        parsed_settings(["userPool=true"], Path("cdk.out"))


def test_settings_of_up_come_before_those_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CDK_CONTEXT_JSON", '{"stage": "local", "auditDays": 1}')
    assert synthesis.context_variables({}) == {}
    variables = synthesis.context_variables({"auditDays": 2})
    assert json.loads(variables["CDK_CONTEXT_JSON"]) == {"stage": "local", "auditDays": 2}


def test_models_have_turntables_where_the_page_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"webUrl": "http://127.0.0.1:1"}
    monkeypatch.delenv("CDK_CONTEXT_JSON", raising=False)

    def settings(given: Mapping[str, JsonValue], *, page: bool = True) -> Mapping[str, JsonValue]:
        return synthesis.with_defaults(given, url=own["webUrl"], page=page)

    assert settings({}, page=False) == own
    assert settings({}) == {**own, "turntables": True}
    assert settings({"turntables": False}) == {**own, "turntables": False}
    assert settings({"webUrl": "http://a"}) == {"webUrl": "http://a", "turntables": True}
    off: dict[str, JsonValue] = {"processing": False}
    assert settings(off) == {**own, **off}, "turntables would have no effect"
    for chosen in (off, {"turntables": False}, {"webUrl": "http://a", "turntables": False}):
        monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps(chosen))
        assert settings({}) == {**own, **chosen}, "as the environment has it"


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    folder = tmp_path / "samples" / "library"
    folder.mkdir(parents=True)
    for name in ("a.glb", "b.glb"):
        (folder / name).write_bytes(b"glTF")
    return folder


def printed_lines(samples: Path, monkeypatch: pytest.MonkeyPatch, waiting: str) -> list[str]:
    def command(*arguments: str | Path) -> list[str]:
        return ["sh", "-c", waiting if arguments[0] == "wait" else "true"]

    monkeypatch.setattr(first_look, "vitrine", command)
    lines: list[str] = []
    state = StateFolder(samples.parent / "state")
    state.root.mkdir()
    first_look.import_samples(state, samples, lines.append)
    return lines


def test_each_stage_is_printed_with_what_it_waits_for(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed_lines(samples, monkeypatch, "echo '10 s: waiting for executions 3' >&2")
    assert lines[0].startswith("importing 2 files from ")
    assert lines[1:3] == [
        "waiting until the files are inspected and can be found",
        "  10 s: waiting for executions 3",
    ]
    assert lines[3] == "try:"


def test_a_step_that_fails_is_named_with_its_last_line(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LocalError, match=r"^waiting for them failed: error: 3 changes are left$"):
        printed_lines(samples, monkeypatch, "echo 'error: 3 changes are left' >&2; exit 1")


def test_files_are_replaced_whole_and_private(tmp_path: Path) -> None:
    state = StateFolder(tmp_path / "s")
    state.create()
    state.write("a.json", {"a": 1})
    state.write("a.json", {"a": 2})

    assert state.read("a.json", {"a": 0}) == {"a": 2}
    assert state.read("b.json", {"b": 0}) == {"b": 0}
    assert stat.S_IMODE((state.root / "a.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(state.root.stat().st_mode) == 0o700


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{", encoding="utf-8")

    with pytest.raises(LocalError, match=r"a\.json is damaged"):
        StateFolder(tmp_path).read("a.json", 0)


def test_a_folder_is_locked_for_one(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    lock = state.lock()
    with pytest.raises(AlreadyRunningError, match="already uses"):
        state.lock()
    lock.release()
    state.lock().release()


def test_emptying_keeps_tools_and_packages(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    state.create()
    for name in ("tools", "layer", "runtime", "data"):
        (tmp_path / name).mkdir()
    state.write("secrets.json", {})

    state.empty()

    assert {entry.name for entry in tmp_path.iterdir()} == {"tools", "layer", "runtime"}


def test_a_full_disk_is_reported_with_the_file_and_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = StateFolder(tmp_path)
    folder.write("secrets.json", {"kept": 1})
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match=r"No space left on device: '.*/secrets\.json'"):
        folder.write("secrets.json", {"kept": 2})
    assert folder.read("secrets.json", dict[str, int]()) == {"kept": 1}


def test_the_secret_key_of_the_engines_is_random_and_kept(tmp_path: Path) -> None:
    folders = [StateFolder(tmp_path / name) for name in "ab"]
    for state in folders:
        state.create()
    keys = [state.secret_key() for state in folders]

    assert len(set(keys)) == 2
    assert min(map(len, keys)) >= 32
    assert [state.secret_key() for state in folders] == keys
