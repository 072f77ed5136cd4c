"""The HTTP API: explicit routes to one function per domain, with one authorizer.

It consists of plain resources: CDK's own constructs name a domain's integration after its first
route, and would replace it when the order of routes changes.
"""

import json
import re
from collections.abc import Iterable

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_

from backend.spec.routes import Route
from infra.constructs.in_turn import InTurn
from infra.constructs.logs import log_group
from infra.settings import Settings

# Maximum time for which a revoked key is still accepted, and for which the mark of an outage is
# kept (decision 32). Without a cache, each request would call the authorizer.
AUTHORIZER_CACHE_SECONDS = 5

CORS_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
CORS_REQUEST_HEADERS = (
    *("authorization", "content-type", "if-match", "if-modified-since", "if-none-match"),
    *("if-range", "range", "x-after"),
)
CORS_REPLY_HEADERS = (
    *("accept-ranges", "content-disposition", "content-length", "content-range", "etag"),
    *("last-modified", "location", "retry-after", "x-ignored-fields", "x-sync-token"),
)
# Browsers repeat the preflight request after that time; the allowed origins change with a
# deployment only.
CORS_SECONDS = 3600

# Integrations and routes that CloudFormation creates in parallel. All calls of an account to the
# control plane share ten a second, and each creation takes several. Source: "Amazon API Gateway
# quotas", quotas of the management API.
CREATED_AT_ONCE = 5

_WORD = re.compile(r"[A-Za-z]+")

ACCESS_LOG = {
    "requestId": "$context.requestId",
    "time": "$context.requestTimeEpoch",
    "route": "$context.routeKey",
    "path": "$context.path",
    "status": "$context.status",
    "sourceIp": "$context.identity.sourceIp",
    # Of who sent a request through the page's distribution; then `sourceIp` is CloudFront's.
    "viewer": "$context.authorizer.viewer",
    "userId": "$context.authorizer.userId",
    "apiKeyId": "$context.authorizer.apiKeyId",
    "authorizerError": "$context.authorizer.error",
    "integrationError": "$context.integrationErrorMessage",
    "latency": "$context.responseLatency",
    "bytes": "$context.responseLength",
}


