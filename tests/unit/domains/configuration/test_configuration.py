"""Configuration: its routes, over tables in memory."""

import json
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.configuration.models import DeployedPage, Endpoints, SignInProvider
from backend.domains.configuration.repository import FeatureRepository, PageRepository
from backend.domains.configuration.routes import build_router
from backend.domains.configuration.service import ConfigurationService, Features, PageRecord
from backend.http.later_routes import later_router
from backend.spec.metrics import ROUTES_NOT_SERVED
from backend.spec.routes import ROUTES
from backend.spec.routes.later import LATER_PARTS, LATER_ROUTES, LaterRoute
from backend.spec.tables.registry import FEATURES
from backend.spec.versions import PRODUCT_VERSION
from tests.factories.assets import NOON
from tests.factories.http import Client
from tests.factories.outages import unavailable
from tests.factories.signing_in import ManualClock

ROOT = Path(__file__).parents[4]


def client_of(tables: Tables, user_id: str = "ann", **more: Any) -> Client:
    """A client of a deployment with these settings."""
    service = ConfigurationService(
        features=FeatureRepository(tables),
        region="eu-central-1",
        web_url="https://museum.example.org",
        openapi=lambda: {"openapi": "3.1.0", "info": {"title": "It"}},
        **more,
    )
    return Client(build_router(service), user_id=user_id)


@pytest.fixture
def client(tables: Tables) -> Client:
    return client_of(tables, "admin")


def anonymous(client: Client) -> Client:
    return Client(client.router, user_id=None)


def test_anyone_receives_the_versions_and_what_a_web_client_needs(client: Client) -> None:
    answer = anonymous(client).send("GET", "/api/version")
    assert answer.status == 200
    assert answer.body == {
        "version": "2.5.1",
        "productVersion": PRODUCT_VERSION,
        "laterVersion": "2.6.1",
        "laterPartsNotServed": list(LATER_PARTS),
    }
    assert anonymous(client).send("GET", "/api/api/version").body == answer.body
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == PRODUCT_VERSION
    headers = {"host": "api.example.org", "x-forwarded-proto": "https"}
    answer = anonymous(client).send("GET", "/api/amplify-config", headers=headers)
    assert answer.status == 200
    doubled = anonymous(client).send("GET", "/api/api/amplify-config", headers=headers)
    assert doubled.body == answer.body
    assert answer.body == {
        "region": "eu-central-1",
        "api": "https://api.example.org/",
        "contentSecurityPolicy": "",
        "bannerHtmlMessage": "",
    }
    headers = {"host": "127.0.0.1:8080", "x-forwarded-proto": "http"}
    answer = client.send("GET", "/api/amplify-config", headers=headers)
    assert answer.body["api"] == "http://127.0.0.1:8080/"


@pytest.mark.parametrize("later", LATER_ROUTES, ids=lambda later: f"{later.method} {later.path}")
def test_a_route_of_a_later_contract_names_the_served_one(
    later: LaterRoute, capsys: pytest.CaptureFixture[str]
) -> None:
    base = later.pattern.removesuffix("{proxy+}")
    sent = {"proxy": later.path.removeprefix(base).replace("{", "a").replace("}", "#1")}
    client = Client(later_router(), user_id="ann")
    route = f"ANY {later.pattern}"
    answer = client.send(later.method, later.path, route=route, parameters=sent)
    assert (answer.status, answer.body["code"]) == (501, "NotServed")
    assert answer.body["message"] == later.sentence
    assert later.served in ROUTES
    counted = json.loads(capsys.readouterr().out)
    assert counted[ROUTES_NOT_SERVED.name] == [1.0]
    unknown = anonymous(client)
    assert unknown.send(later.method, later.path, route=route, parameters=sent).status == 401
    assert f"{later.method} {later.path}" not in {served.key for served in ROUTES}


PIPELINE = "/database/{databaseId}/pipelines/{pipelineId}/{proxy+}"


@pytest.mark.parametrize(
    ("method", "pattern", "below"),
    [
        ("GET", "/workflows/{proxy+}", ""),
        ("GET", "/workflows/{proxy+}", "executions/"),
        ("GET", "/workflows/{proxy+}", "executions/e"),
        ("POST", "/workflows/{proxy+}", "museum//execute"),
        ("POST", "/workflows/{proxy+}", "museum/scan/run"),
        ("PATCH", "/workflows/{proxy+}", "executions"),
        (
            "GET",
            "/database/{databaseId}/pipelines/{pipelineId}/{proxy+}",
            "templates/t/tagSchema/x",
        ),
        ("DELETE", PIPELINE, "templates"),
    ],
)
def test_a_path_that_no_contract_has_stays_unknown(
    method: str, pattern: str, below: str, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client(later_router(), user_id="ann")
    parameters = {"databaseId": "museum", "pipelineId": "p", "proxy": below}
    path = pattern.replace("{proxy+}", below)
    answer = client.send(method, path, route=f"ANY {pattern}", parameters=parameters)
    assert (answer.status, answer.body["code"]) == (404, "NotFound")
    assert "RoutesNotServed" not in capsys.readouterr().out


@pytest.mark.parametrize("host", ["", "a b", "evil.org/path", "x@y", "é"])
def test_a_host_that_is_none_is_refused(client: Client, host: str) -> None:
    answer = client.send("GET", "/api/amplify-config", headers={"host": host})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "Host")


