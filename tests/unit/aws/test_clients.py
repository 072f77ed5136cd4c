"""Requirements on the AWS SDK, its errors, and our parsing of its replies."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from boto3.dynamodb.types import Binary, TypeDeserializer
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from backend.aws import clients
from backend.aws.clients import OldSdkError, at_first_use, check_sdk, dynamodb, s3
from backend.aws.errors import translated
from backend.aws.items import from_wire
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.deadlines import Deadline, OutcomeUnknownError
from backend.core.errors import InvalidInputError, TooLargeError, UnavailableError, VitrineError
from backend.core.tables import Tables
from backend.core.transactions import Delete, Put, Update
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.registry import FEATURES
from backend.spec.versions import PRODUCT_VERSION
from local.proxy import caller_of


def test_only_an_sdk_that_is_new_enough_passes() -> None:
    for version in ("1.40.0", "1.44.5", "1.100.2", "2.0.0", boto3.__version__):
        check_sdk(version)
    for version in ("1.39.17", "1.9.99", "0.99.0"):
        with pytest.raises(OldSdkError, match=version):
            check_sdk(version)


@pytest.mark.parametrize("app", ["dev-AssetsApi", ""])
def test_requests_name_their_function_in_the_user_agent(app: str) -> None:
    request = "from backend.aws import clients; print(clients.dynamodb().meta.config.user_agent)"
    more = {"AWS_SDK_UA_APP_ID": app, "AWS_DEFAULT_REGION": "eu-central-1"}
    stdout = subprocess.run(
        [sys.executable, "-c", request],
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert stdout.startswith(f"vitrine/{PRODUCT_VERSION} Boto3/")
    assert caller_of({"user-agent": stdout}) == app


class SentError(Exception):
    """An attempt that would have been sent."""


def test_no_attempt_begins_when_the_time_of_the_request_is_nearly_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    deadline = Deadline(lambda: 0.0)
    monkeypatch.setattr(clients, "deadline", deadline)
    source = {"Bucket": "bucket", "Key": "a"}
    made: list[tuple[Any, dict[str, dict[str, Any]]]] = [
        (clients.dynamodb, {"list_tables": {}}),
        (clients.short_timeout_dynamodb, {"list_tables": {}}),
        (clients.s3, {"head_object": source, "copy_object": {**source, "CopySource": source}}),
        (clients.sqs, {"list_queues": {}}),
        (clients.short_timeout_sqs, {"list_queues": {}}),
        (clients.sns, {"list_topics": {}}),
        (clients.cognito_idp, {"list_user_pools": {"MaxResults": 1}}),
        (clients.secrets_manager, {"list_secrets": {}}),
        (clients.step_functions, {"list_state_machines": {}}),
        (clients.lambda_account, {"get_account_settings": {}}),
    ]

    def sent(**_: object) -> None:
        raise SentError

    try:
        for make, operations in made:
            make.cache_clear()
            client = make()
            client.meta.events.register("before-send", sent)
            for operation, parameters in operations.items():
                least = 10 if operation == "copy_object" else 5
                for seconds, wanted in ((least + 1, SentError), (least - 1, OutcomeUnknownError)):
                    deadline.begin(seconds)
                    with pytest.raises(wanted):
                        getattr(client, operation)(**parameters)
    finally:
        for make, _ in made:
            make.cache_clear()


def met(code: str, status: int) -> None:
    reply: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    with translated("AWS"):
        raise ClientError(reply, "Send")


def test_threads_that_begin_together_use_one_client() -> None:
    made: list[SimpleNamespace] = []
    together = Barrier(4)

    @cache
    def make() -> SimpleNamespace:
        made.append(SimpleNamespace(meta=len(made)))
        time.sleep(0.05)
        return made[-1]

    def use(client: SimpleNamespace) -> int:
        together.wait()
        return client.meta

    with ThreadPoolExecutor(4) as pool:
        used = list(pool.map(use, [at_first_use(make) for _ in range(4)]))
    assert (used, len(made)) == ([0] * 4, 1)


def test_an_outage_is_too_much_to_do_and_no_error_that_retrying_cannot_correct() -> None:
    for code, status in (
        ("ThrottlingException", 400),  # DynamoDB, S3 under a key
        ("RequestThrottled", 400),  # SQS
        ("KMS.ThrottlingException", 400),  # SQS under a key
        ("KmsThrottled", 400),  # likewise, as its JSON protocol names it
        ("KMSThrottling", 400),  # SNS under a key
        ("RequestTimeout", 400),  # S3
        ("AWS.SimpleQueueService.NonExistentQueue", 400),  # SQS that has lost its queues
        ("QueueDoesNotExist", 400),  # likewise, as its JSON protocol names it
        ("SlowDown", 503),
        ("NoNameYet", 500),
    ):
        with pytest.raises(UnavailableError, match="AWS does not respond"):
            met(code, status)
    for code in ("AccessDenied", "KMS.DisabledException", "ValidationException"):
        with pytest.raises(ClientError, match=code):
            met(code, 400)


WIRE: dict[str, Any] = {
    "text": {"S": "a"},
    "whole": {"N": "42"},
    "negative": {"N": "-7"},
    "huge": {"N": "1E+30"},
    "broken": {"N": "0.25"},
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "list": {"L": [{"N": "1"}, {"M": {"b": {"S": "c"}}}]},
    "texts": {"SS": ["x", "y"]},
    "numbers": {"NS": ["1", "2.5"]},
    "bytes": {"B": b"\x00\xff"},
}


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables that boto3 reads for comparison."""
    return dynamo_tables


def plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else value
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [plain(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def test_a_value_is_read_as_boto3_reads_it() -> None:
    for name, wire in WIRE.items():
        value = from_wire({name: wire})[name]
        expected = plain(TypeDeserializer().deserialize(wire))
        assert (value, type(value)) == (expected, type(expected))
    assert from_wire({"b": {"B": "AP8="}}) == {"b": Binary(b"\x00\xff")}


def test_items_come_as_they_were_put(tables: DynamoTables) -> None:
    item = {**WIRE, FEATURES.key_names[0]: {"S": "f"}}
    client, name = dynamodb(), tables.settings.table(FEATURES)
    client.put_item(TableName=name, Item=item)
    plain_client = boto3.client("dynamodb")
    key = {FEATURES.key_names[0]: {"S": "f"}}
    (batch,) = client.batch_get_item(RequestItems={name: {"Keys": [key]}})["Responses"][name]
    (scanned,) = client.scan(TableName=name)["Items"]
    result = client.get_item(TableName=name, Key=key)
    expected = from_wire(plain_client.get_item(TableName=name, Key=key).get("Item", {}))
    assert from_wire(result.get("Item", {})) == expected
    assert from_wire(batch) == from_wire(scanned) == expected
    assert result["ResponseMetadata"]["HTTPStatusCode"] == 200
    with pytest.raises(ClientError) as caught:
        dynamodb().scan(TableName="no-such-table")
    assert caught.value.response.get("Error", {}).get("Code") == "ResourceNotFoundException"


def test_times_and_listings_of_objects_are_what_botocore_reads() -> None:
    fast, slow = s3(), boto3.client("s3")
    fast.create_bucket(Bucket="times")
    fast.put_object(Bucket="times", Key="a", Body=b"a")
    listed = [c.list_objects_v2(Bucket="times").get("Contents", [])[0] for c in (fast, slow)]
    headed = [c.head_object(Bucket="times", Key="a")["LastModified"] for c in (fast, slow)]
    assert listed[0].get("LastModified") == listed[1].get("LastModified")
    assert headed[0] == headed[1]
    assert headed[0].tzinfo is not None
    assert headed[0] < datetime(9999, 1, 1, tzinfo=UTC)
    fast, slow = s3(), boto3.client("s3")
    fast.create_bucket(Bucket="versions")
    fast.put_bucket_versioning(Bucket="versions", VersioningConfiguration={"Status": "Enabled"})
    for key in ("a b/ä&<1>.glb", "a b/ä&<1>.glb", "a+b", "empty/%2F"):
        fast.put_object(Bucket="versions", Key=key, Body=key.encode())
    fast.delete_object(Bucket="versions", Key="a+b")
    for limit in (2, 3, 1000):
        read, expected = (
            c.list_object_versions(Bucket="versions", MaxKeys=limit) for c in (fast, slow)
        )
        for name in ("Versions", "DeleteMarkers"):
            assert without_owner(read, name) == without_owner(expected, name)
        for name in ("IsTruncated", "NextKeyMarker", "NextVersionIdMarker", "EncodingType"):
            assert read.get(name) == expected.get(name)
    with pytest.raises(ClientError) as caught:
        s3().list_object_versions(Bucket="no-such-bucket")
    assert caught.value.response.get("Error", {}).get("Code") == "NoSuchBucket"


def without_owner(reply: Any, name: str) -> list[dict[str, Any]]:
    left_out = {"Owner", "Position", "ChecksumAlgorithm", "ChecksumType", "RestoreStatus"}
    return [
        {key: value for key, value in entry.items() if key not in left_out}
        for entry in reply.get(name, [])
    ]


KEY = {RESERVATIONS.partition_key.name: "a"}
Step = Callable[[Tables], object]

WRITES: dict[str, tuple[str, Step]] = {
    "put": ("put_item", lambda tables: tables.write(Put(table=RESERVATIONS, item=dict(KEY)))),
    "update": (
        "update_item",
        lambda tables: tables.write(Update(table=RESERVATIONS, key=KEY, set={"count": 1})),
    ),
    "delete": ("delete_item", lambda tables: tables.write(Delete(table=RESERVATIONS, key=KEY))),
    "increment": (
        "update_item",
        lambda tables: tables.increment(RESERVATIONS, KEY, "count", initial=0),
    ),
}


@pytest.fixture
def held() -> Any:
    """Tables, and the stub that returns DynamoDB's replies."""
    client = dynamodb()
    with Stubber(client) as stub:
        yield DynamoTables(client, Settings({f"TABLE_{RESERVATIONS.name}": "table"})), stub


@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_meets_a_transaction_is_tried_again(
    held: tuple[DynamoTables, Stubber], name: str
) -> None:
    tables, stub = held
    operation, write = WRITES[name]
    for _ in range(2):
        stub.add_client_error(operation, "TransactionConflictException", http_status_code=400)
    stub.add_response(operation, {"Attributes": {"count": {"N": "1"}}})
    write(tables)
    stub.assert_no_pending_responses()


def test_a_write_to_a_permanently_locked_item_is_an_outage(
    held: tuple[DynamoTables, Stubber], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pass_by(seconds: float) -> None:
        """Retries without waiting."""

    monkeypatch.setattr("tenacity.nap.time.sleep", pass_by)
    tables, stub = held
    for _ in range(20):
        stub.add_client_error("put_item", "TransactionConflictException", http_status_code=400)
    with pytest.raises(UnavailableError):
        tables.write(Put(table=RESERVATIONS, item=dict(KEY)))


@pytest.mark.parametrize(
    "reason", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]
)
def test_a_transaction_that_comes_too_early_is_tried_again(
    held: tuple[DynamoTables, Stubber], reason: str
) -> None:
    tables, stub = held
    stub.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        http_status_code=400,
        modeled_fields={"CancellationReasons": [{"Code": reason}]},
    )
    stub.add_response("transact_write_items", {})
    tables.transact([Put(table=RESERVATIONS, item=dict(KEY))])
    stub.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Item size has exceeded the maximum allowed size", TooLargeError),
        ("Item size to update has exceeded the maximum allowed size", TooLargeError),
        (
            "Number overflow. Attempting to store a number with too much precision",
            InvalidInputError,
        ),
        ("Invalid UpdateExpression: the document path is invalid", None),
    ],
)
def test_a_transaction_canceled_for_an_invalid_item_gets_the_error_of_a_write_alone(
    held: tuple[DynamoTables, Stubber], message: str, expected: type[VitrineError] | None
) -> None:
    tables, stub = held
    put = Put(table=RESERVATIONS, item=dict(KEY))
    stub.add_client_error("put_item", "ValidationException", message, http_status_code=400)
    with pytest.raises(ClientError if expected is None else expected):
        tables.write(put)
    reasons = [{"Code": "None"}, {"Code": "ValidationError", "Message": message}]
    stub.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        http_status_code=400,
        modeled_fields={"CancellationReasons": reasons},
    )
    with pytest.raises(ClientError if expected is None else expected):
        tables.transact([Delete(table=RESERVATIONS, key={**KEY, "reservationKey": "b"}), put])
