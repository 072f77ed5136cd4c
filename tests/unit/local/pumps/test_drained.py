"""Messages that count as pending: jobs that wait or run have one in a queue."""

import asyncio
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import boto3
import pytest

from local.clients import Clients
from local.plan import Plan, Queue, QueueMapping
from local.pumps.activity import Activity
from local.pumps.drained import Drain
from local.pumps.objects import ObjectPump

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@dataclass
class Pending:
    """One queue with a consumer, and what the runtime says of it."""

    sqs: "SQSClient"
    queue: Queue
    activity: Activity
    buckets: "Buckets | None" = None

    def report(self, *, search: str = "") -> object:
        mapping = QueueMapping(
            id="JobsToWorker",
            function="Worker",
            batch_size=1,
            window=0,
            filters=(),
            reports_failures=True,
            queue_arn=self.queue.arn,
            concurrency=None,
        )
        plan = Plan(queue_mappings=[mapping], queues={self.queue.arn: self.queue})
        clients = cast("Clients", SimpleNamespace(sqs=self.sqs))
        objects = cast("ObjectPump | None", self.buckets)
        drain = Drain(plan, clients, self.activity, streams=(), objects=objects, search=search)
        return asyncio.run(drain.report())

    def send(self, *, delay: int = 0) -> None:
        self.sqs.send_message(QueueUrl=self.queue.url, MessageBody="{}", DelaySeconds=delay)

    def receive(self) -> str:
        (message,) = self.sqs.receive_message(QueueUrl=self.queue.url).get("Messages", [])
        return message.get("ReceiptHandle", "")


@pytest.fixture
def pending() -> Pending:
    sqs = boto3.client("sqs", region_name="us-east-1")
    url = sqs.create_queue(QueueName="Jobs")["QueueUrl"]
    return Pending(sqs, Queue("Jobs", "arn:aws:sqs:::Jobs", url, {}, None), Activity())


WAITING = {"drained": False, "queues": {"Jobs": 1}}


def test_nothing_is_pending_in_an_empty_queue(pending: Pending) -> None:
    assert pending.report() == {"drained": True}


def test_a_job_that_waits_is_pending(pending: Pending) -> None:
    pending.send(delay=600)
    assert pending.report() == WAITING


def test_a_job_that_is_running_or_was_returned_is_pending(pending: Pending) -> None:
    pending.send()
    assert pending.report() == WAITING
    receipt = pending.receive()
    assert pending.report() == WAITING
    pending.sqs.change_message_visibility(
        QueueUrl=pending.queue.url, ReceiptHandle=receipt, VisibilityTimeout=300
    )
    assert pending.report() == WAITING
    pending.sqs.delete_message(QueueUrl=pending.queue.url, ReceiptHandle=receipt)
    assert pending.report() == {"drained": True}


def test_work_in_progress_is_pending(pending: Pending) -> None:
    with pending.activity.working():
        assert pending.report() == {"drained": False, "running": 1}
    assert pending.report() == {"drained": True}


@dataclass
class Buckets:
    """Buckets that are looked through in some time."""

    seconds: float
    meanwhile: Activity | None = None
    is_looking: bool = False

    async def compare(self) -> int:
        if self.meanwhile is not None:
            with self.meanwhile.working():
                pass
        await asyncio.sleep(self.seconds)
        return 0


def test_a_long_look_at_the_buckets_is_waited_for(pending: Pending) -> None:
    pending.buckets = Buckets(seconds=1.2)
    assert pending.report() == {"drained": True}


def test_a_look_at_the_buckets_is_not_waited_for_during_activity(pending: Pending) -> None:
    pending.buckets = Buckets(seconds=3600, meanwhile=pending.activity)
    assert pending.report() == {"drained": False, "objects": True}


def test_indexed_documents_are_visible_to_searches_before_all_is_drained(pending: Pending) -> None:
    requests = list[str]()

    class Engine(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.path)
            self.send_response(200 if len(requests) > 1 else 503)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Engine) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        pending.send()
        assert (pending.report(search=address), requests) == (WAITING, [])
        pending.sqs.purge_queue(QueueUrl=pending.queue.url)
        refused = pending.report(search=address)
        assert isinstance(refused, dict)
        assert (refused["drained"], "503" in refused["unavailable"]) == (False, True)
        assert pending.report(search=address) == {"drained": True}
        server.shutdown()
    assert requests == ["/_refresh", "/_refresh"]
