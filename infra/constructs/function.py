"""A Lambda function as declared: handler, environment, grants, log group, size."""

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from aws_cdk import Duration, Size, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs

from backend.spec.functions import Function
from backend.spec.jobs import JOB_QUEUES
from backend.spec.metrics import NAMESPACE
from backend.spec.secrets import PAGE_EDGE_KEY
from backend.spec.tables.model import Table
from infra import grants
from infra.assets import Folders, Layer
from infra.constructs.alarms import of_lambda
from infra.constructs.event_bus import bus_variable
from infra.constructs.logs import log_group
from infra.constructs.naming import name_exactly
from infra.constructs.network import Network
from infra.constructs.state_machine import physical_name
from infra.resources import Resources
from infra.settings import Settings
from infra.settings.network import in_network

RUNTIME = lambda_.Runtime.PYTHON_3_13
ARCHITECTURE = lambda_.Architecture.ARM_64
# Temporary storage of a function whose template specifies none: Lambda's default.
STORAGE_MB = 512
# Failed calls in five minutes above which an alarm is raised. A single failure is retried or
# returned as a 500.
FAILED_CALLS = 5
# The same limit for consumers of queues. They return messages that they cannot handle. A message
# that makes the function fail is received again only minutes later, so a higher limit would not be
# reached for days.
FAILED_CALLS_OF_QUEUES = 0
# Of the memory or time-out of a function whose work depends on its input.
NEARLY = 0.9


class FunctionsOf:
    """Creates the functions of one stack, which share code and layer."""

    def __init__(
        self, stack: Stack, *, settings: Settings, resources: Resources, folders: Folders
    ) -> None:
        self._stack = stack
        self._settings = settings
        self._resources = resources
        self._code = lambda_.Code.from_asset(str(folders.code))
        self._folders = folders
        # A stack has layers of its own: CloudFormation refuses to change an export in use.
        self._layers: dict[str, lambda_.LayerVersion] = {}

    def make(
        self,
        spec: Function,
        *,
        streams: Iterable[Table] = (),
        more: Iterable[iam.PolicyStatement] = (),
    ) -> lambda_.Function:
        """Return the function, with `streams` to read and `more` grants than it declares."""
        if spec.kind == "api" and self._settings.api_only_through_page:
            spec = replace(spec, secrets=(*spec.secrets, PAGE_EDGE_KEY))
        spec = self._settings.deployed(spec)
        days, key = self._settings.log_retention_days, self._resources.key
        group = log_group(self._stack, f"{spec.name}Logs", days=days, key=key)
        network = self._resources.network if in_network(spec) else None
        if spec.kind == "reader":
            network = self._resources.readers_network
        allowed = [
            grants.write_logs(group.log_group_arn),
            *grants.statements(spec, self._resources, streams=streams),
            *more,
            *([grants.join_network()] if network is not None else []),
        ]
        level = "WARN" if self._settings.log_level == "WARNING" else self._settings.log_level
        size = None if spec.storage_mb == STORAGE_MB else Size.mebibytes(spec.storage_mb)
        layers = [self._layer("Dependencies", Layer(self._folders.layer, self._folders.layer_hash))]
        if spec.packages is not None:
            name = "".join(map(str.title, spec.packages.split("-"))) + "Dependencies"
            layers.append(self._layer(name, self._folders.packages[spec.packages]))
        function = lambda_.Function(
            self._stack,
            spec.name,
            function_name=physical_name(self._settings, spec.name),
            description=spec.description,
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            handler=spec.handler,
            code=self._code,
            layers=layers,
            memory_size=spec.memory_mb,
            timeout=Duration.seconds(spec.timeout_seconds),
            ephemeral_storage_size=size,
            reserved_concurrent_executions=self._settings.reserved_concurrency.get(spec.name),
            environment=environment(spec, settings=self._settings, resources=self._resources)
            | bus_variable(spec, self._resources),
            role=cast("iam.IRole", function_role(self._stack, spec.name, allowed)),
            log_group=group,
            logging_format=lambda_.LoggingFormat.JSON,
            application_log_level_v2=lambda_.ApplicationLogLevel[level],
            # At INFO Lambda reports the memory and time of each call, in three lines.
            system_log_level_v2=lambda_.SystemLogLevel["INFO" if _works_on_input(spec) else "WARN"],
            tenancy_config=lambda_.TenancyConfig.PER_TENANT if spec.tenant_isolation else None,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if spec.loops else None,
        )
        name_exactly(function, spec.name)
        _place(function, network)
        self._watch(spec)
        if _works_on_input(spec):
            self._watch_size(spec, group)
        return function

    def _layer(self, name: str, source: Layer) -> lambda_.LayerVersion:
        # A layer of each stack's own: a new layer has a new ARN, and CloudFormation refuses to
        # change an export that another stack uses.
        if name not in self._layers:
            layer = lambda_.LayerVersion(
                self._stack,
                name,
                code=lambda_.Code.from_asset(str(source.folder), asset_hash=source.hash),
                compatible_runtimes=[RUNTIME],
                compatible_architectures=[ARCHITECTURE],
                description="What the functions import beside the runtime's own packages",
            )
            name_exactly(layer, name)
            self._layers[name] = layer
        return self._layers[name]

    def _watch_size(self, spec: Function, group: logs.LogGroup) -> None:
        """Raise alarms before the function lacks memory or time."""
        alarms, name = self._resources.alarms, f"{spec.name}MemoryUsed"
        alarms.above(
            f"{spec.name}DurationAlarm",
            of_lambda("Duration", physical_name(self._settings, spec.name)),
            threshold=NEARLY * spec.timeout_seconds * 1000,
            description=f"{spec.name} took nearly as long as its time-out allows",
        )
        alarms.above(
            f"{spec.name}MemoryAlarm",
            cloudwatch.Metric(namespace=NAMESPACE, metric_name=name),
            threshold=NEARLY * spec.memory_mb,
            description=f"{spec.name} used nearly all of its memory",
        )
        if alarms.exist:  # CloudWatch charges for each metric
            reported = logs.CfnMetricFilter(
                self._stack,
                name,
                log_group_name=group.log_group_name,
                filter_pattern='{ $.type = "platform.report" }',
                metric_transformations=[
                    logs.CfnMetricFilter.MetricTransformationProperty(
                        metric_namespace=NAMESPACE,
                        metric_name=name,
                        metric_value="$.record.metrics.maxMemoryUsedMB",
                    )
                ],
            )
            reported.override_logical_id(name)

    def _watch(self, spec: Function) -> None:
        self._resources.alarms.above(
            f"{spec.name}ThrottledAlarm",
            of_lambda("Throttles", physical_name(self._settings, spec.name)),
            statistic="Sum",
            threshold=0,
            description=f"Lambda had no instance for {spec.name}: the account's concurrency, or "
            "that reserved for the function, was used up",
        )
        if spec.kind == "api":
            return  # the API returns a 5xx for each failed call: ApiServerErrorsAlarm
        often = "" if spec.receives else " more than a few times"
        self._resources.alarms.above(
            f"{spec.name}ErrorsAlarm",
            of_lambda("Errors", physical_name(self._settings, spec.name)),
            statistic="Sum",
            threshold=FAILED_CALLS_OF_QUEUES if spec.receives else FAILED_CALLS,
            description=f"{spec.name} failed{often}: the reason is in its log",
        )


