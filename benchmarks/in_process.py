"""Runs the whole product in one process on moto, deterministically, to count its requests.

The gateway and the event sources are direct calls of the deployed handlers. Changes of a request
are delivered to the consumers that the declarations subscribe. OpenSearch only accepts writes, and
searches find nothing. The module controls the process (environment, clock, clients), so
`benchmarks.costs` runs it in a separate one.
"""

import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module, reload
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import uuid4

import boto3
from moto import mock_aws

from backend.aws import clients, search_engine
from backend.core import clock
from backend.core.search_engine import JsonObject
from backend.spec.buckets import ASSET_BUCKET, BUCKETS
from backend.spec.functions import FUNCTIONS, Function
from backend.spec.functions.operations import BOOTSTRAP
from backend.spec.queues import (
    BUCKET_EVENTS,
    OBJECT_EVENTS,
    QUEUE_SUBSCRIPTIONS,
    QUEUES,
    STREAM_SUBSCRIPTIONS,
)
from backend.spec.routes import ROUTES, Route
from backend.spec.secrets import ADMIN_API_KEY, SECRETS
from backend.spec.settings import PROCESSING, SETTINGS, UPLOAD_RATE_PER_MINUTE
from backend.spec.tables import TABLES
from backend.spec.topics import TOPICS
from benchmarks.metering import Change, Usage, metered
from local.pumps.patterns import compile_pattern
from tests.factories.http import Context, http_event
from tests.factories.search import object_message, stream_record
from tests.factories.tables import create_table_request
from tests.fakes.search_engine import MemorySearchEngine

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CREATED = {"PutObject", "CompleteMultipartUpload", "CopyObject"}
_MAX_ROUNDS = 50
_FORGOTTEN = timedelta(seconds=3)
"""Time after which a function reads the caller's roles again."""


@dataclass
class Engine(MemorySearchEngine):
    """OpenSearch that counts its requests."""

    usage: Usage = field(default_factory=Usage)

    def bulk(self, writes: Any) -> Any:
        self.usage.requests["opensearch.bulk"] += 1
        return super().bulk(writes)

    def remove(self, removals: Any) -> Any:
        self.usage.requests["opensearch.bulk"] += 1
        return super().remove(removals)

    def search(
        self,
        indexes: Sequence[str],  # noqa: ARG002
        body: JsonObject,  # noqa: ARG002
        *,
        copy: str = "",  # noqa: ARG002
    ) -> JsonObject:
        self.usage.requests["opensearch.search"] += 1
        hits: JsonObject = {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []}
        return {"took": 1, "timed_out": False, "hits": hits}


@dataclass
class RunContext(Context):
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@dataclass(frozen=True)
class Message:
    """A message that waits in a queue until its time."""

    queue: str
    body: str
    delay_seconds: int = 0


