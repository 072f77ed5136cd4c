"""The sources of address and key, and the requests of waiting."""

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import httpx
import pytest
from vitrine import ConfigurationError, ProtocolError, UnreachableError
from vitrine.config import Connection, read_login, resolve, write_login
from vitrine.waiting import DrainTimeoutError, wait_until_drained

ENDPOINT = {
    "api": "http://127.0.0.1:1",
    "adminApiKey": "vams_local",
    "opensearch": "http://127.0.0.1:2",
    "dynamodb": "http://127.0.0.1:3",
    "s3": "http://127.0.0.1:4",
    "admin": "http://127.0.0.1:5",
    "pid": 7,
}


@pytest.fixture
def endpoint(tmp_path: Path) -> Path:
    path = tmp_path / "endpoint.json"
    path.write_text(json.dumps(ENDPOINT))
    return path


@pytest.fixture
def login(tmp_path: Path) -> Path:
    path = tmp_path / "config" / "login.json"
    write_login(path, Connection(api="https://stored.test", key="vams_stored"))
    return path


def known(
    login: Path,
    *,
    api: str | None = None,
    key: str | None = None,
    endpoint: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, str | None]:
    connection = resolve(api=api, key=key, endpoint=endpoint, environment=environment, login=login)
    return connection.api, connection.key


def test_the_stored_login_is_the_default(login: Path) -> None:
    assert known(login) == ("https://stored.test", "vams_stored")


def test_only_the_user_may_read_the_stored_key(login: Path) -> None:
    write_login(login, Connection(api="https://stored.test", key="vams_new"))
    assert stat.S_IMODE(login.stat().st_mode) == 0o600
    assert read_login(login) == Connection(api="https://stored.test", key="vams_new")
    assert [path.name for path in login.parent.iterdir()] == ["login.json"]


def test_options_win_over_the_environment_and_that_over_the_login(
    login: Path, endpoint: Path
) -> None:
    environment = {"VITRINE_API": "https://env.test", "VITRINE_API_KEY": "vams_env"}
    assert known(login, environment=environment) == ("https://env.test", "vams_env")
    assert known(login, endpoint=endpoint, environment=environment) == (
        ENDPOINT["api"],
        "vams_local",
    )
    assert known(login, api="https://x.test", key="k", environment=environment) == (
        "https://x.test",
        "k",
    )
    assert known(login, key="k") == ("https://stored.test", "k")


def test_a_stored_key_goes_to_no_other_address(login: Path, endpoint: Path) -> None:
    assert known(login, api="https://other.test") == ("https://other.test", None)
    assert known(login, environment={"VITRINE_API": "https://other.test"}) == (
        "https://other.test",
        None,
    )
    assert known(login, api="https://other.test", endpoint=endpoint)[1] is None
    assert known(login, api="https://stored.test/") == ("https://stored.test", "vams_stored")
    assert known(login, environment={"VITRINE_API": "https://stored.test"})[1] == "vams_stored"


def test_an_endpoint_file_may_be_named_in_the_environment(login: Path, endpoint: Path) -> None:
    assert known(login, environment={"VITRINE_ENDPOINT": str(endpoint)}) == (
        ENDPOINT["api"],
        "vams_local",
    )


def test_a_missing_address_is_an_error_with_instructions(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="vitrine login"):
        known(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "reason"), [(None, "does not exist"), ("{}", "not an endpoint"), ("x", "not an end")]
)
def test_an_invalid_endpoint_file_is_reported(
    tmp_path: Path, text: str | None, reason: str
) -> None:
    path = tmp_path / "endpoint.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigurationError, match=reason):
        known(tmp_path / "none", endpoint=path)


def test_a_damaged_login_is_reported(login: Path) -> None:
    login.write_text("{")
    with pytest.raises(ConfigurationError, match="log in again"):
        known(login)


def create_clock() -> tuple[list[float], httpx.MockTransport, list[httpx.Response | Exception]]:
    """A clock that pauses advance, and a runtime that returns the listed replies."""
    now = [0.0]
    answers: list[httpx.Response | Exception] = []

    def serve(_: httpx.Request) -> httpx.Response:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return now, httpx.MockTransport(serve), answers


def wait(*scripted: httpx.Response | Exception, timeout: float = 10.0) -> float:
    now, transport, answers = create_clock()
    answers.extend(scripted)

    def sleep(seconds: float) -> None:
        now[0] += seconds

    return wait_until_drained(
        "http://admin.test/", timeout=timeout, http=transport, sleep=sleep, clock=lambda: now[0]
    )


def drain_reply(state: bool, **more: int) -> httpx.Response:
    return httpx.Response(200, json={"drained": state, **more})


def test_waiting_ends_when_the_runtime_is_drained() -> None:
    assert (
        wait(drain_reply(False), httpx.ConnectError("busy"), drain_reply(False), drain_reply(True))
        == 0.75
    )


def test_waiting_ends_with_what_is_left_when_the_time_is_over() -> None:
    with pytest.raises(DrainTimeoutError, match=r'changes processed after 10 s.*"queues":3'):
        wait(drain_reply(False, queues=3))


def test_a_runtime_that_has_ended_is_not_waited_for() -> None:
    with pytest.raises(UnreachableError):
        wait(httpx.ConnectError("refused"))


def test_another_server_on_the_port_is_reported() -> None:
    with pytest.raises(ProtocolError, match="with status 404"):
        wait(httpx.Response(404, text="hello"))


def test_the_wait_reports_its_counts_every_ten_seconds() -> None:
    now, transport, answers = create_clock()
    left = {"drained": False, "running": 2, "executions": 3}
    answers.extend(httpx.Response(200, json=left) for _ in range(5))
    queues = {"drained": False, "queues": {"Files": 7}, "objects": True}
    answers.extend([httpx.Response(200, json=queues), drain_reply(True)])
    lines: list[str] = []

    def sleep(_: float) -> None:
        now[0] += 5.0

    wait_until_drained(
        "http://admin.test/",
        timeout=100,
        http=transport,
        sleep=sleep,
        clock=lambda: now[0],
        say=lines.append,
    )
    assert lines == [
        "10 s: waiting for running 2, executions 3",
        "20 s: waiting for running 2, executions 3",
    ]
