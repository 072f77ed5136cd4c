"""Whose token it is: signatures and claims, and what arrives as tokens."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.identity import Identity
from backend.domains.identity.rules.claims import LEEWAY_SECONDS
from backend.domains.identity.rules.key_sets import MAX_KEYS, usable_keys
from backend.domains.identity.rules.refusals import Reason, RefusedError
from backend.domains.identity.rules.tokens import parse_object, parse_unverified, verified_claims
from tests.factories.identity_provider import (
    CLIENT,
    Key,
    encoded,
    identity_provider,
    key,
)
from tests.factories.signing_in import Deployment, ManualClock


@pytest.fixture
def deployment(now: datetime) -> Iterator[Deployment]:
    with identity_provider() as provider:
        yield Deployment(provider, ManualClock(now))


def test_a_token_names_its_user_by_the_claims_of_the_settings(deployment: Deployment) -> None:
    now = int(deployment.hand.at.timestamp())
    assert deployment.identify() == Identity(
        "ann", mfa=False, email="ann@example.org", auth_time=now
    )
    assert deployment.identify(aud=["https://userinfo", CLIENT]).user_id == "ann"
    claims = {"aud": ..., "client_id": CLIENT}
    assert deployment.refusal(token_use="access", **claims) is Reason.JWT_CLAIMS
    assert deployment.refusal(**claims) is Reason.JWT_CLAIMS
    deployment.authentication = deployment.build(is_user_pool=True)
    assert deployment.identify(token_use="access", **claims).user_id == "ann"
    assert deployment.refusal(token_use="id", **claims) is Reason.JWT_CLAIMS
    deployment.authentication = deployment.build(
        user_claims=("preferred_username",),
        user_prefix="corp.",
        email_claim="mail",
        mfa_claim="acr",
        mfa_values=frozenset({"gold"}),
    )
    output = {"preferred_username": "bo", "mail": "bo@example.org", "acr": "gold"}
    assert deployment.identify(**output) == Identity(
        "corp.bo", mfa=True, email="bo@example.org", subject="ann", auth_time=now
    )
    assert deployment.refusal() is Reason.JWT_CLAIMS


def test_a_refreshed_token_keeps_the_time_of_the_sign_in(deployment: Deployment) -> None:
    now = int(deployment.hand.at.timestamp())
    assert deployment.identify(auth_time=now - 3600).auth_time == now - 3600
    for claimed in (now + 3600, "yesterday", None, True):
        assert deployment.identify(auth_time=claimed).auth_time == now


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


def test_a_key_verifies_only_the_algorithm_that_the_provider_states(deployment: Deployment) -> None:
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
    (item,) = usable_keys({"keys": [first, second]}).values()
    numbers = getattr(item.public, "public_numbers", None)
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
def test_the_guide_shows_every_reason() -> None:
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


@pytest.mark.parametrize("name", ["corp.ann", "Corp.Ann", "corp."])
def test_no_user_of_the_pool_has_an_id_of_another_providers_user(
    deployment: Deployment, name: str
) -> None:
    pool: dict[str, Any] = {"is_user_pool": True, "user_claims": ("username",)}
    deployment.authentication = deployment.build(**pool, foreign_prefix="corp.")
    assert deployment.refusal(token_use="id", username=name) is Reason.USER
    assert deployment.identify(token_use="id", username="corporal").user_id == "corporal"
    deployment.authentication = deployment.build(**pool)
    assert deployment.identify(token_use="id", username=name).user_id == name


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


@pytest.mark.parametrize(
    ("email", "verified", "known"),
    [
        ("a@example.org", True, True),
        ("a@example.org", "true", True),
        ("a@example.org", ..., False),
        ("a@example.org", False, False),
        ("a@example.org", "false", False),
        ("no address", True, False),
        (["a@example.org"], True, False),
    ],
)
def test_an_address_that_is_not_confirmed_is_none(
    deployment: Deployment, email: Any, verified: Any, known: bool
) -> None:
    result = deployment.identify(email=email, email_verified=verified).email
    assert result == ("a@example.org" if known else None)


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
def test_no_one_is_called_as_the_product_calls_itself(deployment: Deployment, user: str) -> None:
    assert deployment.refusal(sub=user) is Reason.USER


# What arrives
@given(st.text() | st.from_regex(r"[\w-]{0,40}\.[\w-]{0,40}\.[\w-]{0,40}", fullmatch=True))
def test_whatever_is_sent_is_read_or_refused(text: str) -> None:
    with pytest.raises(RefusedError):
        parse_unverified(text)


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
    (item,) = usable_keys({"keys": [public.as_dict(private=False)]}).values()
    token = f"{encoded({'alg': algorithm})}.{encoded({'sub': 'boss'})}.{encoded(signature)}"
    with pytest.raises(RefusedError) as refused:
        verified_claims(token, algorithm, item)
    assert refused.value.reason is Reason.JWT_SIGNATURE


@given(st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.text(), max_size=5))
def test_objects_are_read_as_they_were_written(value: dict[str, Any]) -> None:
    import json

    assert parse_object(json.dumps(value).encode()) == value