@dataclass
class Product:
    """The deployed functions, and the events that are on their way between them."""

    engine: Engine
    moment: datetime
    changes: list[Change] = field(default_factory=list[Change])
    messages: list["Message"] = field(default_factory=list["Message"])
    _ids: "count[int]" = field(default_factory=count)

    def call(self, method: str, target: str, body: Any = None) -> Any:
        """Send one request of the administrator; return the reply's body.

        Raises:
            RuntimeError: the reply is not a success.
        """
        path, _, query = target.partition("?")
        route, parameters = _route(method, path)
        event = http_event(
            method,
            path,
            user_id="admin",
            parameters=parameters,
            query=dict(parse_qsl(query)),
            body=None if body is None else json.dumps(body),
            route=route.key,
        )
        reply = _handler(_function_of(route))(event, RunContext())
        if reply["statusCode"] not in {200, 206}:
            raise RuntimeError(f"{method} {target}: {reply['statusCode']} {reply.get('body')}")
        return None if reply.get("isBase64Encoded") else json.loads(reply["body"])

    def authorize(self) -> None:
        """Call the authorizer as the gateway does for an unknown key.

        Raises:
            RuntimeError: the key is refused.
        """
        key = clients.secrets_manager().get_secret_value(SecretId=ADMIN_API_KEY.name)
        event = {
            "version": "2.0",
            "headers": {"authorization": key["SecretString"]},
            "requestContext": {"http": {"sourceIp": "127.0.0.1"}},
        }
        function = next(f for f in FUNCTIONS if f.kind == "authorizer")
        if not _handler(function)(event, RunContext())["isAuthorized"]:
            raise RuntimeError("the administrator's key is refused")

    def drop_callers(self) -> None:
        """Let enough time pass for every function to read the permissions again."""
        self.moment += _FORGOTTEN

    def next_id(self) -> str:
        """A number of a constant length, a different one each time."""
        return f"{next(self._ids):06}"

    def measured(self, act: Callable[[], Any]) -> Usage:
        """Do something, and keep the events that it causes for `drain`."""
        with self._meter() as usage:
            act()
        return usage

    def drain(self) -> dict[str, Usage]:
        """Deliver all events and those that they cause; return the usage by function.

        During this, the clock advances as far as messages wait. Afterwards it has its previous
        time, so that the caches of functions behind the API remain valid.

        Raises:
            RuntimeError: new events are caused without end.
        """
        usages: dict[str, Usage] = {}
        before = self.moment
        for _ in range(_MAX_ROUNDS):
            self.moment += timedelta(
                seconds=max((m.delay_seconds for m in self.messages), default=0)
            )
            batches = self._taken()
            if not batches:
                self.moment = before
                return usages
            for function, records in batches:
                usage = self.measured(lambda f=function, r=records: self.deliver(f, r))
                usages[function] = _sum(usages.get(function), usage)
        raise RuntimeError("the product does not come to rest")

    def deliver(self, function: str, records: list[JsonObject]) -> None:
        """Invoke a function with records.

        Raises:
            RuntimeError: it returned some.
        """
        declared = next(f for f in FUNCTIONS if f.name == function)
        failures = _handler(declared)({"Records": records}, RunContext())
        if failures and failures.get("batchItemFailures"):
            raise RuntimeError(f"{function} returned {len(failures['batchItemFailures'])} records")

    def _taken(self) -> list[tuple[str, list[JsonObject]]]:
        """The waiting events, as batches of the functions that they invoke."""
        changes, self.changes = self.changes, []
        messages, self.messages = self.messages, []
        batches: list[tuple[str, list[JsonObject]]] = []
        for subscription in STREAM_SUBSCRIPTIONS:
            name, view = subscription.source.name, subscription.source.stream
            wanted = compile_pattern(subscription.pattern) if subscription.pattern else None
            records = [self._record(c, view) for c in changes if c.table == name]
            if matching := [r for r in records if wanted is None or wanted(r)]:
                batches.append((subscription.consumer, matching))
        for subscription in QUEUE_SUBSCRIPTIONS:
            of_queue = [m.body for m in messages if m.queue == subscription.source.name]
            for start in range(0, len(of_queue), subscription.batch_size):
                some = of_queue[start : start + subscription.batch_size]
                batches.append((subscription.consumer, [self.message(body) for body in some]))
        return batches

    def _record(self, change: Change, view: str | None) -> JsonObject:
        number = str(next(self._ids)).zfill(21)
        record = stream_record({}, change.new, event_id=number)
        images: JsonObject = record["dynamodb"]
        images["Keys"] = change.key
        if change.old is not None and view == "NEW_AND_OLD_IMAGES":
            images["OldImage"] = change.old
        if change.old is None:
            record["eventName"] = "INSERT"
        return record

    def message(self, body: str) -> JsonObject:
        """Return a message as Lambda passes it."""
        number = str(next(self._ids))
        attributes = {"ApproximateReceiveCount": "1", "SentTimestamp": "0"}
        return {
            "messageId": number,
            "receiptHandle": number,
            "body": body,
            "attributes": attributes,
        }

    @contextmanager
    def _meter(self) -> Generator[Usage]:
        queues = (clients.sqs(), clients.short_timeout_sqs())
        watched = (clients.dynamodb(), clients.s3(), *queues, clients.secrets_manager())
        with metered(*watched) as usage:
            self.engine.usage = usage
            yield usage
        self.changes += usage.changes
        # Threads send in no order: S3's events are sorted by key, so that batches are constant.
        for operation, request in sorted(usage.sent, key=lambda sent: str(sent[1].get("Key", ""))):
            self.messages += _caused(operation, request)


def _caused(operation: str, request: Mapping[str, Any]) -> list[Message]:
    """The queue messages that a request to S3 or SQS causes."""
    service, _, name = operation.partition(".")
    if service == "sqs":
        queue = str(request.get("QueueUrl", "")).rpartition("/")[2]
        return [
            Message(queue, entry["MessageBody"], entry.get("DelaySeconds", 0))
            for entry in (request, *request.get("Entries", ()))
            if "MessageBody" in entry
        ]
    keys: list[str] = []
    if name in _CREATED or name == "DeleteObject":
        keys = [request["Key"]]
    elif name == "DeleteObjects":
        keys = [row["Key"] for row in request["Delete"]["Objects"]]
    if request.get("Bucket") != ASSET_BUCKET.name.lower():
        return []
    return [
        Message(queue.name, object_message(request["Bucket"], key)["body"])
        for queue in (OBJECT_EVENTS, BUCKET_EVENTS)
        for key in keys
    ]


def _sum(usage: Usage | None, other: Usage) -> Usage:
    if usage is None:
        return other
    return Usage(
        usage.requests + other.requests,
        usage.read_units + other.read_units,
        usage.write_units + other.write_units,
        usage.writes + other.writes,
    )


