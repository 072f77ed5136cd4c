"""The meter against the numbers in AWS's documentation.

Developer Guide, "DynamoDB read and write operations" (consumption of capacity by operation) and
"Using global secondary indexes" (write capacity considerations); paritysuite/dynamodb-conformance,
issues 124 and 149, for what was measured.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from backend.aws.clients import dynamodb, sqs
from backend.aws.items import item_size
from benchmarks.metering import Usage, metered

KB = 1024
TABLE = "things"


@pytest.fixture(autouse=True)
def table(aws_in_process: None) -> None:
    names = ("id", "sort", "other", "wide")
    dynamodb().create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=_schema("id", "sort"),
        GlobalSecondaryIndexes=[
            _index("keys", "other", "KEYS_ONLY"),
            _index("some", "other", "INCLUDE", ["included"]),
            _index("all", "wide", "ALL"),
        ],
    )


def _schema(*names: str) -> Any:
    return [
        {"AttributeName": name, "KeyType": kind}
        for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def _index(name: str, key: str, kind: str, included: list[str] | None = None) -> Any:
    projection: dict[str, Any] = {"ProjectionType": kind}
    if included is not None:
        projection["NonKeyAttributes"] = included
    return {"IndexName": name, "KeySchema": _schema(key), "Projection": projection}


def key(name: str) -> Any:
    return {"id": {"S": "a"}, "sort": {"S": name}}


def item(name: str, size: int = 0, **texts: str) -> Any:
    """An item of so many bytes, at least those that its attributes need."""
    result = {**key(name), **{attribute: {"S": text} for attribute, text in texts.items()}}
    filled = size - item_size(result) - len("filler")
    return {**result, "filler": {"S": "x" * max(filled, 0)}}


def stored(*items: Any) -> None:
    for element in items:
        dynamodb().put_item(TableName=TABLE, Item=element)


def cost(operation: str, **parameters: Any) -> Usage:
    with metered(dynamodb()) as usage:
        getattr(dynamodb(), operation)(**parameters)
    return usage


def put(each: Any) -> int:
    return cost("put_item", TableName=TABLE, Item=each).write_units


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "abc"}, 3),
        ({"S": "é像"}, 5),
        ({"N": "0"}, 1),
        ({"N": "7"}, 2),
        ({"N": "27"}, 2),
        ({"N": "-27"}, 3),
        ({"N": "461"}, 3),
        ({"N": "2700000"}, 2),
        ({"N": "0.00015"}, 2),
        ({"B": b"abcd"}, 4),
        ({"BOOL": True}, 1),
        ({"NULL": True}, 1),
        ({"L": []}, 3),
        ({"M": {}}, 3),
        ({"L": [{"S": "ab"}, {"BOOL": True}]}, 3 + (1 + 2) + (1 + 1)),
        ({"M": {"key": {"S": "ab"}}}, 3 + (1 + 3 + 2)),
        ({"SS": ["ab", "cde"]}, 5),
    ],
)
def test_a_value_has_the_size_in_the_guide(value: Any, size: int) -> None:
    assert item_size({"name": value}) == len("name") + size


@pytest.mark.parametrize(("size", "units"), [(512, 1), (KB, 1), (KB + 1, 2), (1536, 2)])
def test_writes_are_charged_by_the_kilobyte(size: int, units: int) -> None:
    assert put(item("one", size)) == units


@pytest.mark.parametrize(
    ("size", "consistent", "units"),
    [
        (3584, True, 1),
        (4 * KB, True, 1),
        (10 * KB, True, 3),
        (3584, False, 0.5),
        (6 * KB, False, 1),
    ],
)
def test_an_item_is_read_by_four_kilobytes(size: int, consistent: bool, units: float) -> None:
    stored(item("one", size))
    read = cost("get_item", TableName=TABLE, Key=key("one"), ConsistentRead=consistent)
    assert read.read_units == units


def test_an_absent_item_costs_the_least_read() -> None:
    read = cost("get_item", TableName=TABLE, Key=key("none"), ConsistentRead=True)
    assert read.read_units == 1


def test_each_item_of_a_batch_is_rounded_up_by_itself() -> None:
    stored(item("one", 1536), item("two", 6656))
    wanted = {TABLE: {"Keys": [key("one"), key("two")], "ConsistentRead": True}}
    assert cost("batch_get_item", RequestItems=wanted).read_units == 3


@pytest.mark.parametrize("operation", ["query", "scan"])
def test_a_list_is_rounded_up_as_a_whole(operation: str) -> None:
    stored(*(item(f"item-{number}", 4178) for number in range(10)))  # 40.8 KB
    parameters: dict[str, Any] = {"TableName": TABLE, "ConsistentRead": True}
    if operation == "query":
        parameters |= {
            "KeyConditionExpression": "#k = :k",
            "ProjectionExpression": "#s",
            "ExpressionAttributeNames": {"#k": "id", "#s": "sort"},
            "ExpressionAttributeValues": {":k": {"S": "a"}},
        }
    assert cost(operation, **parameters).read_units == 11
    assert cost(operation, **parameters | {"ConsistentRead": False}).read_units == 5.5


def test_transactions_cost_the_double() -> None:
    writes = [{"Put": {"TableName": TABLE, "Item": item(name, 500)}} for name in ("a", "b", "c")]
    assert cost("transact_write_items", TransactItems=writes).write_units == 6
    reads = [{"Get": {"TableName": TABLE, "Key": key(name)}} for name in ("a", "b")]
    assert cost("transact_get_items", TransactItems=reads).read_units == 4


def test_a_check_costs_as_much_as_the_write_of_the_item() -> None:
    stored(item("one", 1536))
    check = {
        "TableName": TABLE,
        "Key": key("one"),
        "ConditionExpression": "attribute_exists(id)",
    }
    checked = cost("transact_write_items", TransactItems=[{"ConditionCheck": check}])
    assert (checked.write_units, checked.read_units) == (4, 0)


def test_a_batch_of_writes_is_their_sum() -> None:
    requests = [
        {"PutRequest": {"Item": item(*element)}} for element in (("one", 500), ("two", 3584))
    ]
    assert cost("batch_write_item", RequestItems={TABLE: requests}).write_units == 5
    gone = [{"DeleteRequest": {"Key": key(name)}} for name in ("one", "two")]
    assert cost("batch_write_item", RequestItems={TABLE: gone}).write_units == 5


def test_the_larger_image_of_an_item_decides() -> None:
    stored(item("one", 3 * KB))
    assert put(item("one", 100)) == 3
    assert put(item("one", 3 * KB)) == 3
    shrunk = cost(
        "update_item",
        TableName=TABLE,
        Key=key("one"),
        UpdateExpression="SET filler = :short",
        ExpressionAttributeValues={":short": {"S": "x"}},
    )
    assert shrunk.write_units == 3


def test_a_deletion_costs_what_it_removes() -> None:
    stored(item("one", 2000))
    assert cost("delete_item", TableName=TABLE, Key=key("one")).write_units == 2
    assert cost("delete_item", TableName=TABLE, Key=key("one")).write_units == 1


def test_a_new_entry_of_an_index_is_one_write() -> None:
    assert put(item("one", other="x")) == 1 + 2
    assert put(item("two", other="x", wide="y")) == 1 + 3


def test_an_item_without_the_key_of_an_index_costs_it_nothing() -> None:
    assert put(item("one")) == 1


def test_only_what_an_index_stores_is_charged_to_it() -> None:
    stored(item("one", other="x", included="1"))
    assert put(item("one", 200, other="x", included="1")) == 1
    assert put(item("one", 200, other="x", included="2")) == 1 + 1
    assert put(item("one", 200, other="x", included="2")) == 1  # the same again


def test_a_changed_key_of_an_index_is_two_writes() -> None:
    stored(item("one", other="x"))
    assert put(item("one", other="y")) == 1 + 2 + 2
    assert put(item("one")) == 1 + 1 + 1


def test_the_entries_of_an_index_have_sizes_of_their_own() -> None:
    assert put(item("one", 3 * KB, other="x")) == 3 + 1 + 1
    assert put(item("two", 1517, wide="x")) == 2 + 2
    assert put(item("two", 1517, wide="y")) == 2 + 2 + 2
    stored(item("three", 3 * KB, wide="x"))
    assert put(item("three", 100, wide="x")) == 3 + 3


def test_indexes_cost_no_double_in_a_transaction() -> None:
    write = {"Put": {"TableName": TABLE, "Item": item("one", other="x", wide="y")}}
    assert cost("transact_write_items", TransactItems=[write]).write_units == 2 + 3


def test_requests_are_counted_by_operation_and_changes_reported() -> None:
    with metered(dynamodb(), sqs()) as usage:
        stored(item("one"), item("one"))
        url = sqs().create_queue(QueueName="queue")["QueueUrl"]
        sqs().send_message(QueueUrl=url, MessageBody="hello")
    assert usage.of("dynamodb") == {"PutItem": 2}
    assert usage.of("sqs") == {"CreateQueue": 1, "SendMessage": 1}
    assert [(change.old, change.new) for change in usage.changes] == [(None, item("one"))]
    assert usage.sent[-1][1]["MessageBody"] == "hello"
    stored(item("two"))
    assert usage.of("dynamodb") == {"PutItem": 2}


def test_reads_of_several_threads_are_counted_completely() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with metered(dynamodb()) as usage, ThreadPoolExecutor(8) as pool:
            query: Any = {
                "TableName": TABLE,
                "KeyConditionExpression": "id = :id",
                "ExpressionAttributeValues": {":id": {"S": "absent"}},
                "ConsistentRead": True,
            }
            reads = [pool.submit(dynamodb().query, **query) for _ in range(300)]
    finally:
        sys.setswitchinterval(interval)
    assert [read.exception() for read in reads if read.exception()] == []
    assert (usage.requests["dynamodb.Query"], usage.read_units) == (300, 300)
