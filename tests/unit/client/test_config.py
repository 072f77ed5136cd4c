"""The sources of address and key, and the requests of waiting."""

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

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


LOCAL, STORED, OTHER = str(ENDPOINT["api"]), "https://stored.test", "https://other.test"
ENVIRONMENT = {"VITRINE_API": "https://env.test", "VITRINE_API_KEY": "vams_env"}


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        ({}, {}, (STORED, "vams_stored")),
        ({}, ENVIRONMENT, ("https://env.test", "vams_env")),
        ({"endpoint": ...}, ENVIRONMENT, (LOCAL, "vams_local")),
        ({"api": "https://x.test", "key": "k"}, ENVIRONMENT, ("https://x.test", "k")),
        ({"key": "k"}, {}, (STORED, "k")),
        # A stored key goes to no other address.
        ({"api": OTHER}, {}, (OTHER, None)),
        ({}, {"VITRINE_API": OTHER}, (OTHER, None)),
        ({"api": OTHER, "endpoint": ...}, {}, (OTHER, None)),
        ({"api": f"{STORED}/"}, {}, (STORED, "vams_stored")),
        ({}, {"VITRINE_API": STORED}, (STORED, "vams_stored")),
        ({}, {"VITRINE_ENDPOINT": ...}, (LOCAL, "vams_local")),
    ],
)
def test_options_win_over_the_environment_and_that_over_the_login(
    login: Path,
    endpoint: Path,
    options: dict[str, Any],
    environment: dict[str, Any],
    expected: tuple[str, str | None],
) -> None:
    named: dict[str, Any] = {k: endpoint if value is ... else value for k, value in options.items()}
    words = {name: str(endpoint if value is ... else value) for name, value in environment.items()}
    assert known(login, environment=words, **named) == expected


def test_only_the_user_may_read_the_stored_key(login: Path) -> None:
    write_login(login, Connection(api="https://stored.test", key="vams_new"))
    assert stat.S_IMODE(login.stat().st_mode) == 0o600
    assert read_login(login) == Connection(api="https://stored.test", key="vams_new")
    assert [path.name for path in login.parent.iterdir()] == ["login.json"]


def test_a_missing_address_an_invalid_endpoint_and_a_damaged_login_are_reported(
    login: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="vitrine login"):
        known(tmp_path / "none")
    path = tmp_path / "endpoint.json"
    for text, reason in ((None, "does not exist"), ("{}", "not an endpoint"), ("x", "not an end")):
        if text is not None:
            path.write_text(text)
        with pytest.raises(ConfigurationError, match=reason):
            known(tmp_path / "none", endpoint=path)
    login.write_text("{")
    with pytest.raises(ConfigurationError, match="log in again"):
        known(login)


def wait(
    *replies: httpx.Response | Exception,
    timeout: float = 10.0,
    pause: float = 0.0,
    say: Any = print,
) -> float:
    """Wait for a runtime with these replies, the last again and again, on a clock of pauses."""
    now, answers = [0.0], list(replies)

    def serve(_: httpx.Request) -> httpx.Response:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def sleep(seconds: float) -> None:
        now[0] += pause or seconds

    return wait_until_drained(
        "http://admin.test/",
        timeout=timeout,
        http=httpx.MockTransport(serve),
        sleep=sleep,
        clock=lambda: now[0],
        say=say,
    )


def drain_reply(state: bool, **more: int) -> httpx.Response:
    return httpx.Response(200, json={"drained": state, **more})


def test_waiting_ends_when_the_runtime_is_drained_or_cannot_be() -> None:
    busy = drain_reply(False)
    assert wait(busy, httpx.ConnectError("busy"), busy, drain_reply(True)) == 0.75
    with pytest.raises(DrainTimeoutError, match=r'changes processed after 10 s.*"queues":3'):
        wait(drain_reply(False, queues=3))
    with pytest.raises(UnreachableError):
        wait(httpx.ConnectError("refused"))
    with pytest.raises(ProtocolError, match="with status 404"):
        wait(httpx.Response(404, text="hello"))


def test_the_wait_reports_its_counts_every_ten_seconds() -> None:
    lines: list[str] = []
    queues = {"drained": False, "queues": {"Files": 7}, "objects": True}
    wait(
        *(drain_reply(False, running=2, executions=3) for _ in range(5)),
        *(httpx.Response(200, json=queues), drain_reply(True)),
        timeout=100,
        pause=5.0,
        say=lines.append,
    )
    assert lines == [
        "10 s: waiting for running 2, executions 3",
        "20 s: waiting for running 2, executions 3",
    ]
