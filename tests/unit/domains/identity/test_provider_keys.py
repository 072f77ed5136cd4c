"""A provider's keys, documents and endpoints through time, and tokens of the user pool."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests

from backend.aws.clients import cognito_idp
from backend.aws.user_pool import CognitoUserPool
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.domains.identity.rules.claims import Issuer
from backend.domains.identity.rules.discovery import discovery_url, keys_url
from backend.domains.identity.rules.key_sets import MAX_KEYS
from backend.domains.identity.rules.refusals import Reason, RefusedError
from backend.domains.identity.service.endpoints import FRESH, ProviderEndpoints
from backend.domains.identity.service.tokens import (
    KEYS_FRESH,
    KEYS_LIMIT,
    KEYS_PAUSE,
    USERS_FRESH,
    USERS_KNOWN,
    PoolUsers,
    ProviderKeys,
    TokenAuthentication,
    TrustedIssuer,
)
from tests.factories.identity_provider import (
    identity_provider,
    key,
)
from tests.factories.signing_in import ISSUER, Deployment, ManualClock
from tests.fakes.user_pool import MemoryUserPool

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
    deployment.identify()
    deployment.hand.at -= timedelta(days=1)
    deployment.identify()
    assert deployment.provider.requested.count("/keys") == 3


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


def test_the_provider_may_be_down_until_known_keys_are_old(deployment: Deployment) -> None:
    deployment.identify()
    deployment.provider.down = True
    deployment.hand.at += KEYS_PAUSE
    with pytest.raises(UnavailableError):
        deployment.identify(by=key("RSA", "second"))
    assert deployment.identify().user_id == "ann"
    deployment.hand.at += KEYS_LIMIT - KEYS_PAUSE - timedelta(seconds=1)
    assert deployment.identify().user_id == "ann"
    assert deployment.warnings
    deployment.hand.at += timedelta(seconds=1)
    with pytest.raises(UnavailableError):
        deployment.identify()
    deployment.provider.down = False
    deployment.hand.at += KEYS_PAUSE
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


REALM = "https://idp.example.org/realm"
DOCUMENT = {
    "issuer": REALM,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
}


@dataclass
class Published:
    """A provider's documents; None while it does not answer."""

    document: dict[str, Any] | None = field(default_factory=lambda: dict(DOCUMENT))
    read_urls: list[str] = field(default_factory=list[str])

    def read(self, url: str) -> bytes:
        self.read_urls.append(url)
        if self.document is None:
            raise UnavailableError("no answer")
        return json.dumps(self.document).encode()


@pytest.fixture
def published() -> Published:
    return Published()


def test_endpoints_are_read_once_and_again_after_a_while(
    published: Published, now: datetime
) -> None:
    times = [now]
    endpoints = ProviderEndpoints(published, lambda: times[0], REALM)
    assert endpoints.get() == (
        f"{ISSUER}/authorize",
        f"{ISSUER}/token",
        f"{ISSUER}/.well-known/openid-configuration",
    )
    endpoints.get()
    assert published.read_urls == [f"{ISSUER}/.well-known/openid-configuration"]
    times[0] += FRESH + timedelta(seconds=1)
    published.document = None
    assert endpoints.get().token == f"{ISSUER}/token"
    assert len(published.read_urls) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "https://other.example.org"},
        {"token_endpoint": None},
        {"token_endpoint": "http://idp.example.org/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
    ids=str,
)
def test_what_may_not_be_used_is_unavailable(
    published: Published, now: datetime, changes: dict[str, Any]
) -> None:
    published.document = {**DOCUMENT, **changes}
    with pytest.raises(UnavailableError):
        ProviderEndpoints(published, lambda: now, REALM).get()


@dataclass
class Pool:
    """A user pool of moto with one user, and the authentication that accepts its tokens."""

    pool_id: str
    client_id: str
    hand: ManualClock
    warnings: list[str] = field(default_factory=list[str])
    audiences: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        url = f"https://cognito-idp.us-east-1.amazonaws.com/{self.pool_id}"
        issuer = Issuer(
            url,
            audiences=frozenset({self.client_id}),
            user_claims=("cognito:username", "username"),
            is_user_pool=True,
        )
        keys = ProviderKeys(self, self.hand, self.warnings.append, url, f"{url}/keys")
        pool = CognitoUserPool(cognito_idp(), self.pool_id)
        users = PoolUsers(pool, self.hand, self.warnings.append)
        trusted = {url: TrustedIssuer(issuer, keys, users, lambda: self.audiences)}
        self.authentication = TokenAuthentication(trusted, self.hand)

    def read(self, url: str) -> bytes:
        return requests.get(url.replace("/keys", "/.well-known/jwks.json"), timeout=5).content

    def sign_in(self) -> dict[str, str]:
        answer = cognito_idp().admin_initiate_auth(
            UserPoolId=self.pool_id,
            ClientId=self.client_id,
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": "ann", "PASSWORD": "Passw0rd!long"},
        )
        result = answer["AuthenticationResult"]
        return {"id": result.get("IdToken", ""), "access": result.get("AccessToken", "")}


