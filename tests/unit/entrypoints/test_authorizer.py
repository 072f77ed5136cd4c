"""The authorizer, called as API Gateway calls it."""

import importlib
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.aws.secrets import Secrets
from backend.aws.tables import DynamoTables
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.domains.configuration.routes import build_router
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.service.edge import ViewerAddresses
from backend.domains.identity.service.first_administrator import ADMIN_KEY_ID
from backend.entrypoints.wiring.api import http_app
from backend.entrypoints.wiring.authentication import callers, viewers
from backend.entrypoints.wiring.bootstrap import administrators
from backend.entrypoints.wiring.configuration import configuration
from backend.entrypoints.wiring.context import Context
from backend.spec.functions.apis import CONFIGURATION_API
from backend.spec.functions.operations import AUTHORIZER, BOOTSTRAP
from backend.spec.page import PROOF_HEADER, VIEWER_HEADER
from backend.spec.routes import GET_VERSION
from backend.spec.secrets import PAGE_EDGE_KEY
from backend.spec.settings import ALLOWED_ADDRESSES, API_ONLY_THROUGH_PAGE
from backend.spec.tables.access import API_KEYS
from tests.factories.http import Context as LambdaContext
from tests.factories.http import http_event
from tests.factories.outages import unavailable

KEY = "vams_" + "k" * 64
Authorize = Callable[[str | None], dict[str, Any]]


@pytest.fixture
def authorize(deployed: Secrets, now: datetime) -> Authorize:
    """A deployment with one key, and its authorizer."""
    handle = authorizer(now)
    return lambda authorization: handle(event(authorization))


