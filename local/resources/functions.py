"""Lambda functions, layers and event source mappings."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field

from local import arns
from local.assembly import Resource
from local.function_process import FunctionSpec
from local.iam import actions
from local.iam.actions import Need
from local.plan import QueueMapping, StreamMapping
from local.resources.base import Context, Created, Properties, parse, refusal

_Number = TypeVar("_Number", int, float)


class Code(Properties):
    """An asset of the assembly."""

    no_effect = "S3ObjectVersion"

    s3_bucket: str
    s3_key: str


class Environment(Properties):
    """The environment variables."""

    variables: Mapping[str, str] = Field(default_factory=dict[str, str])


class Logging(Properties):
    """The log group of the function on AWS; here its log is a file."""

    no_effect = "ApplicationLogLevel LogFormat SystemLogLevel"

    log_group: str | None = None


class Tenancy(Properties):
    """Whether a process serves the calls of one tenant only."""

    tenant_isolation_mode: Literal["PER_TENANT"]


class LambdaFunction(Properties):
    """`AWS::Lambda::Function`; networks, tracing and forms of logs have no effect here."""

    no_effect = (
        "Architectures DeadLetterConfig Description EphemeralStorage KmsKeyArn RecursiveLoop "
        "RuntimeManagementConfig Tags TracingConfig VpcConfig"
    )

    code: Code
    handler: str
    role: str
    runtime: str
    function_name: str | None = None
    environment: Environment = Environment()
    layers: tuple[str, ...] = ()
    memory_size: int = 128
    reserved_concurrent_executions: int | None = None
    timeout: float = 3
    package_type: str = "Zip"
    logging_config: Logging = Logging()
    tenancy_config: Tenancy | None = None


class Layer(Properties):
    """`AWS::Lambda::LayerVersion`."""

    no_effect = "CompatibleArchitectures CompatibleRuntimes Description LayerName LicenseInfo"

    content: Code


class ErrorDestination(Properties):
    """The destination of a batch that is no longer retried."""

    destination: str


class Destinations(Properties):
    """Only failures have a destination."""

    on_failure: ErrorDestination | None = None


class Filter(Properties):
    """A pattern over records."""

    pattern: str


class Filters(Properties):
    """Patterns, of which one must match."""

    filters: tuple[Filter, ...] = ()


class Scaling(Properties):
    """Maximum number of batches of a queue at the same time."""

    maximum_concurrency: int | None = None


class EventSourceMapping(Properties):
    """`AWS::Lambda::EventSourceMapping` of a table's stream or a queue."""

    # Several readers of a shard keep the order of each item, too: they would only be faster.
    no_effect = "KmsKeyArn MetricsConfig ParallelizationFactor Tags"

    event_source_arn: str
    function_name: str
    batch_size: int | None = None
    bisect_batch_on_function_error: bool = False
    destination_config: Destinations | None = None
    enabled: bool = True
    filter_criteria: Filters | None = None
    function_response_types: tuple[str, ...] = ()
    maximum_batching_window_in_seconds: float = 0
    maximum_record_age_in_seconds: float | None = None
    maximum_retry_attempts: int | None = None
    scaling_config: Scaling | None = None
    starting_position: str | None = None


def create_function(context: Context, resource: Resource) -> Created:
    """Make the function callable."""
    declared = parse(LambdaFunction, resource)
    if not declared.runtime.startswith("python") or declared.package_type != "Zip":
        raise refusal(resource, f"the runtime {declared.runtime} is not supported locally")
    name = declared.function_name or arns.physical_name(
        resource.stack, resource.logical_id, limit=64
    )
    function_arn = arns.arn("lambda", f"function:{name}")
    layers = [context.plan.layers.get(layer) for layer in declared.layers]
    if None in layers:
        raise refusal(resource, f"a layer of {declared.layers} is not in the assembly")
    group = declared.logging_config.log_group or f"/aws/lambda/{name}"
    _require(context, resource, declared.role, actions.log_writing(group, context.roles.place()))
    context.register(
        FunctionSpec(
            name=name,
            arn=function_arn,
            role=declared.role,
            handler=declared.handler,
            runtime=declared.runtime,
            code=_asset(context, resource, declared.code),
            layers=tuple(Path(layer) for layer in layers if layer is not None),
            environment=declared.environment.variables,
            timeout=declared.timeout,
            memory=declared.memory_size,
            concurrency=declared.reserved_concurrent_executions,
            per_tenant=declared.tenancy_config is not None,
        )
    )
    return Created(name, {"Arn": function_arn})