def test_known_callers_receive_features_and_openapi(client: Client, tables: Tables) -> None:
    for name in ("LOCATIONSERVICES", "ALLOWUNSAFEEVAL"):
        tables.write(Put(table=FEATURES, item={"featureName": name}))
    answer = client.send("GET", "/secure-config")
    assert answer.body == {
        "featuresEnabled": "ALLOWUNSAFEEVAL,LOCATIONSERVICES",
        "locationServiceApiUrl": "",
        "webDeployedUrl": "https://museum.example.org",
    }
    assert anonymous(client).send("GET", "/secure-config").status == 401
    answer = client.send("GET", "/openapi.json")
    assert answer.status == 200
    assert answer.body == {"openapi": "3.1.0", "info": {"title": "It"}}
    assert anonymous(client).send("GET", "/openapi.json").status == 401


def test_the_settings_of_a_deployment_without_search_contain_noopensearch(
    client: Client, tables: Tables
) -> None:
    tables.write(Put(table=FEATURES, item={"featureName": "OTHER"}))
    features = Features(FeatureRepository(tables))
    for _ in range(2):
        features.declare(has_search=False, has_user_pool=False)
        enabled = client.send("GET", "/secure-config").body["featuresEnabled"]
        assert enabled == "NOOPENSEARCH,OTHER"
    for _ in range(2):
        features.declare(has_search=True, has_user_pool=False)
        assert client.send("GET", "/secure-config").body["featuresEnabled"] == "OTHER"


def test_the_settings_of_a_deployment_with_a_user_pool_name_the_pool(tables: Tables) -> None:
    repository = FeatureRepository(tables)
    Features(repository).declare(has_search=True, has_user_pool=True)
    # A user at the first sign-in has no role yet, and receives the reply nevertheless.
    client = client_of(tables, user_pool_id="pool", user_pool_client_id="client")
    assert client.send("GET", "/secure-config").body["featuresEnabled"] == "AUTHPROVIDER_COGNITO"
    reply = client.send("GET", "/api/amplify-config", headers={"host": "api.example.org"}).body
    assert (reply["cognitoUserPoolId"], reply["cognitoAppClientId"]) == ("pool", "client")
    Features(repository).declare(has_search=True, has_user_pool=False)
    assert client.send("GET", "/secure-config").body["featuresEnabled"] == ""


def test_the_settings_of_a_deployment_with_another_provider_name_its_address(
    tables: Tables,
) -> None:
    issuer = "https://idp.example.org"
    endpoints = Endpoints(f"{issuer}/authorize", f"{issuer}/token", f"{issuer}/about")
    provider = SignInProvider(issuer, "web", "openid email", "", lambda: endpoints)
    features = Features(FeatureRepository(tables))
    features.declare(has_search=True, has_user_pool=False, has_provider=True)
    client = client_of(tables, provider=provider)
    enabled = client.send("GET", "/secure-config").body["featuresEnabled"]
    assert enabled == "AUTHPROVIDER_EXTERNALOAUTHIDP"
    reply = client.send("GET", "/api/amplify-config", headers={"host": "api.example.org"}).body
    assert reply["externalOAuthIdpURL"] == "https://idp.example.org"
    assert (reply["externalOAuthIdpClientId"], reply["externalOAuthIdpScope"]) == (
        "web",
        "openid email",
    )
    assert reply["externalOAuthIdpTokenEndpoint"] == f"{issuer}/token"
    assert reply["externalOAuthIdpAuthorizationEndpoint"] == f"{issuer}/authorize"
    assert reply["externalOAuthIdpDiscoveryEndpoint"] == f"{issuer}/about"
    assert reply["externalOAuthIdpScopeMfa"] == "undefined"
    assert "cognitoUserPoolId" not in reply


def test_users_of_the_pool_sign_in_while_the_provider_is_unavailable(tables: Tables) -> None:
    provider = SignInProvider("https://idp.example.org", "web", "openid", "", unavailable)
    client = client_of(tables, user_pool_id="pool", provider=provider)
    reply = client.send("GET", "/api/amplify-config", headers={"host": "api.example.org"})
    assert (reply.status, reply.body["cognitoUserPoolId"]) == (200, "pool")
    assert reply.body["externalOAuthIdpTokenEndpoint"] == "undefined"


def test_the_page_is_part_of_the_configuration_while_it_is_recorded(tables: Tables) -> None:
    pages, hand = PageRepository(tables), ManualClock(NOON)
    client = client_of(tables, page=PageRecord(pages.find, hand))

    def of_page() -> dict[str, Any]:
        reply = client.send("GET", "/api/amplify-config", headers={"host": "api.example.org"})
        assert reply.status == 200
        return {name: value for name, value in reply.body.items() if name.startswith("page")}

    assert of_page() == {}
    pages.put(DeployedPage(url="https://models.example.org/ui/"))
    assert of_page() == {}, "it is read once a minute"
    hand.at += timedelta(minutes=1)
    assert of_page() == {"pageUrl": "https://models.example.org/ui/"}
    pages.put(DeployedPage(url="https://a.example.org/ui/", issuer="https://i", client_id="c1"))
    hand.at += timedelta(minutes=1)
    assert of_page() == {
        "pageUrl": "https://a.example.org/ui/",
        "pageIssuer": "https://i",
        "pageClientId": "c1",
    }
    pages.delete()
    hand.at += timedelta(minutes=1)
    assert of_page() == {}
