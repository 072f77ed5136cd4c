"""The engines for the contract suite of queues: the fake, moto and ElasticMQ."""

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from backend.aws.queues import SqsQueues
from backend.aws.settings import Settings
from backend.core.ids import new_uuid
from backend.core.queues import Queues
from backend.spec.queues import SETTLE
from tests.engines import RealEngines, session
from tests.fakes.queues import MemoryQueues

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

ENGINES = ("memory", "moto", "ElasticMQ")
HIDDEN_SECONDS = 60


@dataclass(frozen=True)
class Received:
    body: Any
    receipt: str


class Mailbox(Protocol):
    """The consumers' side of a queue, and its clock."""

    @property
    def queues(self) -> Queues: ...
    def receive(self) -> list[Received]:
        """All messages that are visible now; they are hidden for a minute."""
        ...

    def now(self) -> float:
        """Seconds on the clock of the queue."""
        ...

    def wait(self, seconds: float) -> None: ...


@dataclass
class MemoryMailbox:
    def __post_init__(self) -> None:
        self.seconds = 0.0
        self.queues = MemoryQueues(now=lambda: self.seconds)

    def receive(self) -> list[Received]:
        result = self.queues.receive(self.queues.visible(SETTLE), hidden_seconds=HIDDEN_SECONDS)
        return [Received(json.loads(item["body"]), item["receiptHandle"]) for item in result]

    def now(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass(frozen=True)
class SqsMailbox:
    client: "SQSClient"
    url: str

    @property
    def queues(self) -> Queues:
        return SqsQueues(self.client, Settings({f"QUEUE_{SETTLE.name}": self.url}))

    def receive(self) -> list[Received]:
        result: list[Received] = []
        while True:
            reply = self.client.receive_message(
                QueueUrl=self.url, MaxNumberOfMessages=10, VisibilityTimeout=HIDDEN_SECONDS
            )
            messages = reply.get("Messages", [])
            if not messages:
                return result
            result += (
                Received(json.loads(m.get("Body", "")), m.get("ReceiptHandle", ""))
                for m in messages
            )

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


@pytest.fixture(params=ENGINES)
def mailbox(request: pytest.FixtureRequest) -> Mailbox:
    """A queue of the test's own."""
    if request.param == "memory":
        return MemoryMailbox()
    if request.param == "moto":
        client = session().client("sqs", endpoint_url=request.getfixturevalue("moto_url"))
    else:
        engines: RealEngines = request.getfixturevalue("engines")
        client = engines.sqs
    return SqsMailbox(client, client.create_queue(QueueName=f"q-{new_uuid()[:8]}")["QueueUrl"])
