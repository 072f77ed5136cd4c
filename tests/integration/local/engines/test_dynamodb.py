"""DynamoDB Local: the behaviour on which the runtime relies, also after a kill -9."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tests.integration.local.engines.support import Site

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams.type_defs import ShardTypeDef

ENGINE = "dynamodb"


def make_table(site: Site, name: str) -> str:
    """Create a table with a stream and return the stream's ARN."""
    made = site.clients.dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "kind", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byKind",
                "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
    return made["TableDescription"].get("LatestStreamArn", "")


def put(site: Site, table: str, *keys: str) -> None:
    for key in keys:
        site.clients.dynamodb.put_item(TableName=table, Item={"pk": {"S": key}, "kind": {"S": "k"}})


def shards(site: Site, stream: str) -> "list[ShardTypeDef]":
    return site.clients.streams.describe_stream(StreamArn=stream)["StreamDescription"].get(
        "Shards", []
    )


def shard_id(site: Site, stream: str) -> str:
    return shards(site, stream)[0].get("ShardId", "")


def read(site: Site, iterator: str) -> list[tuple[str, str]]:
    """Return sequence number and key of each record that the iterator returns."""
    records = [
        record.get("dynamodb", {})
        for record in site.clients.streams.get_records(ShardIterator=iterator)["Records"]
    ]
    return [
        (record.get("SequenceNumber", ""), record.get("Keys", {}).get("pk", {}).get("S", ""))
        for record in records
    ]


def from_the_beginning(site: Site, stream: str) -> str:
    return site.clients.streams.get_shard_iterator(
        StreamArn=stream,
        ShardId=shard_id(site, stream),
        ShardIteratorType="TRIM_HORIZON",
    )["ShardIterator"]


def test_items_and_indexes_survive_a_crash(site: Site) -> None:
    make_table(site, "items")
    put(site, "items", "a", "b")
    site.crash_and_restart()
    rows = site.clients.dynamodb.query(
        TableName="items",
        IndexName="byKind",
        KeyConditionExpression="kind = :k",
        ExpressionAttributeValues={":k": {"S": "k"}},
    )
    assert {item["pk"].get("S") for item in rows["Items"]} == {"a", "b"}


def test_a_stream_survives_a_crash_with_its_shards_records_and_sequence_numbers(
    site: Site,
) -> None:
    stream = make_table(site, "streamed")
    put(site, "streamed", "a", "b", "c")
    iterator = from_the_beginning(site, stream)
    before, shards_before = read(site, iterator), shards(site, stream)
    assert [key for _, key in before] == ["a", "b", "c"]

    site.crash_and_restart()

    table = site.clients.dynamodb.describe_table(TableName="streamed")["Table"]
    assert table.get("LatestStreamArn") == stream
    assert shards(site, stream) == shards_before
    assert read(site, from_the_beginning(site, stream)) == before
    assert read(site, iterator) == before, "an iterator of before is still good"


def test_a_checkpoint_remains_valid_after_crashes_and_new_writes(site: Site) -> None:
    stream = make_table(site, "checkpointed")
    put(site, "checkpointed", "a", "b")
    checkpoint = read(site, from_the_beginning(site, stream))[0][0]
    site.crash_and_restart()
    put(site, "checkpointed", "c")
    site.crash_and_restart()
    put(site, "checkpointed", "d")
    after = site.clients.streams.get_shard_iterator(
        StreamArn=stream,
        ShardId=shard_id(site, stream),
        ShardIteratorType="AFTER_SEQUENCE_NUMBER",
        SequenceNumber=checkpoint,
    )
    records = read(site, after["ShardIterator"])
    assert [key for _, key in records] == ["b", "c", "d"]
    numbers = [int(number) for number, _ in records]
    assert numbers == sorted(set(numbers))
    assert numbers[0] > int(checkpoint)


def write_together(site: Site, table: str, keys: Iterable[str]) -> None:
    site.clients.dynamodb.transact_write_items(
        TransactItems=[{"Put": {"TableName": table, "Item": {"pk": {"S": key}}}} for key in keys]
    )


def count(site: Site, table: str) -> int:
    return site.clients.dynamodb.scan(TableName=table)["Count"]


def test_a_transaction_with_any_request_after_it_survives_a_crash(site: Site) -> None:
    make_table(site, "transacted")
    write_together(site, "transacted", "abcdefgh")
    site.clients.dynamodb.list_tables(Limit=1)
    site.crash_and_restart()
    assert count(site, "transacted") == 8


def test_a_transaction_right_before_a_polite_end_is_kept(site: Site) -> None:
    make_table(site, "stopped")
    write_together(site, "stopped", "abcdefgh")
    site.running.stop()
    site.crash_and_restart()
    assert count(site, "stopped") == 8


def test_a_transaction_right_before_a_crash_is_whole_or_not_there(site: Site) -> None:
    make_table(site, "torn")
    write_together(site, "torn", "abcdefgh")
    site.crash_and_restart()
    assert count(site, "torn") in {0, 8}
