"""The HTTP API, one function per domain, and the authorizer."""

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from backend.spec.functions import FUNCTIONS
from backend.spec.functions.apis import CONFIGURATION_API
from backend.spec.functions.operations import AUTHORIZER
from backend.spec.metrics import DENIALS_NOT_ENTERED, NAMESPACE, OF_API, ROUTES_NOT_SERVED
from backend.spec.routes import ROUTES
from backend.spec.routes.later import GATEWAY_KEYS
from infra.assets import Folders
from infra.constructs.alarms import Alarms
from infra.constructs.function import FunctionsOf
from infra.constructs.http_api import HttpApi
from infra.constructs.naming import output
from infra.constructs.updates import export
from infra.resources import Resources
from infra.settings import Settings

SERVER_ERRORS = 5
"""Server errors in five minutes above which an alarm is raised."""


SLOW_MILLISECONDS = 5_000
"""Latency of the slowest requests above which an alarm is raised; they may take 29 seconds."""


class ApiStack(Stack):
    """The API that clients call."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        resources: Resources,
        folders: Folders,
    ) -> None:
        super().__init__(scope, name, description="Vitrine: the HTTP API and its functions")
        functions = FunctionsOf(self, settings=settings, resources=resources, folders=folders)
        api = HttpApi(
            self,
            settings=settings,
            authorizer=functions.make(AUTHORIZER),
            key=resources.key,
        )
        # Without search nothing is indexed, and no indexing can fail.
        left_out = {"operations"} if resources.domain is None else set[str]()
        for spec in FUNCTIONS:
            if spec.kind == "api" and spec.domain not in left_out:
                routes = [route for route in ROUTES if route.domain == spec.domain]
                later = GATEWAY_KEYS if spec is CONFIGURATION_API else ()
                api.connect(functions.make(spec), spec.name, routes, later)
        export(self, api.api.ref)
        resources.api = api.api.ref
        self._watch(resources.alarms, api)
        output(self, "ApiUrl", api.url, "The address of the REST API")

    def _watch(self, alarms: Alarms, api: HttpApi) -> None:
        errors = cloudwatch.Metric(
            namespace="AWS/ApiGateway",
            metric_name="5xx",
            dimensions_map={"ApiId": api.api.ref},
            statistic="Sum",
        )
        not_served = cloudwatch.Metric(
            namespace=NAMESPACE,
            metric_name=ROUTES_NOT_SERVED.name,
            dimensions_map=OF_API,
            statistic="Sum",
        )
        alarms.positive(
            "ApiServerErrorsAlarm",
            f"errors - FILL(notServed, 0) - {SERVER_ERRORS}",
            metrics={"errors": errors, "notServed": not_served},
            description="The API answered with more than a few server errors",
        )
        alarms.above(
            "ApiLatencyAlarm",
            cloudwatch.Metric(
                namespace="AWS/ApiGateway",
                metric_name="Latency",
                dimensions_map={"ApiId": api.api.ref},
            ),
            statistic="p95",
            threshold=SLOW_MILLISECONDS,
            description="One of twenty requests took long for a quarter of an hour",
            periods=3,
        )
        # A query for all tables: alarms may not refer to them (see `AlarmsStack`).
        for name, metric, keys in (
            ("TableReads", "ReadThrottleEvents", "TableName"),
            ("TableWrites", "WriteThrottleEvents", "TableName"),
            ("IndexReads", "ReadThrottleEvents", "TableName, GlobalSecondaryIndexName"),
            ("IndexWrites", "WriteThrottleEvents", "TableName, GlobalSecondaryIndexName"),
        ):
            alarms.positive(
                f"{name}ThrottledAlarm",
                f'SELECT SUM({metric}) FROM SCHEMA("AWS/DynamoDB", {keys})',
                description="DynamoDB throttled a table of the account: a partition is used too "
                "often, or the account's quota is used up",
            )
        alarms.above(
            f"{DENIALS_NOT_ENTERED.name}Alarm",
            cloudwatch.Metric(
                namespace=NAMESPACE, metric_name=DENIALS_NOT_ENTERED.name, dimensions_map=OF_API
            ),
            statistic="Sum",
            threshold=0,
            description=f"The API {DENIALS_NOT_ENTERED.description}",
        )
