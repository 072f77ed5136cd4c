"""The page on AWS: CloudFront's behaviours, headers and function, and the files of the page."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from backend.spec.page import PROOF_HEADER, SESSION_COOKIE, SESSION_HEADER, VIEWER_HEADER
from backend.spec.routes import ROUTES
from infra.node import packaged_node
from infra.page import MOST_EDGE_BYTES, Page, PageBuildError, prepare_page
from tests.factories.edge_cases import ANN, ANNS, CASES, REFUSED
from tests.infra.contexts import EDGE_VERSION
from tests.infra.templates import ROOT, Assembly
from web_page import Page as BuiltPage
from web_page import policy_of

VIEWER = "198.51.100.7"
# As CloudFront runs the function: without modules, `require` or `process`.
HARNESS = """
const { code, events } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const handler = require('vm').runInNewContext(code + '; handler', Object.create(null));
console.log(JSON.stringify(events.map(event => handler(event))));
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """A built page, as to its files."""
    folder = tmp_path_factory.mktemp("page")
    for name in ("index.html", "decoders/draco.wasm", "assets/index-x.js"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    return Page(folder)


def at_edge(page: Page, uri: str, *, method: str = "GET", accept: str = "*/*") -> dict[str, Any]:
    """Run the function for a request that forges the address of its viewer."""
    headers = {"accept": accept, VIEWER_HEADER: "203.0.113.9"}
    return run_at_edge(page, [event_of(method, uri, headers)])[0]


def event_of(
    method: str,
    uri: str,
    headers: Mapping[str, str],
    cookies: Sequence[str] = (),
    again: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """The event of a request, whose cookies all have the name of the session's."""
    values = [{"value": value} for value in cookies]
    several = {"multiValue": values} if len(values) > 1 else {}
    named = {SESSION_COOKIE: {**values[0], **several}, "other": {"value": "1"}} if values else {}
    sent: dict[str, dict[str, Any]] = {name: {"value": text} for name, text in headers.items()}
    for name, text in again:
        sent[name]["multiValue"] = [{"value": headers[name]}, {"value": text}]
    request = {"method": method, "uri": uri, "querystring": {}, "headers": sent, "cookies": named}
    return {"version": "1.0", "viewer": {"ip": VIEWER}, "request": request}


def run_at_edge(page: Page, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    node = packaged_node()
    assert node is not None
    done = subprocess.run(
        [node, "-e", HARNESS],
        input=json.dumps({"code": page.edge_function(), "events": events}),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("uri", "at_origin"),
    [
        ("/ui/", "/ui/index.html"),
        ("/ui/index.html", "/ui/index.html"),
        ("/ui/databases/museum/assets/pump.v1.2", "/ui/index.html"),
        ("/ui/search.js", "/ui/index.html"),
        ("/ui/assets", "/ui/index.html"),
        ("/ui/decoders/draco.wasm", "/ui/decoders/draco.wasm"),
        ("/ui/assets/index-x.js", "/ui/assets/index-x.js"),
        ("/ui/assets/of-an-earlier-release.js", "/ui/assets/of-an-earlier-release.js"),
        ("/", "/"),
        ("/uiX", "/uiX"),
        ("/database/ui/assets", "/database/ui/assets"),
        ("/api", "/api"),
        ("/apis/x", "/apis/x"),
        ("/api/version", "/api/version"),
        ("/api/amplify-config", "/api/amplify-config"),
        ("/api/database/museum", "/database/museum"),
        ("/api/api/version", "/api/version"),
    ],
)
def test_an_address_reaches_the_file_or_the_route(built: Page, uri: str, at_origin: str) -> None:
    request = at_edge(built, uri)
    assert request["uri"] == at_origin
    assert request["headers"][VIEWER_HEADER] == {"value": VIEWER}


@pytest.mark.parametrize(
    ("uri", "method", "accept", "redirected"),
    [
        ("/", "GET", "text/html,*/*;q=0.8", True),
        ("/", "HEAD", "text/html", True),
        ("/", "POST", "text/html", False),
        ("/", "GET", "application/json", False),
        ("/ui", "GET", "*/*", True),
    ],
)
def test_a_browser_is_sent_to_the_page(
    built: Page, uri: str, method: str, accept: str, redirected: bool
) -> None:
    reply = at_edge(built, uri, method=method, accept=accept)
    assert (reply.get("statusCode") == 302) == redirected
    assert not redirected or reply["headers"] == {"location": {"value": "/ui/"}}


def test_the_cookie_becomes_a_credential_for_requests_of_the_page_only(built: Page) -> None:
    events = [event_of(c.method, c.path, c.headers, c.cookies, c.again) for c in CASES.values()]
    results = dict(zip(CASES, run_at_edge(built, events), strict=True))
    assert [name for name, result in results.items() if SESSION_COOKIE in str(result)] == []
    actual = {
        name: REFUSED
        if result.get("statusCode") == 401
        else result["headers"].get("authorization", {}).get("value")
        for name, result in results.items()
    }
    assert actual == {name: case.result for name, case in CASES.items()}


def test_files_are_requested_without_the_cookie(built: Page) -> None:
    headers = {SESSION_HEADER: ANN, "authorization": "of another"}
    (request,) = run_at_edge(built, [event_of("GET", "/ui/", headers, (ANNS,))])
    assert request["uri"] == "/ui/index.html"
    assert SESSION_COOKIE not in request["cookies"]
    assert ANNS not in str(request)


def test_the_function_lists_the_routes_below_api_and_has_a_limited_size(
    built: Page, tmp_path: Path
) -> None:
    code = built.edge_function()
    own = {route.path for route in ROUTES if route.path.startswith("/api/")}
    assert all(json.dumps(path) in code for path in own)
    assert len(code.encode()) < MOST_EDGE_BYTES
    for number in range(400):
        (tmp_path / f"a-file-of-the-page-{number}.txt").touch()
    with pytest.raises(PageBuildError, match=r"has \d+ bytes, and CloudFront takes 10240: move"):
        Page(tmp_path).edge_function()


def test_a_page_that_cannot_be_built_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> BuiltPage:
        return BuiltPage(None, "The page is not built: npm error code ENOTFOUND")

    monkeypatch.setattr("infra.page.build_page", fail)
    with pytest.raises(PageBuildError, match=r"ENOTFOUND. Set `page` to false to deploy without"):
        prepare_page(tmp_path, bundle=True)


def test_the_page_is_a_setting(synthesized: Callable[[str], Assembly], page: Assembly) -> None:
    without_search = synthesized("without-search")
    assert "web" not in without_search.templates
    assert not without_search.of_type("AWS::CloudFront::Distribution")
    url = page.templates["web"]["Outputs"]["PageUrl"]["Value"]
    assert page.text(url) == "https://models.example.org/ui/"
    assert page.stack_order()["web"] >= {"api", "storage"}


def test_the_policy_is_that_of_the_local_runtime_with_the_buckets_hosts(page: Assembly) -> None:
    (policy,) = page.of_type("AWS::CloudFront::ResponseHeadersPolicy").values()
    headers = policy.properties["ResponseHeadersPolicyConfig"]
    security = headers["SecurityHeadersConfig"]
    content = page.text(security["ContentSecurityPolicy"]["ContentSecurityPolicy"])
    names = ("<AssetBucket>", "<AssetAuxiliaryBucket>", "scans")
    hosts = tuple(f"https://{name}.s3.<AWS::Region>.<AWS::URLSuffix>" for name in names)
    providers = {"https://login.example.org", "https://tokens.example.org"}
    assert content == policy_of(hosts, providers)
    assert "*" not in content


@pytest.mark.parametrize(("stage", "version"), [("small", ""), ("page", EDGE_VERSION)])
def test_the_proof_is_the_version_of_the_secret_that_the_stage_names(
    stage: str, version: str, synthesized: Callable[[str], Assembly]
) -> None:
    # CloudFormation reads the value again only if the reference changes.
    assembly = synthesized(stage)
    (distribution,) = assembly.of_type("AWS::CloudFront::Distribution").values()
    config = distribution.properties["DistributionConfig"]
    sent = [h for origin in config["Origins"] for h in origin.get("OriginCustomHeaders", ())]
    assert [(h["HeaderName"], assembly.text(h["HeaderValue"])) for h in sent] == [
        (
            PROOF_HEADER,
            f"{{{{resolve:secretsmanager:<PageEdgeKey>:SecretString:::{version}}}}}",
        )
    ]


def test_users_of_the_pool_sign_in_to_the_page_by_a_client_of_its_own(
    hardened: Assembly,
) -> None:
    client = hardened.resource("PageClient").properties
    record = hardened.resource("PageRecord").properties
    url = hardened.text(record["Url"])
    assert url == "https://<PageDistribution.DomainName>/ui/"
    assert [hardened.text(address) for address in client["CallbackURLs"]] == [url]
    assert (client["AllowedOAuthFlows"], client["GenerateSecret"]) == (["code"], False)
    assert client["SupportedIdentityProviders"] == ["COGNITO", "Okta", "Partner"]
    okta, partner = (hardened.resource(f"SignIn{name}").properties for name in ("Okta", "Partner"))
    assert (okta["ProviderType"], partner["ProviderType"]) == ("SAML", "OIDC")
    assert okta["AttributeMapping"] == {"email": "mail"}
    secret = hardened.text(partner["ProviderDetails"]["client_secret"])
    assert secret.startswith("{{resolve:secretsmanager:partner-sign-in:")
    assert hardened.text(record["ClientId"]) == "<PageClient>"
    issuer = "https://cognito-idp.<AWS::Region>.amazonaws.com"
    assert hardened.text(record["Issuer"]) == f"{issuer}/<UserPool>"
    assert hardened.text(record["ServiceToken"]).endswith(":function:vitrine-prod-Bootstrap")
    (policy,) = hardened.of_type("AWS::CloudFront::ResponseHeadersPolicy").values()
    security = policy.properties["ResponseHeadersPolicyConfig"]["SecurityHeadersConfig"]
    content = hardened.text(security["ContentSecurityPolicy"]["ContentSecurityPolicy"])
    domain = "https://museum-models.auth.<AWS::Region>.amazoncognito.com"
    assert {issuer, domain} <= set(content.replace(";", " ").split())


def test_a_stack_of_the_page_without_a_pool_records_its_address_only(small: Assembly) -> None:
    record = small.resource("PageRecord").properties
    assert set(record) == {"ServiceToken", "ServiceTimeout", "Url"}
    assert not small.of_type("AWS::Cognito::UserPoolDomain")


def test_stacks_are_tagged_for_the_bill(small: Assembly) -> None:
    for artifact in small.manifest["artifacts"].values():
        if artifact["type"] == "aws:cloudformation:stack":
            assert artifact["properties"]["tags"] == {"vitrine-stage": "small"}
    # The bill shows a tag only after it was activated.
    assert "tag `vitrine-stage`" in (ROOT / "docs" / "guides" / "deploying.md").read_text()
