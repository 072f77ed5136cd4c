"""Functions as they are wired: their contexts, consumers, replays, garbage, and the quota."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from backend.aws.items import from_wire, to_wire
from backend.aws.objects import S3Objects
from backend.aws.secrets import Secrets
from backend.core.authorization import SystemOnly, SystemOr
from backend.core.denials import WatchedAuthorization
from backend.core.errors import UnavailableError
from backend.domains.outgoing_events.service import OutgoingEvents
from backend.domains.subscriptions.rules import Notification
from backend.domains.subscriptions.service.consumers import (
    NotificationsConsumer,
    OutdatedNotifications,
)
from backend.domains.subscriptions.service.notifications import Notifier
from backend.entrypoints import wiring
from backend.entrypoints.account_check import check_account
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.failures import failures
from backend.entrypoints.wiring.operations import replays, stream_consumers
from backend.search.maintenance.replay import LeftoverReplays
from backend.spec.functions import FUNCTIONS
from backend.spec.functions.apis import ASSETS_API, COMMENTS_API
from backend.spec.functions.operations import REPLAY_FAILURES
from backend.spec.queues import OUTGOING_EVENTS, STREAM_SUBSCRIPTIONS
from backend.spec.tables.registry import TAGS
from tests.factories.failures import put_object
from tests.factories.outages import unavailable
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues
from tests.fakes.tables import MemoryTables
from tests.model.deployment import in_memory_settings
from tests.unit.entrypoints.conftest import NEEDED, Account, Time


@once
def _counted(context: Context) -> list[str]:
    return [context.function.name]


def test_parts_have_names_and_are_built_once_for_each_context() -> None:
    first, second = Context(ASSETS_API), Context(COMMENTS_API)
    assert _counted(first) is _counted(first)
    assert (_counted(first), _counted(second)) == (["AssetsApi"], ["CommentsApi"])
    value = ["given"]
    assert _counted(Context(ASSETS_API, _counted=value)) is value
    # A part is stored under its name, beside the ports.
    names = Counter(name for name in vars(Context) if not name.startswith("__"))
    for path in Path(str(wiring.__file__)).parent.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name != "once":
                names[node.name] += any(ast.unparse(item) == "once" for item in node.decorator_list)
    assert [name for name, count in names.items() if count > 1] == []
    assert names["assets"] == names["tables"] == 1


def test_functions_use_their_tables_and_act_for_whom_they_declare() -> None:
    for function in (ASSETS_API, COMMENTS_API):
        context = Context(
            function, settings=in_memory_settings(), tables=MemoryTables(), objects=MemoryObjects()
        )
        assets(context)
        assert ("tags" in vars(context)) == (TAGS in function.tables), function.name
    assert TAGS in ASSETS_API.tables
    assert TAGS not in COMMENTS_API.tables
    kinds = {"callers": WatchedAuthorization, "itself": SystemOnly, "both": SystemOr}
    for function in FUNCTIONS:
        context = Context(function, settings=in_memory_settings(), tables=MemoryTables())
        assert type(context.authorization) is kinds[function.acts_for], function.name
        assert function.acts_for == "callers" or function.kind != "api", function.name
    assert {function.acts_for for function in FUNCTIONS} == set(kinds)


EVENT = {"source": "aws.events", "detail-type": "Scheduled Event"}


@pytest.fixture
def context(deployed: Secrets, objects: S3Objects, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.setenv("SEARCH_ENDPOINT", "search.invalid")
    return Context(REPLAY_FAILURES)


def test_every_consumer_of_a_stream_is_replayed_and_runs_are_counted(
    context: Context, objects: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumers = stream_consumers(context)
    assert set(consumers) == {s.consumer for s in STREAM_SUBSCRIPTIONS}
    for name, consumer in consumers.items():
        assert callable(consumer(failures(context))), name
    run = replays(context)
    assert run(EVENT) == {}
    put_object(objects, "no JSON")
    assert run(EVENT) == {"failed": 1}
    monkeypatch.setattr(LeftoverReplays, "run", unavailable)
    assert replays(context)(EVENT) == {"outage": 1}


PROGRAM = """
import gc
from backend.entrypoints import ready
started = gc.isenabled()
ready(print)
print(started, gc.isenabled())
"""


@pytest.mark.parametrize(
    ("environment", "output"),
    [({}, "True True"), ({"AWS_LAMBDA_FUNCTION_NAME": "Assets"}, "False True")],
)
def test_only_a_function_that_starts_keeps_its_garbage(
    environment: dict[str, str], output: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == output


@dataclass
class RecordingNotifier:
    """Replaces the service that notifies people."""

    happenings: list[Notification] = field(default_factory=list[Notification])
    down: bool = False

    def notify(self, happenings: Iterable[Notification]) -> int:
        if self.down:
            raise UnavailableError("SNS does not answer")
        self.happenings += happenings
        return 1


@dataclass
class RecordingFailures:
    names: list[str] = field(default_factory=list[str])

    def store(self, name: str, body: object, reason: str) -> None:
        self.names.append(name)


def stream_record(number: int, **changes: Any) -> dict[str, Any]:
    entry = {"entity": "asset:museum:statue", "at": "2026#1", "userId": "ann", "operation": "move"}
    image = to_wire({**entry, **changes})
    return {"eventID": f"e{number}", "dynamodb": {"SequenceNumber": str(number), "NewImage": image}}


def consume(
    notifier: RecordingNotifier, failures: RecordingFailures, *records: dict[str, Any]
) -> Any:
    consumer = NotificationsConsumer(cast("Notifier", notifier), from_wire, failures.store)
    return consumer.consume({"Records": list(records)})


def test_entries_are_passed_to_the_publisher_also_if_notifications_fail_or_come_late() -> None:
    queues, failures = MemoryQueues(), RecordingFailures()
    outgoing = OutgoingEvents(queues)
    notifier = cast("Notifier", RecordingNotifier(down=True))
    consumer = NotificationsConsumer(notifier, from_wire, failures.store, outgoing)
    broken = {"eventID": "e2", "dynamodb": {"SequenceNumber": "2"}}
    event = {"Records": [stream_record(1), broken, stream_record(3, entity="execution:e1")]}
    assert consumer.consume(event) == {"batchItemFailures": [{"itemIdentifier": "1"}]}
    late = OutdatedNotifications(from_wire, failures.store, outgoing)
    assert late.consume(event) == {"batchItemFailures": []}
    first, again = queues.take(OUTGOING_EVENTS)
    assert first == again
    assert first["type"] == "asset.changed"
    assert failures.names == ["e2", "e2"]


def test_batches_are_passed_to_the_notifier_without_broken_records() -> None:
    notifier, failures = RecordingNotifier(), RecordingFailures()
    reply = consume(
        notifier,
        failures,
        stream_record(1),
        stream_record(2, operation="create_asset"),
        stream_record(3),
    )
    assert reply == {"batchItemFailures": []}
    assert [happening.operation for happening in notifier.happenings] == ["move", "move"]
    assert failures.names == []
    broken = {"eventID": "e2", "dynamodb": {"SequenceNumber": "2"}}
    reply = consume(
        notifier, failures, stream_record(1), broken, stream_record(3, entity="tag:red")
    )
    assert reply == {"batchItemFailures": []}
    assert (len(notifier.happenings), failures.names) == (3, ["e2", "e3"])
    reply = consume(
        RecordingNotifier(down=True), RecordingFailures(), stream_record(1), stream_record(2)
    )
    assert reply == {"batchItemFailures": [{"itemIdentifier": "1"}]}


SMALL = (
    'the quota "Concurrent executions" of Lambda is 10 in this account and region, and the stage '
    "needs 56 so that requests are not throttled while queues are busy: request an increase in "
    "Service Quotas, or use the stage small or a lower queueConcurrency"
)
TAKEN = (
    'of the quota "Concurrent executions" of Lambda, 1000 in this account and region, 39 are '
    "unreserved, and the stage needs 40 of them so that requests are not throttled while queues "
    "are busy: request an increase in Service Quotas, or lower what other functions reserve"
)
ENOUGH = "has 56 concurrent executions, of which 40 are unreserved"


def failure(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "GetAccountSettings")


@pytest.mark.parametrize(
    ("total", "unreserved", "sentence"),
    [
        (10, 10, SMALL),
        (55, 55, SMALL.replace("is 10 in", "is 55 in")),
        (1000, 39, TAKEN),
        (56, 40, ENOUGH),
    ],
)
def test_a_quota_that_is_too_small_is_one_sentence_and_a_warning(
    caplog: pytest.LogCaptureFixture, total: int, unreserved: int, sentence: str
) -> None:
    account = Account(total, unreserved)
    assert check_account(NEEDED, lambda: account) == sentence
    assert (sentence in caplog.text) == (sentence != ENOUGH)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (failure("AccessDeniedException"), "GetAccountSettings is denied: no"),
        (failure("TooManyRequestsException"), "Lambda does not respond"),
        (failure("ServiceUnavailable"), "Lambda does not respond"),
        (EndpointConnectionError(endpoint_url="https://lambda"), "Lambda does not respond"),
    ],
)
def test_a_quota_that_lambda_does_not_report_is_named(
    time: Time, caplog: pytest.LogCaptureFixture, error: Exception, reason: str
) -> None:
    account = Account(failures=[error] * 99)
    assert check_account(NEEDED, lambda: account) == f"unknown: {reason}"
    assert reason in caplog.text
    assert time.now < 20


def test_a_denial_that_passes_is_waited_for(time: Time) -> None:
    account = Account(failures=[failure("AccessDeniedException")] * 2)
    assert check_account(NEEDED, lambda: account).startswith("has 1000 concurrent executions")
    assert time.now == 2

    def client() -> Any:
        raise AssertionError("it was read")

    assert check_account({}, client) == "unknown: searchInVpc leaves no way to Lambda's API"