def _works_on_input(spec: Function) -> bool:
    """Return whether memory and time depend on a file, a run or a job."""
    return spec.kind in {"reader", "pipeline", "output"} or bool(JOB_QUEUES & set(spec.receives))


def function_role(stack: Stack, name: str, allowed: list[iam.PolicyStatement]) -> iam.Role:
    """Return the role of a function, which has only these permissions."""
    role = iam.Role(
        stack,
        f"{name}Role",
        description=f"Permissions of {name}",
        assumed_by=cast("iam.IPrincipal", iam.ServicePrincipal("lambda.amazonaws.com")),
        inline_policies={"Declared": iam.PolicyDocument(statements=allowed)},
    )
    name_exactly(role, f"{name}Role")
    return role


def environment(spec: Function, *, settings: Settings, resources: Resources) -> dict[str, str]:
    """Return the environment variables of a function: the names of its resources, its settings."""
    variables = {f"TABLE_{t.name}": resources.tables[t.name].table_name for t in spec.tables}
    for bucket in spec.buckets:
        variables[f"BUCKET_{bucket.name}"] = resources.buckets[bucket.name].bucket_name
    for queue in (*spec.sends, *spec.receives, *spec.redrives):
        variables[f"QUEUE_{queue.name}"] = resources.queues[queue.name].queue_url
    for called in spec.calls:
        if called.name in resources.readers:
            name = resources.readers[called.name].function_name
            variables[f"FUNCTION_{called.name}"] = name
    for topic in spec.topics:
        variables[f"TOPIC_{topic.name}"] = resources.topics[topic.name].topic_arn
    for secret in spec.secrets:
        variables[f"SECRET_{secret.name}"] = resources.secrets[secret.name].secret_arn
    if spec.search != "none" and resources.domain is not None:
        variables["SEARCH_ENDPOINT"] = resources.domain.domain_endpoint
    if spec.user_pool != "none" and resources.user_pool and resources.user_pool_client:
        variables["USER_POOL_ID"] = resources.user_pool.user_pool_id
        variables["USER_POOL_CLIENT_ID"] = resources.user_pool_client.user_pool_client_id
    values = settings.environment()
    if spec.runs:
        variables["EXECUTIONS_STATE_MACHINE_ARN"] = resources.state_machine
        variables["EXECUTIONS_ALLOWED_ARNS"] = ",".join(settings.allowed_pipelines)
    variables |= {setting.variable: values[setting.name] for setting in spec.settings}
    variables["POWERTOOLS_SERVICE_NAME"] = spec.name
    variables["POWERTOOLS_LOG_LEVEL"] = settings.log_level
    return variables


def _place(function: lambda_.Function, network: Network | None) -> None:
    if network is None:
        return
    resource = function.node.default_child
    if not isinstance(resource, lambda_.CfnFunction):
        raise TypeError(f"{function.node.path} is not a function")
    # The property itself: the construct takes a network of CDK's own constructs only.
    resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
        subnet_ids=list(network.subnets), security_group_ids=[network.functions_group]
    )