def authorizer(now: datetime) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The authorizer of a deployment with one key."""
    administrators(Context(BOOTSTRAP, lambda: now)).ensure("boss", KEY)
    module = importlib.import_module("backend.entrypoints.authorizer")
    context = Context(AUTHORIZER, lambda: now)
    identified = callers(
        context, unrecorded=module.report_unrecorded_use, warn=module.report_obstacle
    )
    handler = module.build_handler(identified, viewers(context))
    return lambda request: handler(request, LambdaContext())


def event(authorization: str | None, **more: str) -> dict[str, Any]:
    headers = {} if authorization is None else {"authorization": authorization}
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
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


@pytest.mark.usefixtures("deployed")
def test_functions_learn_whose_token_is_of_the_pool(now: datetime) -> None:
    class Callers:
        def identify(self, _authorization: str, _address: str) -> Identity:
            return Identity("ann", in_pool=True)

    module = importlib.import_module("backend.entrypoints.authorizer")
    handle = module.build_handler(Callers(), ViewerAddresses(frozenset, lambda: now))
    reply = handle(event("Bearer token"), LambdaContext())
    assert reply["context"] == {"userId": "ann", "mfa": "false", "inPool": "true"}


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
    reply = authorize(header)
    assert reply["isAuthorized"] is False
    assert "boss" not in str(reply)


def test_a_use_is_recorded_until_disabled(authorize: Authorize, tables: DynamoTables) -> None:
    authorize(KEY)
    row = tables.get(API_KEYS, {"apiKeyId": ADMIN_KEY_ID}) or {}
    assert row["lastUsedAt"] == "2026-03-01T12:00:00.000000Z"
    keys = ApiKeyRepository(tables)
    key = keys.get(ADMIN_KEY_ID)
    assert key is not None
    keys.change(key, {"isActive": "false"})
    assert authorize(KEY)["isAuthorized"] is False


@pytest.mark.parametrize("read", ["query", "get_many"])
def test_in_an_outage_a_request_passes_with_a_mark_and_without_an_identity(
    authorize: Authorize, monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    monkeypatch.setattr(DynamoTables, read, unavailable)
    assert authorize(KEY) == {"isAuthorized": True, "context": {"outage": "true"}}


def test_a_use_that_cannot_be_recorded_refuses_no_one_and_logs_no_key(
    authorize: Authorize, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(DynamoTables, "write", unavailable)
    assert authorize(KEY)["isAuthorized"] is True
    authorize("vams_" + "x" * 64)
    written = "".join(str(vars(record)) for record in caplog.records)
    assert "the use of a key was not recorded" in written
    assert "kkkk" not in written
    assert "xxxx" not in written


ALLOWED, ELSEWHERE = "192.0.2.7", "198.51.100.7"
CURRENT, PREVIOUS = PAGE_EDGE_KEY.name * 10, "former" * 10
# `source` in the ranges is the connection's address at the API; the viewer's is in the header.
CLAIMS = [
    ({"x_vitrine_edge": CURRENT, "x_vitrine_viewer_address": ALLOWED}, "127.0.0.1", True),
    ({"x_vitrine_edge": PREVIOUS, "x_vitrine_viewer_address": ALLOWED}, "127.0.0.1", True),
    ({"x_vitrine_edge": CURRENT, "x_vitrine_viewer_address": ELSEWHERE}, ALLOWED, False),
    ({"x_vitrine_edge": CURRENT, "x_vitrine_viewer_address": "no address"}, ALLOWED, False),
    ({"x_vitrine_edge": CURRENT}, ALLOWED, True),
    ({"x_vitrine_viewer_address": ALLOWED}, "127.0.0.1", False),
    ({"x_vitrine_edge": "", "x_vitrine_viewer_address": ALLOWED}, "127.0.0.1", False),
    ({"x_vitrine_edge": CURRENT[:-1], "x_vitrine_viewer_address": ALLOWED}, "127.0.0.1", False),
    ({"x_vitrine_edge": "\ud800", "x_vitrine_viewer_address": ALLOWED}, "127.0.0.1", False),
    ({"x_forwarded_for": ALLOWED}, "127.0.0.1", False),
    ({"cloudfront_viewer_address": f"{ALLOWED}:443"}, "127.0.0.1", False),
    ({"x_vitrine_edge": "forged", "x_vitrine_viewer_address": ELSEWHERE}, ALLOWED, True),
]


@pytest.mark.parametrize(("headers", "source", "is_let_in"), CLAIMS)
def test_only_the_distribution_determines_the_address_of_a_viewer(
    deployed: Secrets,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
    headers: dict[str, str],
    source: str,
    is_let_in: bool,
) -> None:
    for value in (PREVIOUS, CURRENT):
        deployed.client.put_secret_value(SecretId=PAGE_EDGE_KEY.name, SecretString=value)
    monkeypatch.setenv(ALLOWED_ADDRESSES.variable, "192.0.2.0-192.0.2.255")
    send = authorizer(now)
    request = event(KEY, **headers)
    request["requestContext"]["http"]["sourceIp"] = source
    reply = send(request)
    assert reply["isAuthorized"] is is_let_in
    # The access log has it beside the address of the connection.
    through_page = is_let_in and source != ALLOWED
    assert (reply.get("context") or {}).get("viewer") == (ALLOWED if through_page else None)


def test_forged_proofs_read_the_secret_once_a_minute(now: datetime) -> None:
    times: list[int] = []

    def read_keys() -> frozenset[str]:
        times.append(1)
        return frozenset({CURRENT})

    later = now + timedelta(seconds=61)
    clock = iter([now, now, later, later])
    viewers = ViewerAddresses(read_keys, lambda: next(clock))
    forged = {PROOF_HEADER: "forged", VIEWER_HEADER: ALLOWED}
    assert {viewers.address_of(forged, ELSEWHERE) for _ in range(3)} == {ELSEWHERE}
    assert len(times) == 2
    assert viewers.address_of({**forged, PROOF_HEADER: CURRENT}, ELSEWHERE) == ALLOWED


def test_a_proof_ends_ten_minutes_after_its_second_rotation(now: datetime) -> None:
    accepted, clock = [frozenset({CURRENT, PREVIOUS})], [now]
    viewers = ViewerAddresses(lambda: accepted[0], lambda: clock[0])
    headers = {PROOF_HEADER: PREVIOUS}
    assert viewers.is_proven(headers)
    accepted[0] = frozenset({"newest", CURRENT})
    clock[0] += timedelta(minutes=10)
    assert not viewers.is_proven(headers)
    assert viewers.is_proven({PROOF_HEADER: CURRENT})


def test_a_known_proof_outlives_an_outage_of_the_secret(now: datetime) -> None:
    clock, values = [now], [frozenset({CURRENT})]

    def read_keys() -> frozenset[str]:
        if values:
            return values.pop()
        raise UnavailableError("Secrets Manager does not respond")

    viewers = ViewerAddresses(read_keys, lambda: clock[0])
    assert viewers.is_proven({PROOF_HEADER: CURRENT})
    clock[0] += timedelta(minutes=10)
    assert viewers.is_proven({PROOF_HEADER: CURRENT})
    clock[0] += timedelta(minutes=1)
    with pytest.raises(UnavailableError):
        viewers.is_proven({PROOF_HEADER: "forged"})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({PROOF_HEADER: CURRENT}, 200),
        ({PROOF_HEADER: PREVIOUS}, 200),
        ({}, 403),
        ({PROOF_HEADER: "forged", VIEWER_HEADER: ALLOWED}, 403),
        ({"via": "2.0 1234.cloudfront.net (CloudFront)"}, 403),
    ],
)
def test_by_setting_also_public_routes_refuse_what_does_not_come_through_the_page(
    deployed: Secrets,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
    headers: dict[str, str],
    status: int,
) -> None:
    for value in (PREVIOUS, CURRENT):
        deployed.client.put_secret_value(SecretId=PAGE_EDGE_KEY.name, SecretString=value)
    context = Context(CONFIGURATION_API, lambda: now)
    event = http_event("GET", "/api/version", user_id=None, headers=headers, route=GET_VERSION.key)

    def status_of_reply() -> int:
        handle = http_app(context).handler(build_router(configuration(context)))
        return handle(event, LambdaContext())["statusCode"]

    assert status_of_reply() == 200
    monkeypatch.setenv(API_ONLY_THROUGH_PAGE.variable, "1")
    assert status_of_reply() == status
