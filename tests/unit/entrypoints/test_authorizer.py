"""The authorizer, called as API Gateway calls it."""

import importlib
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from backend.aws.secrets import Secrets
from backend.aws.tables import DynamoTables
from backend.core.errors import UnavailableError
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.service.first_administrator import ADMIN_KEY_ID
from backend.entrypoints.wiring.authentication import callers
from backend.entrypoints.wiring.bootstrap import administrators
from backend.entrypoints.wiring.context import Context
from backend.spec.functions.operations import AUTHORIZER, BOOTSTRAP
from backend.spec.tables.access import API_KEYS
from tests.factories.http import Context as LambdaContext

KEY = "vams_" + "k" * 64
Authorize = Callable[[str | None], dict[str, Any]]


@pytest.fixture
def authorize(deployed: Secrets, now: datetime) -> Authorize:
    """A deployment with one key, and its authorizer."""
    administrators(Context(BOOTSTRAP, lambda: now)).ensure("boss", KEY)
    module = importlib.import_module("backend.entrypoints.authorizer")
    identified = callers(
        Context(AUTHORIZER, lambda: now),
        unrecorded=module.report_unrecorded_use,
        warn=module.report_obstacle,
    )
    handler = module.build_handler(identified)

    def send(authorization: str | None) -> dict[str, Any]:
        return handler(event(authorization), LambdaContext())

    return send


def event(authorization: str | None) -> dict[str, Any]:
    headers = {} if authorization is None else {"authorization": authorization}
    return {
        "version": "2.0",
        "type": "REQUEST",
        "routeArn": "arn:aws:execute-api:us-east-1:123456789012:api/$default/GET/database",
        "identitySource": [] if authorization is None else [authorization],
        "routeKey": "GET /database",
        "rawPath": "/database",
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "api",
            "http": {"method": "GET", "path": "/database", "sourceIp": "127.0.0.1"},
            "requestId": "request-1",
            "routeKey": "GET /database",
            "stage": "$default",
        },
    }


@pytest.mark.parametrize("header", [KEY, f"Bearer {KEY}"])
def test_a_valid_key_returns_only_the_identity(authorize: Authorize, header: str) -> None:
    assert authorize(header) == {
        "isAuthorized": True,
        "context": {"userId": "boss", "mfa": "false", "apiKeyId": ADMIN_KEY_ID},
    }


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "vams_" + "x" * 64,
        "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJib3NzIn0.",
        "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJib3NzIn0.c2lnbmF0dXJl",
        f"Basic {KEY}",
        f"{KEY},{KEY}",
        "boss",
        "\ud800",
    ],
)
def test_everything_else_is_refused(authorize: Authorize, header: str | None) -> None:
    assert authorize(header)["isAuthorized"] is False


def test_a_refusal_names_no_user(authorize: Authorize) -> None:
    assert "boss" not in str(authorize("vams_" + "x" * 64))


def test_a_disabled_key_is_refused(authorize: Authorize, tables: DynamoTables) -> None:
    keys = ApiKeyRepository(tables)
    key = keys.get(ADMIN_KEY_ID)
    assert key is not None
    keys.change(key, {"isActive": "false"})
    assert authorize(KEY)["isAuthorized"] is False


def test_a_use_is_recorded(authorize: Authorize, tables: DynamoTables) -> None:
    authorize(KEY)
    row = tables.get(API_KEYS, {"apiKeyId": ADMIN_KEY_ID}) or {}
    assert row["lastUsedAt"] == "2026-03-01T12:00:00.000000Z"


def test_a_use_that_cannot_be_recorded_refuses_no_one(
    authorize: Authorize, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DynamoTables, "write", _down)
    assert authorize(KEY)["isAuthorized"] is True


@pytest.mark.parametrize("read", ["query", "get_many"])
def test_in_an_outage_a_request_passes_with_a_mark_and_without_an_identity(
    authorize: Authorize, monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    monkeypatch.setattr(DynamoTables, read, _down)
    assert authorize(KEY) == {"isAuthorized": True, "context": {"outage": "true"}}


def test_no_log_line_holds_a_key(
    authorize: Authorize, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(DynamoTables, "write", _down)
    assert authorize(KEY)["isAuthorized"] is True
    authorize("vams_" + "x" * 64)
    written = "".join(str(vars(record)) for record in caplog.records)
    assert "the use of a key was not recorded" in written
    assert "kkkk" not in written
    assert "xxxx" not in written


def _down(*_: object) -> None:
    raise UnavailableError("DynamoDB does not answer")
