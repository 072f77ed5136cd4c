"""HTTP APIs: routes, integrations, authorizers and the stage."""

from typing import Literal

from pydantic import Field

from local import arns
from local.assembly import Resource
from local.plan import Api, Authorizer, Cors, Integration, Route
from local.resources.base import Context, Created, Properties, parse, refusal

# The maximum integration time-out of HTTP APIs. Source: "Amazon API Gateway quotas".
_DEFAULT_TIMEOUT_MS = 30_000


class CorsConfiguration(Properties):
    """The CORS settings for browsers of other origins."""

    allow_credentials: bool = False
    allow_headers: tuple[str, ...] = ()
    allow_methods: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    expose_headers: tuple[str, ...] = ()
    max_age: int | None = None


class HttpApi(Properties):
    """`AWS::ApiGatewayV2::Api` for HTTP."""

    no_effect = "Description DisableExecuteApiEndpoint Tags"

    name: str
    protocol_type: Literal["HTTP"]
    cors_configuration: CorsConfiguration | None = None


class HttpRoute(Properties):
    """`AWS::ApiGatewayV2::Route`."""

    api_id: str
    route_key: str
    target: str
    authorization_type: Literal["NONE", "CUSTOM"] = "NONE"
    authorizer_id: str | None = None


class HttpIntegration(Properties):
    """`AWS::ApiGatewayV2::Integration` of a function, payload format 2.0."""

    no_effect = "Description IntegrationMethod"

    api_id: str
    integration_type: Literal["AWS_PROXY"]
    integration_uri: str
    payload_format_version: Literal["2.0"]
    timeout_in_millis: int = _DEFAULT_TIMEOUT_MS
    connection_type: Literal["INTERNET"] = "INTERNET"


class HttpAuthorizer(Properties):
    """`AWS::ApiGatewayV2::Authorizer`: a function with simple responses."""

    no_effect = "AuthorizerCredentialsArn Name"

    api_id: str
    authorizer_type: Literal["REQUEST"]
    authorizer_uri: str
    authorizer_payload_format_version: Literal["2.0"]
    enable_simple_responses: Literal[True]
    identity_source: tuple[str, ...] = ()
    authorizer_result_ttl_in_seconds: float = 300


class HttpStage(Properties):
    """`AWS::ApiGatewayV2::Stage`; throttling and access logs have no effect here."""

    no_effect = "AccessLogSettings AutoDeploy DefaultRouteSettings Description RouteSettings Tags"

    api_id: str
    stage_name: str
    stage_variables: None = Field(default=None)


def create_api(context: Context, resource: Resource) -> Created:
    """Add the API to the plan; the gateway serves one.

    Raises:
        AssemblyError: there is a second one.
    """
    declared = parse(HttpApi, resource)
    if context.plan.apis:
        raise refusal(resource, "the local runtime serves one HTTP API; this is a second one")
    api_id = arns.stable_id(resource.stack, resource.logical_id).replace("-", "")[:10]
    cors = declared.cors_configuration
    context.plan.apis[api_id] = Api(
        id=api_id,
        name=declared.name,
        cors=Cors(
            origins=tuple(cors.allow_origins),
            methods=tuple(cors.allow_methods),
            headers=tuple(cors.allow_headers),
            exposed=tuple(cors.expose_headers),
            credentials=cors.allow_credentials,
            max_age=cors.max_age,
        )
        if cors
        else None,
    )
    return Created(api_id, {"ApiEndpoint": context.api_url, "ApiId": api_id})


def create_route(context: Context, resource: Resource) -> Created:
    """Add the route to the plan."""
    declared = parse(HttpRoute, resource)
    needs = declared.authorization_type == "CUSTOM"
    if needs and declared.authorizer_id is None:
        raise refusal(resource, "a CUSTOM authorization needs an AuthorizerId")
    _api(context, resource, declared.api_id).routes.append(
        Route(
            key=declared.route_key,
            integration=declared.target.removeprefix("integrations/"),
            authorizer=declared.authorizer_id if needs else None,
        )
    )
    return Created(arns.stable_id(resource.stack, resource.logical_id))


def create_integration(context: Context, resource: Resource) -> Created:
    """Add the function of routes to the plan."""
    declared = parse(HttpIntegration, resource)
    integration_id = arns.stable_id(resource.stack, resource.logical_id).replace("-", "")[:7]
    _api(context, resource, declared.api_id).integrations[integration_id] = Integration(
        function=declared.integration_uri, timeout=declared.timeout_in_millis / 1000
    )
    return Created(integration_id)


def create_authorizer(context: Context, resource: Resource) -> Created:
    """Add the authorizer to the plan."""
    declared = parse(HttpAuthorizer, resource)
    authorizer_id = arns.stable_id(resource.stack, resource.logical_id).replace("-", "")[:6]
    _api(context, resource, declared.api_id).authorizers[authorizer_id] = Authorizer(
        id=authorizer_id,
        function=declared.authorizer_uri,
        identity_sources=tuple(declared.identity_source),
        cache_seconds=declared.authorizer_result_ttl_in_seconds,
    )
    return Created(authorizer_id, {"AuthorizerId": authorizer_id})


def create_stage(context: Context, resource: Resource) -> Created:
    """Add the stage to the plan; only the one without a path prefix is supported."""
    declared = parse(HttpStage, resource)
    if declared.stage_name != "$default":
        raise refusal(resource, "only the stage $default is supported by the local runtime")
    _api(context, resource, declared.api_id).stages.append(declared.stage_name)
    return Created(declared.stage_name)


def _api(context: Context, resource: Resource, api_id: str) -> Api:
    if api_id not in context.plan.apis:
        raise refusal(resource, f"no API {api_id} in the deployment")
    return context.plan.apis[api_id]