def restart(*functions: Function) -> None:
    """Let functions start again, without their caches."""
    for function in functions:
        reload(import_module(function.handler.rpartition(".")[0]))


def _handler(function: Function) -> Callable[[Any, Any], Any]:
    module, _, name = function.handler.rpartition(".")
    return getattr(import_module(module), name)


def function_of(method: str, target: str) -> Function:
    """The function that serves a request."""
    return _function_of(_route(method, target.partition("?")[0])[0])


def _function_of(route: Route) -> Function:
    return next(f for f in FUNCTIONS if f.kind == "api" and f.domain == route.domain)


def _route(method: str, path: str) -> tuple[Route, dict[str, str]]:
    parts = path.strip("/").split("/")
    for route in ROUTES:
        pattern = route.path.strip("/").split("/")
        if route.method != method or len(pattern) != len(parts):
            continue
        pairs = list(zip(pattern, parts, strict=True))
        if all(want.startswith("{") or want == got for want, got in pairs):
            named = ((want, got) for want, got in pairs if want.startswith("{"))
            return route, {want.strip("{+}"): unquote(got) for want, got in named}
    raise RuntimeError(f"no route serves {method} {path}")


@contextmanager
def deployed() -> Generator[Product]:
    """A new deployment, bootstrapped, with its administrator."""
    os.environ.update(_environment())  # as Lambda does
    with mock_aws():
        _made()
        product = Product(Engine(), datetime.now(UTC).replace(microsecond=0))
        # The process's clock stands still, so that nothing expires between two calls.
        clock.utc_now = lambda: product.moment
        search_engine.connect = lambda _: product.engine  # pyright: ignore[reportAttributeAccessIssue]
        # The wiring uses the clock and the engine that exist when it is loaded.
        bootstrap = import_module("backend.entrypoints.bootstrap")
        wiring = import_module("backend.entrypoints.wiring.context")
        product.measured(lambda: bootstrap.set_up(wiring.Context(BOOTSTRAP)))
        product.drain()
        yield product


def _environment() -> dict[str, str]:
    environment = {f"TABLE_{table.name}": table.name for table in TABLES}
    environment |= {f"BUCKET_{bucket.name}": bucket.name.lower() for bucket in BUCKETS}
    account = "https://sqs.us-east-1.amazonaws.com/123456789012"
    environment |= {f"QUEUE_{queue.name}": f"{account}/{queue.name}" for queue in QUEUES}
    environment |= {f"TOPIC_{topic.name}": topic.name for topic in TOPICS}
    environment |= {f"SECRET_{secret.name}": secret.name for secret in SECRETS}
    environment |= {setting.variable: str(setting.default) for setting in SETTINGS}
    return environment | {
        UPLOAD_RATE_PER_MINUTE.variable: "10000",
        PROCESSING.variable: "0",  # the page on costs has a separate section for it
        "SEARCH_ENDPOINT": "search.example",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "counted",
        "AWS_SECRET_ACCESS_KEY": "counted",
        "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        "POWERTOOLS_METRICS_DISABLED": "true",
    }


def _made() -> None:
    for table in TABLES:
        clients.dynamodb().create_table(**create_table_request(table, table.name))
    for bucket in BUCKETS:
        clients.s3().create_bucket(Bucket=bucket.name.lower())
        if bucket.versioned:
            clients.s3().put_bucket_versioning(
                Bucket=bucket.name.lower(), VersioningConfiguration={"Status": "Enabled"}
            )
    for queue in QUEUES:
        clients.sqs().create_queue(QueueName=queue.name)
    for secret in SECRETS:
        text = uuid4().hex * 2
        clients.secrets_manager().create_secret(Name=secret.name, SecretString=text)


@cache
def _uncounted_s3() -> "S3Client":
    return boto3.client("s3")


def put_object(key: str, content: bytes) -> None:
    """Put an object into the asset bucket, without counting it and without an event."""
    _uncounted_s3().put_object(Bucket=ASSET_BUCKET.name.lower(), Key=key, Body=content)


def put_part(url: str, content: bytes) -> str:
    """Send a client's request to a presigned URL, of a part or of a whole object.

    Return the ETag.
    """
    split = urlsplit(url)
    query = dict(parse_qsl(split.query))
    host, path = split.netloc.partition(".")[0], split.path.lstrip("/")
    key = unquote(path)
    if "uploadId" not in query:
        whole = _uncounted_s3().put_object(Bucket=host, Key=key, Body=content)
        return whole["ETag"].strip('"')
    reply = _uncounted_s3().upload_part(
        Bucket=host,
        Key=key,
        UploadId=query["uploadId"],
        PartNumber=int(query["partNumber"]),
        Body=content,
    )
    return reply["ETag"].strip('"')
