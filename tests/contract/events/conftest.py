"""The engines for the contract suite of the bus: the fake, moto's EventBridge, queues in its place.

Events of moto's bus are received by a queue that is the target of a rule.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from backend.aws.event_bus import EventBridgeBus, QueuedEvents
from backend.aws.queues import SqsQueues
from backend.aws.settings import Settings
from backend.core.event_bus import EventBus
from backend.core.ids import new_uuid
from backend.spec.events import SOURCE
from backend.spec.queues import EVENT_FEED
from tests.engines import RealEngines, session
from tests.fakes.event_bus import MemoryBus

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class Place(NamedTuple):
    """A bus, and what a reader of it receives: type, time and detail of each event."""

    bus: EventBus
    received: Callable[[], list[tuple[str, str, Any]]]


@pytest.fixture(params=("memory", "EventBridge", "moto", "ElasticMQ"))
def place(request: pytest.FixtureRequest) -> Place:
    """A bus of the test's own."""
    if request.param == "memory":
        bus = MemoryBus()
        return Place(bus, lambda: [(e.type, e.at, e.detail) for e in bus.published])
    name = f"b-{new_uuid()[:8]}"
    if request.param == "ElasticMQ":
        engines: RealEngines = request.getfixturevalue("engines")
        client = engines.sqs
    else:
        client = session().client("sqs", endpoint_url=request.getfixturevalue("moto_url"))
    url = client.create_queue(QueueName=name)["QueueUrl"]

    def received() -> list[tuple[str, str, Any]]:
        return _received(client, url)

    if request.param != "EventBridge":
        settings = Settings({f"QUEUE_{EVENT_FEED.name}": url, "SETTING_EVENTS": "queue"})
        return Place(QueuedEvents(SqsQueues(client, settings)), received)
    events = session().client("events", endpoint_url=request.getfixturevalue("moto_url"))
    events.create_event_bus(Name=name)
    pattern = json.dumps({"source": [SOURCE]})
    events.put_rule(Name=name, EventBusName=name, EventPattern=pattern)
    attributes = client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    arn = attributes["Attributes"]["QueueArn"]
    events.put_targets(Rule=name, EventBusName=name, Targets=[{"Id": name, "Arn": arn}])
    return Place(EventBridgeBus(events, name), received)


def _received(client: "SQSClient", url: str) -> list[tuple[str, str, Any]]:
    result: list[tuple[str, str, Any]] = []
    while True:
        reply = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        bodies = [json.loads(message.get("Body", "")) for message in reply.get("Messages", [])]
        if not bodies:
            return result
        assert {body["source"] for body in bodies} == {SOURCE}
        result += [(body["detail-type"], body["time"], body["detail"]) for body in bodies]
