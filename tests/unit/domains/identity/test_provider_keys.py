"""A provider's keys through time, and the documents that list them."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.domains.identity.rules.discovery import discovery_url, keys_url
from backend.domains.identity.rules.key_sets import MAX_KEYS
from backend.domains.identity.rules.refusals import Reason
from backend.domains.identity.service.tokens import (
    KEYS_FRESH,
    KEYS_LIMIT,
    KEYS_PAUSE,
)
from tests.factories.identity_provider import (
    identity_provider,
    key,
)
from tests.factories.signing_in import ISSUER, Deployment, ManualClock

NO_KEYS: dict[str, Any] = {"keys": dict[str, Any]()}
TOO_MANY_KEYS: dict[str, Any] = {"keys": [dict[str, Any]()] * (MAX_KEYS + 1)}


@pytest.fixture
def deployment(now: datetime) -> Iterator[Deployment]:
    with identity_provider() as provider:
        yield Deployment(provider, ManualClock(now))


def test_keys_are_read_once_while_they_are_fresh(deployment: Deployment) -> None:
    for _ in range(5):
        deployment.identify()
    deployment.hand.at += KEYS_FRESH - timedelta(seconds=1)
    deployment.identify()
    assert deployment.provider.requested == ["/.well-known/openid-configuration", "/keys"]
    deployment.hand.at += timedelta(seconds=1)
    deployment.identify()
    assert len(deployment.provider.requested) == 4


def test_a_new_key_is_found_and_an_old_one_forgotten(deployment: Deployment) -> None:
    deployment.identify()
    old, new = key(), key("RSA", "second")
    deployment.provider.keys = [new, old]
    deployment.hand.at += KEYS_PAUSE
    assert deployment.identify(by=new).user_id == "ann"
    assert deployment.identify(by=old).user_id == "ann"
    deployment.provider.keys = [new]
    deployment.hand.at += KEYS_FRESH
    assert deployment.identify(by=new).user_id == "ann"
    deployment.hand.at += KEYS_PAUSE
    assert deployment.refusal(by=old) is Reason.JWT_KEY


def test_random_key_ids_do_not_burden_the_provider(deployment: Deployment) -> None:
    deployment.identify()
    deployment.provider.requested.clear()
    stranger = key("RSA", "stranger")
    for _ in range(30):
        deployment.hand.at += timedelta(seconds=1)
        for _ in range(3):
            assert deployment.refusal(by=stranger) is Reason.JWT_KEY
        deployment.identify()
    assert deployment.provider.requested.count("/keys") <= 30 / KEYS_PAUSE.total_seconds()


def test_known_keys_continue_while_the_provider_is_down_until_they_are_too_old(
    deployment: Deployment,
) -> None:
    deployment.identify()
    deployment.provider.down = True
    deployment.hand.at += KEYS_LIMIT - timedelta(seconds=1)
    assert deployment.identify().user_id == "ann"
    assert deployment.warnings
    deployment.hand.at += timedelta(seconds=1)
    with pytest.raises(UnavailableError):
        deployment.identify()
    deployment.provider.down = False
    deployment.hand.at += KEYS_PAUSE
    assert deployment.identify().user_id == "ann"


def test_an_unknown_key_cannot_be_judged_while_the_provider_is_down(
    deployment: Deployment,
) -> None:
    deployment.identify()
    deployment.provider.down = True
    deployment.hand.at += KEYS_PAUSE
    with pytest.raises(UnavailableError):
        deployment.identify(by=key("RSA", "second"))
    assert deployment.identify().user_id == "ann"


def test_a_provider_that_was_never_reached_admits_no_one_and_is_left_in_peace(
    deployment: Deployment,
) -> None:
    deployment.provider.down = True
    for _ in range(10):
        with pytest.raises(UnavailableError):
            deployment.identify()
    assert len(deployment.provider.requested) == 1
    deployment.provider.down = False
    deployment.hand.at += KEYS_PAUSE
    assert deployment.identify().user_id == "ann"


def test_a_clock_that_was_set_back_makes_keys_be_read_again(deployment: Deployment) -> None:
    deployment.identify()
    deployment.hand.at -= timedelta(days=1)
    deployment.identify()
    assert deployment.provider.requested.count("/keys") == 2


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("/.well-known/openid-configuration", {"issuer": "https://other.example.org"}),
        ("/.well-known/openid-configuration", b"<html>"),
        ("/.well-known/openid-configuration", b"[" * 100_000),
        ("/.well-known/openid-configuration", b'{"issuer":"a","issuer":"b"}'),
        ("/keys", NO_KEYS),
        ("/keys", TOO_MANY_KEYS),
        ("/keys", b" " * 300_000),
        ("/keys", b"\xff\xfe{}"),
        ("/keys", None),
    ],
)
def test_documents_that_are_none_open_nothing(
    deployment: Deployment, path: str, document: Any
) -> None:
    deployment.provider.documents[path] = document
    with pytest.raises(UnavailableError):
        deployment.identify()
    assert deployment.warnings


@pytest.mark.parametrize(
    "address",
    [
        "http://idp.example.org/keys",
        "http://127.0.0.1:9001/2018-06-01/runtime",
        "file:///etc/passwd",
        "https://user:secret@idp.example.org/keys",
        "https:///keys",
        "https://[oops/keys",
        "",
        7,
        None,
    ],
)
def test_a_provider_cannot_point_to_an_address_that_is_not_safe(address: object) -> None:
    with pytest.raises(ValueError, match=r"address|keys|IPv6"):
        keys_url({"issuer": ISSUER, "jwks_uri": address}, ISSUER)


def test_keys_may_be_at_another_host_and_at_home_without_tls() -> None:
    elsewhere = "https://keys.example.net/v3"
    assert keys_url({"issuer": ISSUER, "jwks_uri": elsewhere}, ISSUER) == elsewhere
    home = "http://127.0.0.1:8080"
    assert keys_url({"issuer": home, "jwks_uri": f"{home}/keys"}, home) == f"{home}/keys"
    assert discovery_url(f"{ISSUER}/").startswith(f"{ISSUER}/.well-known/")
    with pytest.raises(ValueError, match="https"):
        discovery_url("http://idp.example.org")
