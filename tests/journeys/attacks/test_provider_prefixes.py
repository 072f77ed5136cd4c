"""A user of the pool who takes the id of another provider's user."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from tests.factories.identity_provider import CLIENT, Provider, identity_provider
from tests.journeys import canaries, shared
from tests.journeys.runtime import Runtime

PASSWORD = "Canary-passw0rd-of-an-impostor!"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with identity_provider() as running:
        yield running


@pytest.fixture(scope="module")
def with_providers(
    provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runtime]:
    """A product with a user pool and another provider, which the shared one does not have."""
    deployment = Runtime(tmp_path_factory.mktemp("prefixes") / "state")
    settings = {
        "search": "none",
        "userPool": "true",
        "oidcIssuer": provider.url,
        "oidcClientId": CLIENT,
        "oidcUserPrefix": "corp.",
    }
    given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    deployment.up("--in-memory", *given)
    yield deployment
    shared.stop_and_check(deployment)


@pytest.mark.parametrize("name", ["corp.ann", "CORP.ann"])
def test_a_pool_user_with_a_providers_prefix_is_neither_created_nor_let_in(
    with_providers: Runtime, provider: Provider, name: str
) -> None:
    admin = with_providers.client()
    body = {"userId": name, "email": "ann@example.org"}
    assert admin.refused("POST", "/user/cognito", body)[0] == 400
    own = with_providers.client(f"Bearer {provider.token(sub='ann')}")
    own.ok("GET", "/secure-config")
    for token in _tokens(with_providers, name):
        answer = with_providers.client(f"Bearer {token}").send("GET", "/secure-config")
        assert answer.status_code == 403
    for token in _tokens(with_providers, name.replace(".", "-")):
        with_providers.client(f"Bearer {token}").ok("GET", "/secure-config")


def test_a_client_id_of_the_provider_is_no_audience(
    with_providers: Runtime, provider: Provider
) -> None:
    token = provider.token(aud=..., client_id=CLIENT, token_use="access")
    answer = with_providers.client(f"Bearer {token}").send("GET", "/secure-config")
    assert answer.status_code == 403


def _tokens(runtime: Runtime, user: str) -> list[str]:
    """Create a user in the pool itself, and return what the user signs in with."""
    canaries.planted.add(PASSWORD.rstrip("!"))
    told = runtime.client().ok("GET", "/api/amplify-config")
    pool = boto3.client(
        "cognito-idp",
        endpoint_url=runtime.endpoint["aws"],
        region_name=told["region"],
        aws_access_key_id="nobody",
        aws_secret_access_key="nothing",
    )
    at: dict[str, Any] = {"UserPoolId": told["cognitoUserPoolId"], "Username": user}
    pool.admin_create_user(**at)
    pool.admin_set_user_password(**at, Password=PASSWORD, Permanent=True)
    answer = pool.admin_initiate_auth(
        UserPoolId=told["cognitoUserPoolId"],
        ClientId=told["cognitoAppClientId"],
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": user, "PASSWORD": PASSWORD},
    )
    found = dict(answer["AuthenticationResult"])
    return [str(found[kind]) for kind in ("IdToken", "AccessToken")]
