"""Whose token it is: signatures, claims, a provider's keys through time, and the user pool."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from backend.aws.clients import cognito_idp
from backend.aws.documents import HttpDocuments
from backend.aws.user_pool import CognitoUserPool
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.domains.access.rules.claims import LEEWAY_SECONDS, Issuer
from backend.domains.access.rules.discovery import discovery_url, keys_url
from backend.domains.access.rules.key_sets import MAX_KEYS, usable_keys
from backend.domains.access.rules.refusals import Reason, RefusedError
from backend.domains.access.rules.tokens import parse_object, read, verified_claims
from backend.domains.access.service.tokens import (
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
    CLIENT,
    Key,
    Provider,
    encoded,
    identity_provider,
    key,
)
from tests.fakes.user_pool import MemoryUserPool

ISSUER = "https://idp.example.org/realm"


@dataclass
class Hand:
    """A clock that the test moves."""

    at: datetime

    def __call__(self) -> datetime:
        return self.at


@dataclass
class Deployment:
    """Something that takes the tokens of one provider, and what it warns of."""

    provider: Provider
    hand: Hand
    warnings: list[str] = field(default_factory=list[str])
    issuer: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.authentication = self.build()

    def build(self, **issuer: Any) -> TokenAuthentication:
        values: dict[str, Any] = {"user_claims": ("sub",), "audiences": frozenset({CLIENT})}
        trusted = Issuer(self.provider.url, **(values | issuer))
        keys = ProviderKeys(
            HttpDocuments(loopback=True), self.hand, self.warnings.append, trusted.url
        )
        return TokenAuthentication({trusted.url: TrustedIssuer(trusted, keys)}, self.hand)

    def token(self, **changes: Any) -> str:
        return self.provider.token(at=self.hand.at.timestamp(), **changes)

    def identify(self, **changes: Any) -> Identity:
        return self.authentication.authenticate(self.token(**changes))

    def refusal(self, **changes: Any) -> Reason:
        with pytest.raises(RefusedError) as refused:
            self.identify(**changes)
        return refused.value.reason


@pytest.fixture
def deployment(now: datetime) -> Iterator[Deployment]:
    with identity_provider() as provider:
        yield Deployment(provider, Hand(now))


def test_a_token_names_its_user_and_the_address(deployment: Deployment) -> None:
    assert deployment.identify() == Identity("ann", mfa=False, email="ann@example.org")


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")  # as a name; providers use it
@pytest.mark.parametrize(
    ("algorithm", "kind", "size"),
    [
        *((f"RS{bits}", "RSA", 2048) for bits in (256, 384, 512)),
        *((f"PS{bits}", "RSA", 2048) for bits in (256, 384, 512)),
        ("ES256", "EC", "P-256"),
        ("ES384", "EC", "P-384"),
        ("EdDSA", "OKP", "Ed25519"),
    ],
)
def test_each_algorithm_of_the_list_is_understood(
    deployment: Deployment, algorithm: str, kind: Literal["RSA", "EC", "OKP"], size: int | str
) -> None:
    signing = key(kind, f"{kind}-{size}", size)
    deployment.provider.keys.append(signing)
    assert deployment.identify(by=signing, algorithm=algorithm).user_id == "ann"


@pytest.mark.parametrize(("algorithm", "name"), [("ES512", "P-521"), ("ES256K", "secp256k1")])
def test_another_curve_is_refused(deployment: Deployment, algorithm: str, name: str) -> None:
    signing = key("EC", name, name)
    deployment.provider.keys.append(signing)
    assert deployment.refusal(by=signing, algorithm=algorithm) is Reason.JWT_ALGORITHM


@pytest.mark.filterwarnings("ignore:Key size should be")
def test_a_short_key_is_no_key(deployment: Deployment) -> None:
    deployment.provider.keys.append(weak := key("RSA", "weak", 1024))
    assert deployment.refusal(by=weak) is Reason.JWT_KEY


def test_a_key_signs_only_what_the_provider_says_it_signs(deployment: Deployment) -> None:
    entry = {**key().as_dict(private=False), "alg": "RS256"}
    deployment.provider.documents["/keys"] = {"keys": [entry]}
    assert deployment.refusal(algorithm="PS256") is Reason.JWT_ALGORITHM
    assert deployment.identify(algorithm="RS256").user_id == "ann"


@pytest.mark.parametrize(
    "change",
    [
        {"use": "enc"},
        {"key_ops": ["encrypt"]},
        {"key_ops": 1},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": ["RSA"]},
        {"kid": 7},
        {"kid": ""},
        {"n": "AQAB"},
        {"n": "?"},
        {"e": None},
        {"alg": "HS256"},
        {"alg": ["RS256"]},
        {"d": "AQAB"},
    ],
    ids=str,
)
def test_what_is_no_public_key_for_signatures_is_left_out(change: dict[str, Any]) -> None:
    good = key("RSA", "other").as_dict(private=False)
    bad = {**key().as_dict(private=False), **change}
    assert list(usable_keys({"keys": [bad, None, [], good]})) == ["other"]


def test_of_keys_with_one_id_the_first_counts() -> None:
    first = key().as_dict(private=False)
    second = {**key("RSA", "other").as_dict(private=False), "kid": "first"}
    (found,) = usable_keys({"keys": [first, second]}).values()
    numbers = getattr(found.public, "public_numbers", None)
    assert numbers is not None
    assert numbers() == key().public_key.public_numbers()  # pyright: ignore[reportAttributeAccessIssue]


NO_KEYS: dict[str, Any] = {"keys": dict[str, Any]()}
TOO_MANY_KEYS: dict[str, Any] = {"keys": [dict[str, Any]()] * (MAX_KEYS + 1)}
NONE: list[dict[str, Any]] = [{}, NO_KEYS, TOO_MANY_KEYS]


@pytest.mark.parametrize("document", NONE)
def test_what_is_no_set_of_keys_is_an_error(document: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="keys"):
        usable_keys(document)


# Claims


def test_the_guide_tells_every_reason() -> None:
    guide = Path(__file__).parents[4] / "docs" / "guides" / "identity-providers.md"
    text = guide.read_text(encoding="utf-8")
    assert [reason.value for reason in Reason if f"`{reason.value}`" not in text] == []


def test_tokens_hold_from_start_to_end_with_leeway(deployment: Deployment) -> None:
    made = deployment.hand.at
    token = deployment.token(exp=int(made.timestamp()) + 60)
    deployment.hand.at = made - timedelta(seconds=LEEWAY_SECONDS)
    deployment.authentication.authenticate(token)
    deployment.hand.at = made + timedelta(seconds=60 + LEEWAY_SECONDS - 0.001)
    deployment.authentication.authenticate(token)
    for moment, reason in (
        (made + timedelta(seconds=60 + LEEWAY_SECONDS), Reason.JWT_EXPIRED),
        (made - timedelta(seconds=LEEWAY_SECONDS + 0.001), Reason.JWT_EARLY),
    ):
        deployment.hand.at = moment
        with pytest.raises(RefusedError) as refused:
            deployment.authentication.authenticate(token)
        assert refused.value.reason is reason


def test_one_of_several_audiences_is_enough(deployment: Deployment) -> None:
    assert deployment.identify(aud=["https://userinfo", CLIENT]).user_id == "ann"


def test_an_access_token_without_audience_is_for_its_client(deployment: Deployment) -> None:
    claims = {"aud": ..., "client_id": CLIENT}
    assert deployment.identify(token_use="access", **claims).user_id == "ann"
    assert deployment.refusal(**claims) is Reason.JWT_CLAIMS
    assert deployment.refusal(token_use="id", **claims) is Reason.JWT_CLAIMS


@pytest.mark.parametrize(
    ("claims", "mfa"),
    [
        ({"amr": ["pwd", "mfa"]}, True),
        ({"amr": "mfa"}, True),
        ({"amr": ["pwd"]}, False),
        ({"amr": []}, False),
        ({"amr": {"mfa": True}}, False),
        ({"amr": True}, False),
        ({"amr": ["mfa", 1]}, False),
        ({"amr": ["MFA"]}, False),
        ({"amr": "pwd mfa"}, False),
        ({"mfa": True}, False),
        ({}, False),
    ],
    ids=str,
)
def test_a_second_factor_is_what_the_provider_calls_one(
    deployment: Deployment, claims: dict[str, Any], mfa: bool
) -> None:
    assert deployment.identify(**claims).mfa is mfa


def test_the_settings_say_which_claims_mean_what(deployment: Deployment) -> None:
    deployment.authentication = deployment.build(
        user_claims=("preferred_username",),
        user_prefix="corp.",
        email_claim="mail",
        mfa_claim="acr",
        mfa_values=frozenset({"gold"}),
    )
    said = {"preferred_username": "bo", "mail": "bo@example.org", "acr": "gold"}
    assert deployment.identify(**said) == Identity("corp.bo", mfa=True, email="bo@example.org")
    assert deployment.refusal() is Reason.JWT_CLAIMS


@pytest.mark.parametrize(
    ("email", "verified", "known"),
    [
        ("a@example.org", True, True),
        ("a@example.org", ..., True),
        ("a@example.org", False, False),
        ("a@example.org", "false", False),
        ("no address", True, False),
        (["a@example.org"], True, False),
    ],
)
def test_an_address_that_is_not_confirmed_is_none(
    deployment: Deployment, email: Any, verified: Any, known: bool
) -> None:
    found = deployment.identify(email=email, email_verified=verified).email
    assert found == ("a@example.org" if known else None)


@pytest.mark.parametrize("verified", [..., False, "false", 1.5, ["true"], None])
def test_a_user_is_named_by_an_address_only_when_it_is_confirmed(
    deployment: Deployment, verified: Any
) -> None:
    deployment.authentication = deployment.build(user_claims=("email",))
    assert deployment.identify(email_verified=True).user_id == "ann@example.org"
    assert deployment.refusal(email_verified=verified) is Reason.JWT_CLAIMS


@pytest.mark.parametrize(
    "user", ["SYSTEM", "system", "Anonymous", "a", "a b", "\uff41dmin", "x" * 300]
)
def test_nobody_is_called_as_the_product_calls_itself(deployment: Deployment, user: str) -> None:
    assert deployment.refusal(sub=user) is Reason.USER


# Keys through time


def test_keys_are_read_once_while_they_are_fresh(deployment: Deployment) -> None:
    for _ in range(5):
        deployment.identify()
    deployment.hand.at += KEYS_FRESH - timedelta(seconds=1)
    deployment.identify()
    assert deployment.provider.asked == ["/.well-known/openid-configuration", "/keys"]
    deployment.hand.at += timedelta(seconds=1)
    deployment.identify()
    assert len(deployment.provider.asked) == 4


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
    deployment.provider.asked.clear()
    stranger = key("RSA", "stranger")
    for _ in range(30):
        deployment.hand.at += timedelta(seconds=1)
        for _ in range(3):
            assert deployment.refusal(by=stranger) is Reason.JWT_KEY
        deployment.identify()
    assert deployment.provider.asked.count("/keys") <= 30 / KEYS_PAUSE.total_seconds()


def test_known_keys_go_on_while_the_provider_is_down_until_they_are_too_old(
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


def test_a_provider_that_was_never_reached_lets_nobody_in_and_is_left_in_peace(
    deployment: Deployment,
) -> None:
    deployment.provider.down = True
    for _ in range(10):
        with pytest.raises(UnavailableError):
            deployment.identify()
    assert len(deployment.provider.asked) == 1
    deployment.provider.down = False
    deployment.hand.at += KEYS_PAUSE
    assert deployment.identify().user_id == "ann"


def test_a_clock_that_was_set_back_makes_keys_be_read_again(deployment: Deployment) -> None:
    deployment.identify()
    deployment.hand.at -= timedelta(days=1)
    deployment.identify()
    assert deployment.provider.asked.count("/keys") == 2


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


# What arrives


@given(st.text() | st.from_regex(r"[\w-]{0,40}\.[\w-]{0,40}\.[\w-]{0,40}", fullmatch=True))
def test_whatever_is_sent_is_read_or_refused(text: str) -> None:
    with pytest.raises(RefusedError):
        read(text)


SIGNING: list[tuple[str, Key]] = [
    ("RS256", key()),
    ("PS256", key()),
    ("ES256", key("EC", "EC-P-256", "P-256")),
    ("ES384", key("EC", "EC-P-384", "P-384")),
    ("EdDSA", key("OKP", "OKP-Ed25519", "Ed25519")),
]


@given(st.sampled_from(SIGNING), st.binary(min_size=1, max_size=600))
def test_no_bytes_are_a_signature(signing: tuple[str, Key], signature: bytes) -> None:
    algorithm, public = signing
    (found,) = usable_keys({"keys": [public.as_dict(private=False)]}).values()
    token = f"{encoded({'alg': algorithm})}.{encoded({'sub': 'boss'})}.{encoded(signature)}"
    with pytest.raises(RefusedError) as refused:
        verified_claims(token, algorithm, found)
    assert refused.value.reason is Reason.JWT_SIGNATURE


@given(st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.text(), max_size=5))
def test_objects_are_read_as_they_were_written(value: dict[str, Any]) -> None:
    import json

    assert parse_object(json.dumps(value).encode()) == value


# Cognito


@dataclass
class Pool:
    """A user pool of moto with one user, and the authentication that accepts its tokens."""

    pool_id: str
    client_id: str
    hand: Hand
    warnings: list[str] = field(default_factory=list[str])

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
        trusted = {url: TrustedIssuer(issuer, keys, users)}
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
    hand = Hand(datetime.fromtimestamp(time.time(), UTC))
    return Pool(pool_id, made["UserPoolClient"].get("ClientId", ""), hand)


@pytest.mark.parametrize("kind", ["id", "access"])
def test_the_user_pools_tokens_name_their_user(pool: Pool, kind: str) -> None:
    found = pool.authentication.authenticate(pool.sign_in()[kind])
    assert found.user_id == "ann"
    assert found.email == ("ann@example.org" if kind == "id" else None)
    assert found.mfa is False


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


def test_without_cognitos_answer_nobody_gave_a_second_factor(now: datetime) -> None:
    class Silent(MemoryUserPool):
        def get_user(self, user_id: str) -> Any:
            raise UnavailableError("Cognito does not answer")

    warnings: list[str] = []
    users = PoolUsers(Silent(), Hand(now), warnings.append)
    assert users.completed(Identity("ann", mfa=True)) == Identity("ann")
    assert warnings


def test_what_is_remembered_of_users_is_bounded(now: datetime) -> None:
    asked: list[str] = []

    class Counting(MemoryUserPool):
        def get_user(self, user_id: str) -> Any:
            asked.append(user_id)

    users = PoolUsers(Counting(), Hand(now), asked.append)
    for number in [*range(USERS_KNOWN + 1), USERS_KNOWN, 0]:
        with pytest.raises(RefusedError):
            users.completed(Identity(f"user-{number}"))
    assert len(asked) == USERS_KNOWN + 2
