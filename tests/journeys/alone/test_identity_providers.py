"""Sign-in with the deployment's user pool, and with an external identity provider.

It takes over 20 seconds: the deployment starts with an identity provider and a user pool.
"""

from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.factories.identity_provider import CLIENT, Provider, key
from tests.journeys import canaries
from tests.journeys.runtime import Api, Runtime, wait_until

PASSWORD = "Canary-passw0rd-of-a-pool-user!"
TOKENS = ("IdToken", "AccessToken")
FORBIDDEN = (403, {"message": "Forbidden"})


def sign_in(runtime: Runtime, user: str, *, created_in_pool: bool = False) -> dict[str, Any]:
    """Create a user of the pool, by the API or in the pool itself; returns Cognito's tokens."""
    canaries.planted.add(PASSWORD.rstrip("!"))
    admin = runtime.client()
    config = admin.ok("GET", "/api/amplify-config")
    pool = boto3.client(
        "cognito-idp",
        endpoint_url=runtime.endpoint["aws"],
        region_name=config["region"],
        aws_access_key_id="nobody",
        aws_secret_access_key="nothing",
    )
    pool_id = config["cognitoUserPoolId"]
    if created_in_pool:
        pool.admin_create_user(UserPoolId=pool_id, Username=user)
    else:
        admin.ok("POST", "/user/cognito", {"userId": user, "email": f"{user}@example.org"})
    pool.admin_set_user_password(
        UserPoolId=pool_id, Username=user, Password=PASSWORD, Permanent=True
    )
    answer = pool.admin_initiate_auth(
        UserPoolId=pool_id,
        ClientId=config["cognitoAppClientId"],
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": user, "PASSWORD": PASSWORD},
    )
    return dict(answer["AuthenticationResult"])


def bearer(runtime: Runtime, token: str) -> Api:
    return runtime.client(f"Bearer {token}")


@pytest.mark.parametrize("kind", TOKENS)
def test_a_user_of_the_pool_may_do_what_its_roles_allow(runtime: Runtime, kind: str) -> None:
    user = f"pool-{kind.lower()}"
    own = bearer(runtime, sign_in(runtime, user)[kind])
    reply = own.ok("GET", "/secure-config")["featuresEnabled"]
    assert reply == "AUTHPROVIDER_COGNITO,AUTHPROVIDER_EXTERNALOAUTHIDP"
    assert own.refused("GET", "/roles")[0] == 403
    runtime.client().ok("POST", "/user-roles", {"userId": user, "roleName": ["admin"]})
    wait_until(lambda: own.send("GET", "/roles").status_code == 200)


def test_users_of_the_pool_are_made_listed_changed_and_removed(runtime: Runtime) -> None:
    admin = runtime.client()
    zoe = "/user/cognito/zoe"

    def email() -> str | None:
        users = admin.ok("GET", "/user/cognito")["users"]
        return next((user["email"] for user in users if user["userId"] == "zoe"), None)

    admin.ok("POST", "/user/cognito", {"userId": "zoe", "email": "zoe@example.org"})
    assert email() == "zoe@example.org"
    admin.ok("PUT", zoe, {"email": "other@example.org"})
    assert email() == "other@example.org"
    admin.ok("POST", f"{zoe}/resetPassword", {"confirmReset": True})
    admin.ok("DELETE", zoe)  # not read before: the local pool loses the address then
    assert email() is None
    assert admin.refused("DELETE", zoe)[0] == 404


def test_the_id_of_a_user_of_another_provider_names_the_provider(
    runtime: Runtime, provider: Provider
) -> None:
    reply = runtime.client().ok("GET", "/api/amplify-config")
    assert reply["externalOAuthIdpURL"] == provider.url
    assert (reply["externalOAuthIdpClientId"], reply["externalOAuthIdpScope"]) == (
        CLIENT,
        "openid email",
    )
    assert reply["externalOAuthIdpTokenEndpoint"] == f"{provider.url}/token"
    assert reply["externalOAuthIdpScopeMfa"] == "undefined"
    own = bearer(runtime, provider.token(sub="ann"))
    (profile,) = own.ok("POST", "/auth/loginProfile/corp.ann", {})["message"]["Items"]
    assert profile["email"] == "ann@example.org"
    (same,) = own.ok("GET", "/auth/loginProfile/ann")["message"]["Items"]
    assert same["userId"] == "corp.ann"
    assert own.refused("POST", "/auth/loginProfile/bob", {})[0] == 403
    impostor = bearer(runtime, provider.token(sub="admin"))
    assert impostor.refused("GET", "/roles")[0] == 403


