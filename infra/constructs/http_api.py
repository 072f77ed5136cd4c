"""The HTTP API: explicit routes to one function a domain, behind one authorizer."""

from collections.abc import Iterable, Mapping

from aws_cdk import Duration, Stack
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_

from backend.spec.routes import Route
from infra.constructs.logs import log_group
from infra.constructs.naming import name_exactly
from infra.settings import Settings

AUTHORIZER_CACHE_SECONDS = 5
"""How long a revoked key may go on working."""

CORS_REQUEST_HEADERS = ("authorization", "content-type", "if-match", "if-none-match")
CORS_REPLY_HEADERS = ("etag", "location", "retry-after")
CORS_SECONDS = 3600

ACCESS_LOG_FORMAT = {
    "requestId": "$context.requestId",
    "time": "$context.requestTimeEpoch",
    "route": "$context.routeKey",
    "path": "$context.path",
    "status": "$context.status",
    "sourceIp": "$context.identity.sourceIp",
    "authorizerError": "$context.authorizer.error",
    "integrationError": "$context.integrationErrorMessage",
    "latency": "$context.responseLatency",
    "bytes": "$context.responseLength",
}


class HttpApi:
    """One HTTP API in a stack; `add` gives it routes."""

    def __init__(self, stack: Stack, *, settings: Settings, authorizer: lambda_.Function) -> None:
        self._stack = stack
        origins = [settings.web_url or "*"]
        self.api = gateway.HttpApi(
            stack,
            "HttpApi",
            description="Vitrine",
            create_default_stage=False,
            cors_preflight=gateway.CorsPreflightOptions(
                allow_origins=origins,
                allow_methods=[gateway.CorsHttpMethod.ANY],
                allow_headers=list(CORS_REQUEST_HEADERS),
                expose_headers=list(CORS_REPLY_HEADERS),
                max_age=Duration.seconds(CORS_SECONDS),
            ),
        )
        name_exactly(self.api, "HttpApi")
        self._authorizer = authorizers.HttpLambdaAuthorizer(
            "Authorizer",
            authorizer,
            response_types=[authorizers.HttpLambdaResponseType.SIMPLE],
            identity_source=["$request.header.Authorization"],
            results_cache_ttl=Duration.seconds(AUTHORIZER_CACHE_SECONDS),
        )
        self._default_stage(settings)

    @property
    def url(self) -> str:
        """The address of the API, without a trailing slash."""
        return self.api.api_endpoint

    def add(self, routes: Iterable[Route], functions: Mapping[str, lambda_.Function]) -> None:
        """Send each route to the function of its domain; all but public ones are authorized.

        Raises:
            KeyError: a route's domain has no function.
        """
        reached = {
            domain: integrations.HttpLambdaIntegration(
                function.node.id, function, scope_permission_to_route=False
            )
            for domain, function in functions.items()
        }
        for route in routes:
            gateway.HttpRoute(
                self._stack,
                f"Route-{route.domain}-{route.name}",
                http_api=self.api,
                route_key=gateway.HttpRouteKey.with_(route.path, gateway.HttpMethod[route.method]),
                integration=reached[route.domain],
                authorizer=None if route.public else self._authorizer,
            )

    def _default_stage(self, settings: Settings) -> None:
        group = log_group(self._stack, "ApiAccessLogs", days=settings.log_retention_days)
        stage = gateway.CfnStage(
            self._stack,
            "DefaultStage",
            api_id=self.api.api_id,
            stage_name="$default",
            auto_deploy=True,
            default_route_settings=gateway.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=settings.api_requests_per_second,
                throttling_burst_limit=settings.api_burst,
                detailed_metrics_enabled=True,
            ),
            access_log_settings=gateway.CfnStage.AccessLogSettingsProperty(
                destination_arn=group.log_group_arn,
                format=self._stack.to_json_string(ACCESS_LOG_FORMAT),
            ),
        )
        stage.override_logical_id("DefaultStage")
