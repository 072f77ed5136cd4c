"""The resources that pipelines may call, and their time limits. Pure.

The product's functions have permissions of their own, so a pipeline calls only what the deployment
declares or allows: a caller who may create pipelines must not reach any function or queue by its
name.
"""

from collections.abc import Sequence

from backend.core.errors import InvalidInputError
from backend.core.queue_urls import queue_place
from backend.core.quoting import quoted
from backend.domains.pipelines.models import PutPipelineBody, Resource
from backend.values import frozen

DEFAULT_BUS = "default"
# The default source of events, as in VAMS.
EVENT_SOURCE = "vams.pipeline"
_RESERVED_SOURCE = "aws."


@frozen
class Allowed:
    """The resources that pipelines may call.

    The product's pipeline functions, and those of a setting.
    """

    product: frozenset[str] = frozenset()
    arns: frozenset[str] = frozenset()

    def of(self, service: str) -> list[list[str]]:
        """Return the allowed ARNs of a service, each in its six parts."""
        parts = [arn.split(":", 5) for arn in sorted(self.arns)]
        return [part for part in parts if len(part) == 6 and part[2] == service]


def resource_of(body: PutPipelineBody, allowed: Allowed) -> Resource:
    """Return the resource that a body names.

    Raises:
        InvalidInputError: it names none, or one that is not allowed.
    """
    match body.pipeline_execution_type:
        case "Lambda":
            return _function(body.lambda_name, allowed)
        case "SQS":
            return _queue(body.sqs_queue_url, allowed)
        case "EventBridge":
            return _bus(body, allowed)


def check_seconds(body: PutPipelineBody) -> None:
    """Reject a heartbeat that is not shorter than the timeout.

    Raises:
        InvalidInputError: the message names the field.
    """
    timeout, heartbeat = body.task_timeout, body.task_heartbeat_timeout
    if timeout and heartbeat and int(heartbeat) >= int(timeout):
        fact = f"must be shorter than taskTimeout, which is {timeout} seconds"
        raise InvalidInputError.of("taskHeartbeatTimeout", fact)


def _function(name: str, allowed: Allowed) -> Resource:
    if name in allowed.product:
        return Resource(resource_id=name, resource_type="Lambda", is_provided=False)
    # A plain name means the allowed function of that name: its ARN is what is invoked.
    arn = _find_arn(name, allowed.of("lambda"), ":")
    if arn is None:
        own = ", ".join(sorted(allowed.product)) or "none"
        fact = (
            f"pipelines cannot call the function {quoted(name)}: use a function of the product "
            f"({own}), or add it to the deployment's setting allowedPipelineFunctions"
        )
        raise InvalidInputError.of("lambdaName", fact)
    return Resource(resource_id=arn, resource_type="Lambda")


def _queue(url: str, allowed: Allowed) -> Resource:
    place = queue_place(url)
    is_allowed = place is not None and any(
        [account, name] == [place.account, place.name] and place.region in (None, region)
        for *_, region, account, name in allowed.of("sqs")
    )
    if not is_allowed:
        fact = f"the queue {quoted(url)} is not in the deployment's setting allowedPipelineQueues"
        raise InvalidInputError.of("sqsQueueUrl", fact)
    return Resource(resource_id=url, resource_type="SQS")


def _bus(body: PutPipelineBody, allowed: Allowed) -> Resource:
    name = body.event_bridge_bus_arn or DEFAULT_BUS
    arn = _find_arn(name, allowed.of("events"), "/")
    if arn is None:
        fact = (
            f"the event bus {quoted(name)} is not in the deployment's setting allowedPipelineBuses"
        )
        raise InvalidInputError.of("eventBridgeBusArn", fact)
    source = body.event_bridge_source or EVENT_SOURCE
    if source.lower().startswith(_RESERVED_SOURCE):
        fact = f"must not begin with {quoted(_RESERVED_SOURCE)}, which EventBridge reserves for AWS"
        raise InvalidInputError.of("eventBridgeSource", fact)
    return Resource(
        resource_id=arn,
        resource_type="EventBridge",
        event_source=source,
        event_detail_type=body.event_bridge_detail_type or body.pipeline_id,
    )


def _find_arn(name: str, arns: Sequence[Sequence[str]], separator: str) -> str | None:
    """Return the allowed ARN that equals the name, or the only one that ends in it."""
    whole = [":".join(parts) for parts in arns]
    if name in whole:
        return name
    named = [arn for arn in whole if arn.rsplit(separator, 1)[-1] == name]
    return named[0] if len(named) == 1 else None
