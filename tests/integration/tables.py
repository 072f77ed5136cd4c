"""The declared tables on DynamoDB Local: created once per worker, emptied before each test.

Most tests compare all rows of tables, or all records of their streams, so no test shares its tables
with another one that runs at the same time. Emptying the few tables that a test named takes less
than creating them, and DynamoDB Local becomes slower with each table that it has.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.ids import new_uuid
from backend.spec.tables import TABLES
from backend.spec.tables.model import Table
from tests.engines import OPTIONS, RealEngines
from tests.factories.tables import create_table_request
from tests.model.expected import rows

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient


class TableStream:
    """A table's stream, read from the last position."""

    def __init__(self, client: "DynamoDBStreamsClient", table_name: str) -> None:
        (stream,) = client.list_streams(TableName=table_name)["Streams"]
        self.arn = stream.get("StreamArn", "")
        shards = client.describe_stream(StreamArn=self.arn)["StreamDescription"].get("Shards", [])
        self._client = client
        self._shards = [shard.get("ShardId", "") for shard in shards]
        self._taken: dict[str, str] = {}

    def read(self) -> list[Any]:
        """The records since the last position, as the engine returns them."""
        return [record for shard in self._shards for record in self._of_shard(shard)]

    def take(self) -> list[Any]:
        """The same; the next call begins after them."""
        result: list[Any] = []
        for shard in self._shards:
            records = list(self._of_shard(shard))
            if records:
                self._taken[shard] = records[-1]["dynamodb"]["SequenceNumber"]
            result += records
        return result

    def _of_shard(self, shard: str) -> Iterator[Any]:
        start: dict[str, Any] = {"ShardIteratorType": "TRIM_HORIZON"}
        if shard in self._taken:
            start = {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "SequenceNumber": self._taken[shard],
            }
        reply = self._client.get_shard_iterator(StreamArn=self.arn, ShardId=shard, **start)
        iterator: str | None = reply.get("ShardIterator")
        while iterator:
            page = self._client.get_records(ShardIterator=iterator)
            if not page["Records"]:
                return
            yield from page["Records"]
            iterator = page.get("NextShardIterator")


@dataclass(eq=False, repr=False)
class NamedTables(Settings):
    """Settings that record the names of used tables: no others can have been written to."""

    named: set[str] = field(default_factory=set[str])

    def table(self, table: Table) -> str:
        self.named.add(table.name)
        return super().table(table)


class TableSet:
    """All declared tables under names of a worker's own."""

    def __init__(self, engines: RealEngines) -> None:
        self._settings = NamedTables(names_of_tables(new_uuid()[:8]))
        self.tables = DynamoTables(engines.dynamodb, self._settings)
        for table in TABLES:
            name = self._settings.table(table)
            engines.dynamodb.create_table(**create_table_request(table, name))
        self._streams = {
            table.name: TableStream(engines.streams, self._settings.table(table))
            for table in TABLES
            if table.stream
        }
        self._settings.named.clear()

    def stream(self, table: Table) -> TableStream:
        return self._streams[table.name]

    def for_others(self) -> dict[str, str]:
        """The settings that name all tables, for another process or other ports."""
        self._settings.named.update(table.name for table in TABLES)
        return dict(self._settings.environment)

    def clear(self) -> None:
        """Delete all items, and skip all records of streams."""
        for table in TABLES:
            if table.name not in self._settings.named:
                continue
            result = rows(self.tables, table)
            if result:
                keys = [{name: row[name] for name in table.key_names} for row in result]
                self.tables.delete_many(table, keys)
            if table.stream:
                self._streams[table.name].take()
        self._settings.named.clear()


def names_of_tables(prefix: str) -> dict[str, str]:
    """The settings that name all tables with a prefix."""
    names = {f"TABLE_{table.name}": f"{prefix}-{table.name}" for table in TABLES}
    return names | {"AWS_REGION": OPTIONS.region}