def test_a_role_that_demands_a_second_factor_counts_only_with_one(
    runtime: Runtime, provider: Provider
) -> None:
    admin = runtime.client()
    admin.ok("POST", "/roles", {"roleName": "vault", "description": "x", "mfaRequired": True})
    for name, kind, field, value in (
        ("route", "api", "route__path", "/roles"),
        ("rows", "role", "roleName", "vault"),
    ):
        rule: dict[str, Any] = {
            "name": name,
            "description": "What the vault shows",
            "objectType": kind,
            "criteriaAnd": [{"field": field, "operator": "equals", "value": value}],
            "groupPermissions": [
                {"groupId": "vault", "permission": "GET", "permissionType": "allow"}
            ],
        }
        admin.ok("POST", f"/auth/constraints/vault-{name}", rule)
    admin.ok("POST", "/user-roles", {"userId": "corp.eve", "roleName": ["vault"]})
    with_factor = bearer(runtime, provider.token(sub="eve", amr=["pwd", "mfa"]))
    wait_until(lambda: with_factor.send("GET", "/roles").status_code == 200)
    without = bearer(runtime, provider.token(sub="eve", amr=["pwd"]))
    assert without.refused("GET", "/roles")[0] == 403
    assert [item["roleName"] for item in with_factor.ok("GET", "/roles")["Items"]] == ["vault"]


def test_the_provider_may_change_its_keys(runtime: Runtime, provider: Provider) -> None:
    bearer(runtime, provider.token()).ok("GET", "/secure-config")
    old, new = provider.keys[0], key("RSA", "rotated")
    provider.keys = [new, old]
    own = bearer(runtime, provider.token(by=new))
    wait_until(lambda: own.send("GET", "/secure-config").status_code == 200)
    bearer(runtime, provider.token(by=old)).ok("GET", "/secure-config")


def test_a_stranger_learns_nothing_and_the_administrator_the_reason(
    runtime: Runtime, provider: Provider
) -> None:
    good = provider.token()
    bad = {
        "token-expired": provider.token(exp=1),
        "token-audience": provider.token(aud="another"),
        "token-signature": good[:-8],
        "token-issuer": provider.token(iss="https://evil.example"),
        "token-key-unknown": provider.token(by=key("RSA", "stranger")),
        "token-malformed": "nothing",
        "key-unknown": "vams_" + "x" * 64,
    }
    for token in bad.values():
        assert bearer(runtime, token).refused("GET", "/secure-config") == FORBIDDEN
    assert runtime.client("Basic bm8=").refused("GET", "/secure-config") == FORBIDDEN
    wait_until(lambda: all(reason in _log(runtime) for reason in bad))


def _log(runtime: Runtime) -> str:
    logs = (runtime.state / "logs" / "functions").glob("*uthorizer*")
    return "".join(Path(log).read_text() for log in logs)


@pytest.mark.parametrize("name", ["corp.ann", "CORP.ann"])
def test_a_pool_user_with_a_providers_prefix_is_neither_created_nor_let_in(
    runtime: Runtime, provider: Provider, name: str
) -> None:
    body = {"userId": name, "email": "ann@example.org"}
    assert runtime.client().refused("POST", "/user/cognito", body)[0] == 400
    bearer(runtime, provider.token(sub="ann")).ok("GET", "/secure-config")
    impostor = sign_in(runtime, name, created_in_pool=True)
    for kind in TOKENS:
        assert bearer(runtime, impostor[kind]).send("GET", "/secure-config").status_code == 403
    harmless = sign_in(runtime, name.replace(".", "-"), created_in_pool=True)
    for kind in TOKENS:
        bearer(runtime, harmless[kind]).ok("GET", "/secure-config")


def test_a_client_id_of_the_provider_is_no_audience(runtime: Runtime, provider: Provider) -> None:
    token = provider.token(aud=..., client_id=CLIENT, token_use="access")
    assert bearer(runtime, token).send("GET", "/secure-config").status_code == 403
