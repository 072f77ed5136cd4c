"""The API stack: the declared routes, each to the function of its domain, behind the authorizer."""

import json
import re

import pytest

from backend.core.sync_tokens import AFTER_HEADER, WRITTEN_HEADER
from backend.spec.functions import FUNCTIONS
from backend.spec.functions.operations import AUTHORIZER
from backend.spec.routes import LIST_SIMILAR_FILES, ROUTES
from infra.constructs.http_api import CREATED_AT_ONCE
from tests.infra.contexts import WEB_URL
from tests.infra.templates import ROOT, Assembly, Resource

API_FUNCTIONS = {spec.domain: spec.name for spec in FUNCTIONS if spec.kind == "api"}


def _routes(assembly: Assembly) -> dict[str, Resource]:
    found = assembly.of_type("AWS::ApiGatewayV2::Route").values()
    return {resource.properties["RouteKey"]: resource for resource in found}


def test_the_routes_are_exactly_those_declared(assembly: Assembly) -> None:
    assert len(assembly.of_type("AWS::ApiGatewayV2::Route")) == len(ROUTES)
    assert set(_routes(assembly)) == {route.key for route in ROUTES}


def test_a_route_reaches_the_function_of_its_domain(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for route in ROUTES:
        with subtests.test(route.key):
            target = assembly.text(_routes(assembly)[route.key].properties["Target"])
            name = target.removeprefix("integrations/<").removesuffix(">")
            integration = assembly.resource(name).properties
            function = API_FUNCTIONS[route.domain]
            assert assembly.text(integration["IntegrationUri"]) == f"<{function}.Arn>"
            assert integration["IntegrationType"] == "AWS_PROXY"
            assert integration["PayloadFormatVersion"] == "2.0"


def test_cloudformation_creates_a_few_routes_at_a_time_and_then_the_stage(
    assembly: Assembly,
) -> None:
    kinds = ("AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Integration")
    made = {name: each for kind in kinds for name, each in assembly.of_type(kind).items()}
    (stage,) = assembly.of_type("AWS::ApiGatewayV2::Stage").values()
    assert set(stage.body["DependsOn"]) == set(made)
    before = {
        name: waited_for
        for name, each in made.items()
        for waited_for in each.body.get("DependsOn", [])
    }
    # Each depends on another one, except the first few: this is the number of chains.
    assert len(set(before.values())) == len(before) == len(made) - CREATED_AT_ONCE
    assert [_end(before, name) for name in made if _end(before, name) in before] == []


def _end(before: dict[str, str], name: str) -> str:
    """Return the beginning of the chain of that name; itself, if it is a circle."""
    for _ in before:
        name = before.get(name, name)
    return name


def test_only_a_public_route_passes_without_the_authorizer(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for route in ROUTES:
        with subtests.test(route.key):
            properties = _routes(assembly)[route.key].properties
            if route.public:
                assert properties["AuthorizationType"] == "NONE"
                assert "AuthorizerId" not in properties
            else:
                assert properties["AuthorizationType"] == "CUSTOM"
                assert assembly.text(properties["AuthorizerId"]) == "<ApiAuthorizer>"


def test_there_is_one_authorizer_and_it_forgets_after_five_seconds(assembly: Assembly) -> None:
    (authorizer,) = assembly.of_type("AWS::ApiGatewayV2::Authorizer").values()
    properties = authorizer.properties
    assert properties["AuthorizerType"] == "REQUEST"
    assert properties["AuthorizerResultTtlInSeconds"] == 5
    assert properties["EnableSimpleResponses"] is True
    assert properties["IdentitySource"] == ["$request.header.Authorization"]
    assert properties["AuthorizerPayloadFormatVersion"] == "2.0"
    uri = assembly.text(properties["AuthorizerUri"])
    assert uri.endswith(f":lambda:path/2015-03-31/functions/<{AUTHORIZER.name}.Arn>/invocations")


def test_the_gateway_and_nothing_else_may_invoke_the_functions(assembly: Assembly) -> None:
    found_ones = assembly.of_type("AWS::Lambda::Permission").values()
    permissions = [one for one in found_ones if one.stack == "api"]
    arn = "arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<HttpApi>/"
    expected = {f"<{name}.Arn>": f"{arn}*/*" for name in API_FUNCTIONS.values()}
    expected[f"<{AUTHORIZER.name}.Arn>"] = f"{arn}authorizers/<ApiAuthorizer>"
    found = {
        assembly.text(p.properties["FunctionName"]): assembly.text(p.properties["SourceArn"])
        for p in permissions
    }
    assert found == expected
    assert {p.properties["Principal"] for p in permissions} == {"apigateway.amazonaws.com"}
    assert len(permissions) == len(expected)


def test_the_stage_throttles_and_logs_without_the_query_or_the_credentials(
    assembly: Assembly,
) -> None:
    (stage,) = assembly.of_type("AWS::ApiGatewayV2::Stage").values()
    properties = stage.properties
    assert properties["StageName"] == "$default"
    assert properties["AutoDeploy"] is True
    assert properties["DefaultRouteSettings"]["ThrottlingRateLimit"] > 0
    assert properties["DefaultRouteSettings"]["ThrottlingBurstLimit"] > 0
    assert properties["DefaultRouteSettings"]["DetailedMetricsEnabled"] is False
    log = properties["AccessLogSettings"]
    assert assembly.text(log["DestinationArn"]) == "<ApiAccessLogs.Arn>"
    assert "query" not in log["Format"].lower()
    assert "authorization" not in log["Format"].lower()


def test_the_access_log_names_the_caller_as_the_authorizer_does(assembly: Assembly) -> None:
    (stage,) = assembly.of_type("AWS::ApiGatewayV2::Stage").values()
    log = json.loads(stage.properties["AccessLogSettings"]["Format"])
    # tests/unit/entrypoints/test_authorizer.py asserts that the authorizer returns these names.
    assert log["userId"] == "$context.authorizer.userId"
    assert log["apiKeyId"] == "$context.authorizer.apiKeyId"


def test_no_page_may_call_the_api_unless_the_stage_names_one(assembly: Assembly) -> None:
    (api,) = assembly.of_type("AWS::ApiGatewayV2::Api").values()
    assert "CorsConfiguration" not in api.properties


def test_the_named_page_is_answered_before_any_route(hardened: Assembly) -> None:
    (api,) = hardened.of_type("AWS::ApiGatewayV2::Api").values()
    cors = api.properties["CorsConfiguration"]
    assert cors["AllowOrigins"] == [WEB_URL]
    assert "AllowCredentials" not in cors
    assert {"authorization", "content-type", "if-match", "range"} <= set(cors["AllowHeaders"])
    assert {"content-range", "etag"} <= set(cors["ExposeHeaders"])
    assert {route.method for route in ROUTES} <= set(cors["AllowMethods"])


def test_browsers_may_search_behind_their_own_writes(hardened: Assembly) -> None:
    (api,) = hardened.of_type("AWS::ApiGatewayV2::Api").values()
    cors = api.properties["CorsConfiguration"]
    assert AFTER_HEADER.lower() in cors["AllowHeaders"]
    assert {WRITTEN_HEADER.lower(), "x-ignored-fields"} <= set(cors["ExposeHeaders"])


def test_the_name_of_a_route_in_the_template_does_not_depend_on_the_order(
    assembly: Assembly,
) -> None:
    for route in ROUTES:
        words = f"{route.domain}_{route.name}".split("_")
        assert _routes(assembly)[route.key].name == "Route" + "".join(w.capitalize() for w in words)


def test_nothing_reads_the_callers_address_from_a_header(assembly: Assembly) -> None:
    """Any client may send such a header: only the gateway's own `sourceIp` counts."""
    folders = (ROOT / "backend", ROOT / "infra")
    sources = [path.read_text() for each in folders for path in each.rglob("*.py")]
    header = re.compile("x-forwarded-for|x-real-ip|forwardedipconfig|client-ip", re.IGNORECASE)
    for text in (json.dumps(assembly.templates), *sources):
        assert header.search(text) is None
    (stage,) = assembly.of_type("AWS::ApiGatewayV2::Stage").values()
    log = json.loads(stage.properties["AccessLogSettings"]["Format"])
    assert log["sourceIp"] == "$context.identity.sourceIp"


def test_no_route_has_limits_of_its_own_unless_the_stage_names_its_group(
    assembly: Assembly,
) -> None:
    (stage,) = assembly.of_type("AWS::ApiGatewayV2::Stage").values()
    assert "RouteSettings" not in stage.properties


def test_each_route_of_a_named_group_has_its_limits_and_exists_before_the_stage(
    hardened: Assembly,
) -> None:
    (stage,) = hardened.of_type("AWS::ApiGatewayV2::Stage").values()
    limits = {"search": (20, 40), "public": (5, 10)}
    throttled = {route for route in ROUTES if route.throttle in limits}
    assert stage.properties["RouteSettings"] == {
        route.key: {
            "ThrottlingRateLimit": limits[str(route.throttle)][0],
            "ThrottlingBurstLimit": limits[str(route.throttle)][1],
        }
        for route in throttled
    }
    # API Gateway refuses settings of a route that does not exist.
    assert {_routes(hardened)[r.key].name for r in throttled} <= set(stage.body["DependsOn"])


def test_a_route_that_costs_or_needs_no_credentials_is_in_a_group(
    subtests: pytest.Subtests,
) -> None:
    for route in ROUTES:
        with subtests.test(route.key):
            groups = {"search": "search", "exports": "export"}
            expected = "public" if route.public else groups.get(route.domain)
            if route is LIST_SIMILAR_FILES:
                expected = "search"
            assert route.throttle == (expected or route.throttle)
            assert (expected is None) == (route.throttle in {None, "signIn"})


def test_what_a_client_requests_at_sign_in_is_in_a_group() -> None:
    signing_in = {route.path for route in ROUTES if route.throttle == "signIn"}
    assert signing_in == {"/auth/routes", "/auth/loginProfile/{userId}"}
