"""Tokens of the user pool, and what the pool says of its users."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
import requests

from backend.aws.clients import cognito_idp
from backend.aws.user_pool import CognitoUserPool
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.domains.identity.rules.claims import Issuer
from backend.domains.identity.rules.refusals import Reason, RefusedError
from backend.domains.identity.service.tokens import (
    USERS_FRESH,
    USERS_KNOWN,
    PoolUsers,
    ProviderKeys,
    TokenAuthentication,
    TrustedIssuer,
)
from tests.factories.signing_in import ManualClock
from tests.fakes.user_pool import MemoryUserPool


@dataclass
class Pool:
    """A user pool of moto with one user, and the authentication that accepts its tokens."""

    pool_id: str
    client_id: str
    hand: ManualClock
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
    hand = ManualClock(datetime.fromtimestamp(time.time(), UTC))
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


def test_without_a_reply_of_cognito_no_second_factor_counts(now: datetime) -> None:
    class UnresponsivePool(MemoryUserPool):
        def get_user(self, user_id: str) -> Any:
            raise UnavailableError("Cognito does not answer")

    warnings: list[str] = []
    users = PoolUsers(UnresponsivePool(), ManualClock(now), warnings.append)
    assert users.completed(Identity("ann", mfa=True)) == Identity("ann")
    assert warnings


def test_what_is_remembered_of_users_is_bounded(now: datetime) -> None:
    calls: list[str] = []

    class Counting(MemoryUserPool):
        def get_user(self, user_id: str) -> Any:
            calls.append(user_id)

    users = PoolUsers(Counting(), ManualClock(now), calls.append)
    for number in [*range(USERS_KNOWN + 1), USERS_KNOWN, 0]:
        with pytest.raises(RefusedError):
            users.completed(Identity(f"user-{number}"))
    assert len(calls) == USERS_KNOWN + 2