class HttpApi:
    """One HTTP API in a stack; `connect` adds the routes of a domain."""

    def __init__(
        self,
        stack: Stack,
        *,
        settings: Settings,
        authorizer: lambda_.Function,
        key: kms.IKey | None,
    ) -> None:
        self._stack = stack
        self._key = key
        self.api = gateway.CfnApi(
            stack,
            "HttpApi",
            name=f"vitrine-{settings.stage}",
            protocol_type="HTTP",
            cors_configuration=_cors(settings.web_url),
        )
        self._authorizer = self._make_authorizer(authorizer, settings)
        self._throttles = settings.route_throttles
        self._route_settings: dict[str, dict[str, int]] = {}
        self._in_turn = InTurn(CREATED_AT_ONCE)
        self._stage = self._make_stage(settings)

    @property
    def url(self) -> str:
        """Return the address of the API, without a trailing slash."""
        return self.api.attr_api_endpoint

    def connect(
        self,
        function: lambda_.Function,
        name: str,
        routes: Iterable[Route],
        later_keys: Iterable[str] = (),
    ) -> None:
        """Send `routes` and requests to the route keys of later contracts to that function.

        All but public routes require authorization.
        """
        integration = gateway.CfnIntegration(
            self._stack,
            f"{name}Integration",
            api_id=self.api.ref,
            integration_type="AWS_PROXY",
            integration_uri=function.function_arn,
            payload_format_version="2.0",
        )
        self._create_in_turn(integration)
        self._allow_invocation(function, name, below="*/*")
        for route in routes:
            logical_id = f"Route{_camel(route.domain)}{_camel(route.name)}"
            self._add(logical_id, route.key, integration, route)
            for number, path in enumerate(route.aliases, start=1):
                self._add(
                    f"{logical_id}Alias{number}", f"{route.method} {path}", integration, route
                )
        for key in later_keys:
            logical_id = "RouteLater" + "".join(map(str.title, _WORD.findall(key)))
            self._add(logical_id, key, integration)

    def _add(
        self,
        logical_id: str,
        key: str,
        integration: gateway.CfnIntegration,
        route: Route | None = None,
    ) -> None:
        is_public = route is not None and route.public
        made = gateway.CfnRoute(
            self._stack,
            logical_id,
            api_id=self.api.ref,
            route_key=key,
            target=f"integrations/{integration.ref}",
            authorization_type="NONE" if is_public else "CUSTOM",
            authorizer_id=None if is_public else self._authorizer.ref,
        )
        self._create_in_turn(made)
        limits = self._throttles.get(route.throttle) if route and route.throttle else None
        if limits is not None:
            self._route_settings[key] = {
                "ThrottlingRateLimit": limits.requests_per_second,
                "ThrottlingBurstLimit": limits.burst,
            }
            # API Gateway rejects settings of a route that does not exist yet, so the stage is
            # created last.
            self._stage.route_settings = self._route_settings

    def _create_in_turn(self, made: CfnResource) -> None:
        """Create it after all but the last few, and the stage after it."""
        self._in_turn.add(made)
        # The stage deploys automatically: each route that is created after it would be a deployment
        # of its own.
        self._stage.add_resource_dependency(made)

    def _make_authorizer(
        self, function: lambda_.Function, settings: Settings
    ) -> gateway.CfnAuthorizer:
        # A cached decision for an allowed address must not apply to another one. The addresses of
        # viewers are in a header, which requests to the API's own address lack.
        address = ["$context.identity.sourceIp"] if settings.allowed_ip_ranges else []
        is_cached = not (address and settings.page)
        region, partition = self._stack.region, self._stack.partition
        authorizer = gateway.CfnAuthorizer(
            self._stack,
            "ApiAuthorizer",
            api_id=self.api.ref,
            name="caller",
            authorizer_type="REQUEST",
            authorizer_payload_format_version="2.0",
            authorizer_result_ttl_in_seconds=AUTHORIZER_CACHE_SECONDS if is_cached else 0,
            authorizer_uri=(
                f"arn:{partition}:apigateway:{region}:lambda:path/2015-03-31/functions/"
                f"{function.function_arn}/invocations"
            ),
            enable_simple_responses=True,
            identity_source=["$request.header.Authorization", *address],
        )
        self._allow_invocation(function, "Authorizer", below=f"authorizers/{authorizer.ref}")
        return authorizer

    def _allow_invocation(self, function: lambda_.Function, name: str, *, below: str) -> None:
        lambda_.CfnPermission(
            self._stack,
            f"{name}Invocation",
            action="lambda:InvokeFunction",
            function_name=function.function_arn,
            principal="apigateway.amazonaws.com",
            source_arn=self._stack.format_arn(
                service="execute-api", resource=self.api.ref, resource_name=below
            ),
        )

    def _make_stage(self, settings: Settings) -> gateway.CfnStage:
        group = log_group(
            self._stack, "ApiAccessLogs", days=settings.log_retention_days, key=self._key
        )
        return gateway.CfnStage(
            self._stack,
            "DefaultStage",
            api_id=self.api.ref,
            stage_name="$default",
            auto_deploy=True,
            default_route_settings=gateway.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=settings.api_requests_per_second,
                throttling_burst_limit=settings.api_burst,
                detailed_metrics_enabled=settings.detailed_route_metrics,
            ),
            access_log_settings=gateway.CfnStage.AccessLogSettingsProperty(
                destination_arn=group.log_group_arn, format=json.dumps(ACCESS_LOG)
            ),
        )


def _cors(web_url: str) -> gateway.CfnApi.CorsProperty | None:
    """Let the pages of `web_url` call the API.

    Without it, pages of other origins may not call it.
    """
    if not web_url:
        return None
    return gateway.CfnApi.CorsProperty(
        allow_origins=[web_url],
        allow_methods=list(CORS_METHODS),
        allow_headers=list(CORS_REQUEST_HEADERS),
        expose_headers=list(CORS_REPLY_HEADERS),
        max_age=CORS_SECONDS,
    )


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
