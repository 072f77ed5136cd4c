"""Credentials that are none, each by one fault: all are rejected, with the same reply.

The administrator learns the reason; no log holds any of what was sent.
"""

import importlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.aws.secrets import Secrets
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.rules.keys import hash_key
from backend.domains.identity.rules.refusals import Reason
from backend.entrypoints.wiring.authentication import callers, viewers
from backend.entrypoints.wiring.context import Context
from backend.spec.functions.operations import AUTHORIZER
from backend.spec.secrets import API_KEY_PEPPER, SECRETS
from backend.spec.settings import SETTINGS
from tests.factories.bad_credentials import (
    GOOD,
    HEADERS,
    KEY,
    NOON,
    STORED,
    TOKENS,
    Fault,
    raw_claims,
)
from tests.factories.http import Context as LambdaContext
from tests.factories.identity_provider import (
    CLIENT,
    Provider,
    identity_provider,
    key,
)


@dataclass
class Gate:
    """The authorizer of a deployment that takes keys, and tokens of one provider."""

    provider: Provider
    now: datetime = NOON
    handler: Callable[[dict[str, Any], Any], dict[str, Any]] | None = None

    def authorize(self, authorization: str, source: str = "127.0.0.1") -> dict[str, Any]:
        if self.handler is None:
            module = importlib.import_module("backend.entrypoints.authorizer")
            context = Context(AUTHORIZER, lambda: self.now)
            identified = callers(
                context, unrecorded=module.report_unrecorded_use, warn=module.report_obstacle
            )
            self.handler = module.build_handler(identified, viewers(context))
        assert self.handler is not None
        http = {"method": "GET", "path": "/database", "sourceIp": source}
        event = {
            "version": "2.0",
            "headers": {"authorization": authorization},
            "requestContext": {"http": http},
        }
        return self.handler(event, LambdaContext())


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with identity_provider() as running:
        curve = {**key("EC", "curve", "P-256").as_dict(private=False), "kid": "curve"}
        running.documents["/keys"] = {"keys": [key().as_dict(private=False), curve]}
        yield running


