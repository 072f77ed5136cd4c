"""A client that claims to call from another address."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.runtime import Runtime, wait_until


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "192.0.2.77"},
        {"Forwarded": "for=192.0.2.77"},
        {"X-Real-IP": "192.0.2.77"},
    ],
    ids=lambda headers: next(iter(headers)),
)
def test_the_gateway_believes_the_connection_and_no_header(
    runtime: Runtime, headers: dict[str, str]
) -> None:
    key = f"vams_{next(iter(headers)):x<60}"
    before = len(_refusals(runtime))
    answer = runtime.client(key).send("GET", "/secure-config", headers=headers)
    assert answer.status_code == 403
    wait_until(lambda: len(_refusals(runtime)) > before)
    assert "127.0.0.1" in {each["sourceIp"] for each in _refusals(runtime)[before:]}
    assert "192.0.2.77" not in {each["sourceIp"] for each in _refusals(runtime)}


def _refusals(runtime: Runtime) -> list[dict[str, Any]]:
    """Return the authorizer's log entries about callers that it refused."""
    logs = sorted((runtime.state / "logs" / "functions").glob("*uthorizer*"))
    lines = (line for log in logs for line in Path(log).read_text().splitlines())
    return [json.loads(line) for line in lines if '"a caller was refused"' in line]
