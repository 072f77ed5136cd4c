"""The adversary's world on real engines: DynamoDB with its streams, S3 and OpenSearch.

Queues stay in memory, for their time is the adversary's; so is what S3 tells of its objects. Global
indexes do not lag on the local engine.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

import httpx
from opensearchpy import OpenSearch

from backend.aws.clients import lighten
from backend.aws.objects import S3Objects
from backend.aws.parsing import take_versions_as_sent
from backend.aws.search_engine import OpenSearchEngine
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.ids import new_uuid
from backend.core.objects import Objects
from backend.core.search_engine import JsonObject, SearchEngine
from backend.core.tables import Tables
from backend.search.state import Pointer, SearchState
from backend.spec.buckets import BUCKETS
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from backend.spec.tables import TABLES
from tests.engines import RealEngines
from tests.factories.tables import create_table_request
from tests.fakes.search_engine import OF_A_WRITE
from tests.model.deployment import Ports, in_memory_settings, is_wanted
from tests.model.expected import rows
from tests.model.world import World

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient


class Store:
    """Tables that histories use one after the other, and where their streams were read to."""

    def __init__(self, engines: RealEngines) -> None:
        self.engines = engines
        run = new_uuid()[:8]
        client = engines.dynamodb
        lighten(client)
        names = {f"TABLE_{table.name}": f"{run}-{table.name}" for table in TABLES}
        for table in TABLES:
            client.create_table(**create_table_request(table, f"{run}-{table.name}"))
        self.tables = DynamoTables(client, Settings(names))
        self._streams = engines.streams
        listening = {one.source.name for one in STREAM_SUBSCRIPTIONS}
        self._shards = {
            name: _shards(self._streams, names[f"TABLE_{name}"]) for name in sorted(listening)
        }
        self._read: dict[str, str] = {}

    def clear(self) -> None:
        """Leave no item, and no record of a stream that is not read."""
        for table in TABLES:
            found = rows(self.tables, table)
            if found:
                keys = [{name: row[name] for name in table.key_names} for row in found]
                self.tables.delete_many(table, keys)
        self.records()

    def records(self) -> list[tuple[str, dict[str, Any]]]:
        """What was not read before of the streams, each record with the name of its table."""
        found: list[tuple[str, dict[str, Any]]] = []
        for name, shards in self._shards.items():
            for arn, shard in shards:
                records = self._streams.get_records(ShardIterator=self._iterator(arn, shard))
                told = [cast("dict[str, Any]", record) for record in records["Records"]]
                if told:
                    self._read[shard] = told[-1]["dynamodb"]["SequenceNumber"]
                found += ((name, record) for record in told)
        return found

    def _iterator(self, arn: str, shard: str) -> str:
        start: dict[str, Any] = {"ShardIteratorType": "TRIM_HORIZON"}
        if shard in self._read:
            start = {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "SequenceNumber": self._read[shard],
            }
        reply = self._streams.get_shard_iterator(StreamArn=arn, ShardId=shard, **start)
        return reply.get("ShardIterator", "")


def _shards(client: "DynamoDBStreamsClient", table: str) -> list[tuple[str, str]]:
    (stream,) = client.list_streams(TableName=table)["Streams"]
    arn = stream.get("StreamArn", "")
    shards = client.describe_stream(StreamArn=arn)["StreamDescription"].get("Shards", [])
    return [(arn, shard.get("ShardId", "")) for shard in shards]


class Watched:
    """A port: `before` is called ahead of every request, `after` with what it was."""

    def __init__(
        self,
        port: object,
        before: Callable[[str], None],
        after: Callable[[str, tuple[Any, ...]], None] = lambda name, given: None,
    ) -> None:
        self._port, self._before, self._after = port, before, after

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._port, name)

        def watched(*given: Any, **named: Any) -> Any:
            self._before(name)
            result = call(*given, **named)
            self._after(name, given)
            return result

        return watched


_TOLD = {"put", "complete_multipart", "delete", "delete_version"}


def _touched(name: str, given: tuple[Any, ...]) -> list[tuple[str, str]]:
    """The objects (bucket and key) that a request to S3 made or removed."""
    if name in _TOLD:
        return [(given[0], given[1])]
    if name == "copy":
        return [given[1]]
    if name == "delete_many":
        return [(given[0], key) for key, _ in given[1]]
    return []


class EngineWorld(World):
    """The product on engines that run; tables are cleared before each history."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._name = new_uuid()[:8]
        super().__init__(lag=False)

    def made_ports(self) -> Ports:
        self._store.clear()
        engines = self._store.engines
        s3 = engines.s3
        take_versions_as_sent(s3)
        environment = dict(in_memory_settings().environment)
        for bucket in BUCKETS:
            physical = f"{self._name}-{bucket.name.lower()}"
            environment[f"BUCKET_{bucket.name}"] = physical
            s3.create_bucket(Bucket=physical)
            if bucket.versioned:
                versioning: Any = {"Status": "Enabled"}
                s3.put_bucket_versioning(Bucket=physical, VersioningConfiguration=versioning)
        self._client = OpenSearch(engines.url("opensearch"), timeout=120, max_retries=0)
        self._names = (f"assets-{self._name}", f"files-{self._name}")
        assets, files = self._names
        state = SearchState(self._store.tables, self.time.clock)
        state.begin(Pointer(assets, (assets,), files, (files,)))
        before = self.turns.before
        return Ports(
            cast("Tables", Watched(self._store.tables, before)),
            cast("Objects", Watched(S3Objects(s3), before, self._tell)),
            self.queues,
            cast("SearchEngine", Watched(OpenSearchEngine(self._client), before, self._answer)),
            Settings(environment),
            self.time.clock,
        )

    def _tell(self, name: str, given: tuple[Any, ...]) -> None:
        """Tell what S3 tells EventBridge: which objects came or went."""
        for bucket, key in _touched(name, given):
            self.object_changed(bucket, key)

    def _answer(self, name: str, given: tuple[Any, ...]) -> None:
        """Between a bulk and its answer a worker may be stopped, too."""
        if name == "bulk":
            self.turns.before("answer")

    @property
    def bucket(self) -> str:
        return f"{self._name}-assetbucket"

    def send(self, url: str, body: bytes) -> str:
        reply = httpx.put(url, content=body)
        reply.raise_for_status()
        return reply.headers["ETag"]

    def pull(self) -> None:
        for table, record in self._store.records():
            for one in STREAM_SUBSCRIPTIONS:
                if one.source.name == table and is_wanted(record, one.pattern):
                    self.streams.setdefault(one.consumer, []).append(record)

    def documents(self) -> dict[str, JsonObject]:
        self._client.indices.refresh(index=",".join(self._names))
        query: JsonObject = {"bool": {"must_not": [{"term": {"deleted": True}}]}}
        reply = self._client.search(
            index=",".join(self._names), body={"query": query, "size": 1000}
        )
        return {
            hit["_id"]: {k: v for k, v in hit["_source"].items() if k not in OF_A_WRITE}
            for hit in reply["hits"]["hits"]
        }

    def let_indexes_see(self, until: int) -> None:
        """They always do."""

    def let_an_index_see(self, number: int) -> None:
        """They always do."""

    def behind(self) -> Iterable[Any]:
        return ()

    def close(self) -> None:
        super().close()
        self._client.indices.delete(index=",".join(self._names))