@pytest.fixture
def token_gate(provider: Provider, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """A gate for tokens: its deployment has no tables, so whatever reads one fails."""
    environment = dict(settings.environment)
    environment |= {f"SECRET_{secret.name}": secret.name for secret in SECRETS}
    environment |= {setting.variable: str(setting.default) for setting in SETTINGS}
    environment |= {"SETTING_OIDC_ISSUER": provider.url, "SETTING_OIDC_AUDIENCES": CLIENT}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return Gate(provider)


@pytest.fixture
def gate(
    provider: Provider,
    deployed: Secrets,
    tables: DynamoTables,
    monkeypatch: pytest.MonkeyPatch,
) -> Gate:
    monkeypatch.setenv("SETTING_OIDC_ISSUER", provider.url)
    monkeypatch.setenv("SETTING_OIDC_AUDIENCES", CLIENT)
    pepper = deployed.value(API_KEY_PEPPER).encode()
    keys = ApiKeyRepository(tables)
    for letter, changes in STORED.items():
        row = {
            "apiKeyId": f"key-{letter}",
            "apiKeyName": letter,
            "apiKeyHash": hash_key(pepper, "vams_" + letter * 64),
            "description": "of a test",
            "userId": "robot",
            **changes,
        }
        keys.put_new(ApiKey.model_validate(row))
    return Gate(provider)


REFUSED = {"isAuthorized": False}


def test_the_same_credentials_without_a_fault_are_accepted(gate: Gate) -> None:
    token = Fault()(gate.provider)
    result = {"userId": "ann", "mfa": "false", "email": "ann@example.org"}
    result |= {"authTime": str(int(NOON.timestamp()))}
    assert gate.authorize(f"Bearer {token}") == {"isAuthorized": True, "context": result}
    assert gate.authorize(f"bearer  {token} ")["isAuthorized"] is True
    robot = {"userId": "robot", "mfa": "false", "apiKeyId": "key-k"}
    assert gate.authorize(KEY)["context"] == robot
    raw = raw_claims(f"{{{GOOD}}}")(gate.provider)
    assert gate.authorize(f"Bearer {raw}")["isAuthorized"] is True
    assert len(TOKENS) >= 100
    assert len(HEADERS) >= 25


def _assert_closed(sent: str, reason: Reason, caplog: pytest.LogCaptureFixture, out: str) -> None:
    written = out + "".join(str(vars(record)) for record in caplog.records)
    assert reason.value in written
    assert "127.0.0.1" in written
    for part in sent.removeprefix("Bearer ").split("."):
        assert len(part) < 12 or part not in written


@pytest.mark.parametrize("name", TOKENS)
def test_a_bad_token_is_closed(
    token_gate: Gate,
    name: str,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reason, make = TOKENS[name]
    sent = f"Bearer {make(token_gate.provider)}"
    caplog.set_level(logging.INFO)
    assert token_gate.authorize(sent) == REFUSED
    _assert_closed(sent, reason, caplog, capsys.readouterr().out)


@pytest.mark.parametrize("name", HEADERS)
def test_a_bad_key_is_closed(
    gate: Gate,
    name: str,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reason, sent = HEADERS[name]
    caplog.set_level(logging.INFO)
    assert gate.authorize(sent) == REFUSED
    _assert_closed(sent, reason, caplog, capsys.readouterr().out)


@pytest.mark.parametrize(
    ("moment", "opens"),
    [
        (datetime(2026, 3, 1, tzinfo=UTC), True),
        (datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=UTC), True),
        (datetime(2026, 3, 2, tzinfo=UTC), False),
    ],
)
def test_a_key_that_expires_on_a_day_holds_until_its_end(
    gate: Gate, moment: datetime, opens: bool
) -> None:
    gate.now = moment
    assert gate.authorize(KEY)["isAuthorized"] is opens


def test_a_key_that_expires_at_a_time_is_open_just_before(gate: Gate) -> None:
    gate.now = NOON - timedelta(microseconds=1)
    assert gate.authorize("vams_" + "t" * 64)["isAuthorized"] is True


def test_a_deployment_without_a_provider_takes_no_tokens(
    token_gate: Gate, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SETTING_OIDC_ISSUER", "")
    assert token_gate.authorize(f"Bearer {Fault()(token_gate.provider)}") == REFUSED
    assert Reason.JWT_OFF.value in str([vars(record) for record in caplog.records])


def test_a_provider_that_is_down_opens_nothing_and_accuses_no_one(
    token_gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_gate.provider, "down", True)
    sent = f"Bearer {Fault()(token_gate.provider)}"
    assert token_gate.authorize(sent) == {"isAuthorized": True, "context": {"outage": "true"}}


RANGES = "192.0.2.0-192.0.2.255,2001:db8::-2001:db8::ffff"


@pytest.mark.parametrize(
    ("source", "opens"),
    [
        ("192.0.2.0", True),
        ("192.0.2.255", True),
        ("192.0.3.0", False),
        ("192.0.1.255", False),
        ("2001:db8::1", True),
        ("2001:db8:0:0:0:0:0:ffff", True),
        ("2001:db8::1:0", False),
        ("::ffff:192.0.2.7", True),
        ("::192.0.2.7", False),
        ("2001:db8::1%eth0", False),
        ("192.0.2.7, 10.0.0.1", False),
        ("0300.0.2.7", False),
        ("", False),
        ("unknown", False),
    ],
)
def test_only_requests_from_allowed_addresses_are_looked_at(
    token_gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    source: str,
    opens: bool,
) -> None:
    monkeypatch.setenv("SETTING_ALLOWED_ADDRESSES", RANGES)
    answer = token_gate.authorize(f"Bearer {Fault()(token_gate.provider)}", source)
    assert answer["isAuthorized"] is opens
    assert opens or answer == REFUSED
    result = str([vars(record) for record in caplog.records])
    assert opens or Reason.ADDRESS.value in result
