"""The receiver of events: a bus of EventBridge with its archive, or a queue."""

from aws_cdk import Stack
from aws_cdk import aws_events as events

from backend.spec.events import SOURCE
from backend.spec.functions import Function
from backend.spec.queues import EVENT_FEED
from infra.constructs.naming import output
from infra.resources import Resources
from infra.settings import Settings

BUS = "EventBus"


def declare_events(stack: Stack, settings: Settings, resources: Resources) -> None:
    """Create the bus, and name what receives the events.

    The bus has no policy: the deployer decides who else may read it. Plain resources are used:
    CDK's bus would add its ARN to the policy of the key, whose stack is deployed before.
    """
    if settings.events == "queue":
        feed = resources.queues[EVENT_FEED.name].queue_url
        output(stack, "EventFeedUrl", feed, "The queue that receives the events")
    if settings.events != "bus":
        return
    key = resources.key.key_arn if resources.key else None
    name = f"vitrine-{settings.stage}"
    bus = resources.event_bus = events.CfnEventBus(
        stack, BUS, name=name, description="Changes of assets", kms_key_identifier=key
    )
    bus.override_logical_id(BUS)
    output(stack, "EventBusName", bus.ref, "The bus that receives the events")
    if settings.event_archive_days:
        archive = events.CfnArchive(
            stack,
            "EventArchive",
            archive_name=name,
            source_arn=bus.attr_arn,
            event_pattern={"source": [SOURCE]},
            retention_days=settings.event_archive_days,
            kms_key_identifier=key,
        )
        archive.override_logical_id("EventArchive")


def bus_variable(spec: Function, resources: Resources) -> dict[str, str]:
    """Return the environment variable with the bus, for the function that publishes on it."""
    bus = resources.event_bus
    return {"EVENT_BUS": bus.ref} if bus is not None and spec.publishes_events else {}