def create_layer(context: Context, resource: Resource) -> Created:
    """Make the layer importable: its pinned requirements are installed for this Python."""
    declared = parse(Layer, resource)
    requirements = _asset(context, resource, declared.content) / "requirements.txt"
    # A layer that was bundled for Lambda contains `python/`, built for another platform.
    if not requirements.is_file():
        raise refusal(resource, "the layer's asset holds no requirements.txt; synthesize unbundled")
    installed = context.install_layer(requirements)
    name = arns.physical_name(resource.stack, resource.logical_id, limit=140)
    layer_arn = arns.arn("lambda", f"layer:{name}:1")
    context.plan.layers[layer_arn] = str(installed)
    return Created(layer_arn, {"LayerVersionArn": layer_arn})


def create_mapping(context: Context, resource: Resource) -> Created:
    """Add the mapping to the plan; the pumps start when all resources are created."""
    declared = parse(EventSourceMapping, resource)
    mapping_id = arns.stable_id(resource.stack, resource.logical_id)
    created = Created(mapping_id, {"Id": mapping_id})
    if not declared.enabled:
        return created
    reports = "ReportBatchItemFailures" in declared.function_response_types
    criteria = declared.filter_criteria or Filters()
    filters = tuple(criterion.pattern for criterion in criteria.filters)
    service = declared.event_source_arn.split(":")[2]
    # The role has to let Lambda read the source and report failures.
    place, needs = context.roles.place(), list[Need]()
    by_service = {"sqs": actions.queue_mapping, "dynamodb": actions.stream_mapping}
    if service in by_service:
        needs += by_service[service](declared.event_source_arn, place)
    destinations = declared.destination_config
    if destinations and destinations.on_failure:
        needs += actions.failure_destination(destinations.on_failure.destination, place)
    _require(context, resource, context.role_of(declared.function_name), needs)
    if service == "sqs":
        scaling = declared.scaling_config
        context.plan.queue_mappings.append(
            QueueMapping(
                id=mapping_id,
                function=declared.function_name,
                batch_size=declared.batch_size or 10,
                window=declared.maximum_batching_window_in_seconds,
                filters=filters,
                reports_failures=reports,
                queue_arn=declared.event_source_arn,
                concurrency=scaling.maximum_concurrency if scaling else None,
            )
        )
    elif service == "dynamodb":
        context.plan.streams.append(_stream_mapping(declared, mapping_id, filters, reports=reports))
    else:
        raise refusal(resource, f"events of {service} are not supported by the local runtime")
    return created


def _require(context: Context, resource: Resource, role: str, needs: Iterable[Need]) -> None:
    """Reject the resource if its function's role lacks a permission that Lambda needs."""
    lacking = context.roles.lacks(role, needs)
    if lacking is not None:
        fact = f"does not have permissions to call {lacking.action} on {lacking.resource}"
        raise refusal(resource, f"the provided execution role {role} {fact}")


def _stream_mapping(
    declared: EventSourceMapping, mapping_id: str, filters: tuple[str, ...], *, reports: bool
) -> StreamMapping:
    destinations = declared.destination_config
    on_failure = destinations.on_failure if destinations else None
    return StreamMapping(
        id=mapping_id,
        function=declared.function_name,
        batch_size=declared.batch_size or 100,
        window=declared.maximum_batching_window_in_seconds,
        filters=filters,
        reports_failures=reports,
        stream_arn=declared.event_source_arn,
        from_start=declared.starting_position == "TRIM_HORIZON",
        bisects=declared.bisect_batch_on_function_error,
        maximum_retries=_bounded(declared.maximum_retry_attempts),
        maximum_age=_bounded(declared.maximum_record_age_in_seconds),
        on_failure=on_failure.destination if on_failure else None,
    )


def _bounded(value: _Number | None) -> _Number | None:
    """Return None for -1."""
    # In a template, -1 means the same as omitting the limit.
    return None if value is None or value < 0 else value


def _asset(context: Context, resource: Resource, code: Code) -> Path:
    path = context.assets.get(code.s3_key)
    if path is None or not path.is_dir():
        raise refusal(resource, f"the asset {code.s3_key} is not a folder of the assembly")
    return path.resolve()