@pytest.fixture
def pool() -> Pool:
    client = cognito_idp()
    pool_id = client.create_user_pool(PoolName="people")["UserPool"].get("Id", "")
    made = client.create_user_pool_client(
        UserPoolId=pool_id, ClientName="web", ReadAttributes=["email", "email_verified"]
    )
    client.admin_create_user(
        UserPoolId=pool_id,
        Username="ann",
        UserAttributes=[
            {"Name": "email", "Value": "ann@example.org"},
            {"Name": "email_verified", "Value": "true"},
        ],
    )
    client.admin_set_user_password(
        UserPoolId=pool_id, Username="ann", Password="Passw0rd!long", Permanent=True
    )
    # moto stamps tokens with the time of the machine.
    hand = ManualClock(datetime.fromtimestamp(time.time(), UTC))
    return Pool(pool_id, made["UserPoolClient"].get("ClientId", ""), hand)


@pytest.mark.parametrize("kind", ["id", "access"])
def test_the_user_pools_tokens_name_their_user(pool: Pool, kind: str) -> None:
    authenticate = pool.authentication.authenticate(pool.sign_in()[kind])
    assert authenticate.user_id == "ann"
    assert authenticate.email == ("ann@example.org" if kind == "id" else None)
    assert authenticate.mfa is False
    assert authenticate.in_pool is True


def test_who_has_a_second_factor_gave_it(pool: Pool) -> None:
    token = pool.sign_in()["access"]
    client = cognito_idp()
    client.associate_software_token(AccessToken=token)
    client.verify_software_token(AccessToken=token, UserCode="123456")
    client.set_user_mfa_preference(
        AccessToken=token, SoftwareTokenMfaSettings={"Enabled": True, "PreferredMfa": True}
    )
    assert pool.authentication.authenticate(token).mfa is True


def test_a_disabled_or_deleted_user_is_out_after_a_minute(pool: Pool) -> None:
    token = pool.sign_in()["id"]
    pool.authentication.authenticate(token)
    cognito_idp().admin_disable_user(UserPoolId=pool.pool_id, Username="ann")
    pool.hand.at += USERS_FRESH
    with pytest.raises(RefusedError) as refused:
        pool.authentication.authenticate(token)
    assert refused.value.reason is Reason.USER_DISABLED
    cognito_idp().admin_delete_user(UserPoolId=pool.pool_id, Username="ann")
    pool.hand.at += USERS_FRESH
    with pytest.raises(RefusedError):
        pool.authentication.authenticate(token)


def test_a_token_of_another_application_of_the_pool_is_refused(pool: Pool) -> None:
    other = cognito_idp().create_user_pool_client(UserPoolId=pool.pool_id, ClientName="other")
    ours, pool.client_id = pool.client_id, other["UserPoolClient"].get("ClientId", "")
    tokens = pool.sign_in()
    assert pool.client_id != ours
    for token in tokens.values():
        with pytest.raises(RefusedError) as refused:
            pool.authentication.authenticate(token)
        assert refused.value.reason is Reason.JWT_AUDIENCE
    # As once the page has recorded its client.
    pool.audiences = frozenset({pool.client_id})
    for token in tokens.values():
        assert pool.authentication.authenticate(token).user_id == "ann"


def test_without_cognito_no_second_factor_counts_and_memory_is_bounded(now: datetime) -> None:
    class UnresponsivePool(MemoryUserPool):
        def get_user(self, user_id: str) -> Any:
            raise UnavailableError("Cognito does not answer")

    warnings: list[str] = []
    users = PoolUsers(UnresponsivePool(), ManualClock(now), warnings.append)
    assert users.completed(Identity("ann", mfa=True)) == Identity("ann", in_pool=True)
    assert warnings
    calls: list[str] = []

    class Counting(MemoryUserPool):
        def get_user(self, user_id: str) -> Any:
            calls.append(user_id)

    users = PoolUsers(Counting(), ManualClock(now), calls.append)
    for number in [*range(USERS_KNOWN + 1), USERS_KNOWN, 0]:
        with pytest.raises(RefusedError):
            users.completed(Identity(f"user-{number}"))
    assert len(calls) == USERS_KNOWN + 2
