"""The assets, files, metadata and attributes that a benchmark indexes, and their events.

The events are real: stream records are read from the streams after the rows were written.
"""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from backend.core.references import AssetRef, FileRef
from backend.core.transactions import Item
from backend.domains.metadata.models import Entity, Record
from backend.domains.metadata.repository import item_of
from backend.search.indexing.references import Reference
from backend.spec.functions.workers import INDEX_CHANGES
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from backend.spec.tables.metadata import ASSET_FILE_METADATA, FILE_ATTRIBUTES
from backend.spec.tables.model import Table
from benchmarks.engines import BUCKET, Site
from local.plan import Object
from local.pumps.bus import new_event
from local.pumps.records import event_record
from tests.factories.assets import asset_service, created_asset, created_database

T = TypeVar("T")
DATABASE = "museum"
EVENTS_A_BATCH = 500
_WORDS = ("oak", "steel", "marble", "glass", "copper", "linen")
_KINDS = ("glb", "obj", "stl", "ply", "png", "las")
_MAX_READ = 1000


@dataclass(frozen=True)
class Size:
    """The numbers of assets and files; each file has three metadata records and two attributes."""

    assets: int
    files: int

    @property
    def documents(self) -> int:
        return self.assets * (self.files + 1)

    @property
    def rows(self) -> int:
        """The rows whose changes are indexed."""
        return self.assets * (1 + 5 * self.files)

    @property
    def asset_ids(self) -> list[str]:
        return [f"asset-{number:03}" for number in range(self.assets)]

    @property
    def paths(self) -> list[str]:
        """The paths of the files of each asset."""
        return [
            f"/part-{number // 50}/{_WORDS[number % 6]}-{number:04}.{_KINDS[number % 6]}"
            for number in range(self.files)
        ]

    def references(self) -> list[Reference]:
        """All documents."""
        references: list[Reference] = []
        for asset_id in self.asset_ids:
            references.append(AssetRef(DATABASE, asset_id))
            references += (FileRef(DATABASE, asset_id, path) for path in self.paths)
        return references


@dataclass(frozen=True)
class Batches:
    """Events as the two kinds of functions receive them: JSON texts, one per batch."""

    streams: list[str]
    objects: list[str]


def write(site: Site, size: Size) -> None:
    """Create everything in the tables and the bucket."""
    service = asset_service(site.context.tables, site.context.objects)
    created_database(service, DATABASE)
    for asset_id in size.asset_ids:
        created_asset(service, asset_id, database_id=DATABASE, name=f"The {asset_id}")
    with ThreadPoolExecutor(4) as pool:
        rows = [pool.submit(_write_rows, site, size, table) for table in _RECORDS]
        objects = [pool.submit(_write_objects, site, size, half) for half in (0, 1)]
        for task in (*rows, *objects):
            task.result()


def _write_rows(site: Site, size: Size, table: Table) -> None:
    """Write rows one by one, in the order of an import, which is then the order of the stream."""
    for asset_id in size.asset_ids:
        items: list[Item] = []
        for number, path in enumerate(size.paths):
            kind, records = _RECORDS[table]
            entity = Entity(DATABASE, asset_id, path, "metadata" if kind else "attribute")
            items += (item_of(entity, record) for record in records(number))
        site.context.tables.put_many(table, items)


def _metadata(number: int) -> list[Record]:
    return [
        Record(metadata_key="material", metadata_value=_WORDS[number % 6]),
        Record(metadata_key="weight", metadata_value=f"{number}.5", metadata_value_type="number"),
        Record(
            metadata_key="made",
            metadata_value=f"19{number % 90 + 10}-05-01",
            metadata_value_type="date",
        ),
    ]


def _attributes(number: int) -> list[Record]:
    return [
        Record(metadata_key="vertices", metadata_value=str(number * 37)),
        Record(metadata_key="source", metadata_value="benchmark"),
    ]


_RECORDS = {ASSET_FILE_METADATA: (True, _metadata), FILE_ATTRIBUTES: (False, _attributes)}


def _write_objects(site: Site, size: Size, half: int) -> None:
    for asset_id in size.asset_ids[half::2]:
        for path in size.paths:
            key = f"{asset_id}{path}"
            site.clients.s3.put_object(Bucket=BUCKET, Key=key, Body=key.encode())


def batches(site: Site, size: Size) -> Batches:
    """Yield the events of streams and buckets for everything that was written.

    Raises:
        RuntimeError: the streams have fewer records than rows were written.
    """
    streams: list[str] = []
    count = 0
    for subscription in STREAM_SUBSCRIPTIONS:
        if subscription.consumer != INDEX_CHANGES.name:
            continue
        records = list(_stream_records(site, subscription.source.name))
        count += len(records)
        streams += (json.dumps({"Records": some}) for some in _in_batches(records))
    if count < size.rows:
        raise RuntimeError(f"the streams hold {count} records of {size.rows} rows")
    keys = [f"{asset_id}{path}" for asset_id in size.asset_ids for path in size.paths]
    messages = [_message(number, key) for number, key in enumerate(keys)]
    return Batches(streams, [json.dumps({"Records": some}) for some in _in_batches(messages)])


def _stream_records(site: Site, table: str) -> Iterator[Object]:
    client = site.clients.streams
    arn = site.clients.dynamodb.describe_table(TableName=table)["Table"].get("LatestStreamArn", "")
    shards = client.describe_stream(StreamArn=arn)["StreamDescription"].get("Shards", [])
    for shard in shards:
        begin = client.get_shard_iterator(
            StreamArn=arn,
            ShardId=shard.get("ShardId", ""),
            ShardIteratorType="TRIM_HORIZON",
        )
        iterator = begin.get("ShardIterator", "")
        while iterator:
            try:
                reply = client.get_records(ShardIterator=iterator, Limit=_MAX_READ)
            except client.exceptions.TrimmedDataAccessException:
                break  # the engine's reply for a shard without records
            if not reply["Records"]:
                break
            yield from (event_record(record, arn) for record in reply["Records"])
            iterator = reply.get("NextShardIterator", "")


def _message(number: int, key: str) -> Object:
    """An SQS message with an event in EventBridge's form."""
    detail: Object = {"bucket": {"name": BUCKET}, "object": {"key": key, "size": len(key)}}
    event = new_event("aws.s3", "Object Created", [f"arn:aws:s3:::{BUCKET}"], detail)
    return {
        "messageId": str(number),
        "receiptHandle": str(number),
        "body": json.dumps(event),
        "attributes": {"ApproximateReceiveCount": "1"},
        "eventSource": "aws:sqs",
    }


def _in_batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), EVENTS_A_BATCH):
        yield values[start : start + EVENTS_A_BATCH]
