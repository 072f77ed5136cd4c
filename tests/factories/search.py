"""Sources of documents in tests, and the indexing path over any ports."""

from datetime import UTC, datetime
from typing import Any

from backend.core.clock import Clock
from backend.core.objects import Objects
from backend.core.queues import Queues
from backend.core.search_engine import SearchEngine
from backend.core.tables import Tables
from backend.core.transactions import Delete, Item, Key, Put
from backend.domains.assets.repository import AssetRepository
from backend.search.indexing.bulk import BulkWriter
from backend.search.indexing.failures import FailureStore
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.sources import Sources
from backend.search.indexing.state import SearchState
from backend.spec import keys
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import ASSET_FILE_METADATA, FILE_ATTRIBUTES
from backend.spec.tables.operations import RESERVATIONS
from tests.factories.buckets import BUCKET_ID

NOON = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
DATABASE = "museum"
ASSET = "pump"


def asset_row(
    asset_id: str = ASSET, *, database_id: str = DATABASE, archived: bool = False, **fields: Any
) -> Item:
    """The row of an asset whose prefix is the folder of its id."""
    return {
        "databaseId": keys.archived(database_id) if archived else database_id,
        "assetId": asset_id,
        "assetName": f"The {asset_id}",
        "description": "A thing to look at",
        "isDistributable": True,
        "tags": ["red"],
        "assetType": "folder",
        "status": "archived" if archived else "active",
        "bucketId": BUCKET_ID,
        "assetLocation": {"Key": f"{asset_id}/"},
        "currentVersion": {
            "Version": "0",
            "DateModified": "2026-03-01T12:00:00.000000Z",
            "Comment": "as scanned",
        },
        "revision": 1,
        "inheritedRevision": 1,
        **fields,
    }


def store_asset(tables: Tables, asset_id: str = ASSET, **fields: Any) -> Item:
    """Write an asset's row and the reservation of its prefix."""
    row = asset_row(asset_id, **fields)
    tables.write(Put(table=ASSETS, item=row))
    reservation = {
        "reservationKey": f"Prefix#{BUCKET_ID}#{row['assetLocation']['Key']}",
        "databaseId": keys.active(row["databaseId"]),
        "assetId": asset_id,
    }
    tables.write(Put(table=RESERVATIONS, item=reservation))
    return row


def remove_asset(tables: Tables, asset_id: str = ASSET, *, database_id: str = DATABASE) -> None:
    tables.write(Delete(table=ASSETS, key={"databaseId": database_id, "assetId": asset_id}))


def metadata_key(key: str, asset_id: str = ASSET, path: str = "/") -> Key:
    """The primary key of a metadata record."""
    return {"metadataKey": key, keys.FILE.name: keys.FILE.build(DATABASE, asset_id, path)}


def store_metadata(
    tables: Tables,
    key: str,
    value: str,
    *,
    asset_id: str = ASSET,
    path: str = "/",
    value_type: str = "string",
) -> None:
    item = {
        **metadata_key(key, asset_id, path),
        keys.ASSET.name: keys.ASSET.build(DATABASE, asset_id),
        "metadataValue": value,
        "metadataValueType": value_type,
    }
    tables.write(Put(table=ASSET_FILE_METADATA, item=item))


def store_attribute(
    tables: Tables, key: str, value: str, *, asset_id: str = ASSET, path: str
) -> None:
    item = {
        "attributeKey": key,
        keys.FILE.name: keys.FILE.build(DATABASE, asset_id, path),
        keys.ASSET.name: keys.ASSET.build(DATABASE, asset_id),
        "attributeValue": value,
        "attributeValueType": "string",
    }
    tables.write(Put(table=FILE_ATTRIBUTES, item=item))


def rebuilder(
    tables: Tables,
    objects: Objects,
    queues: Queues,
    engine: SearchEngine,
    *,
    clock: Clock = lambda: NOON,
    failure_bucket: str = "failurebucket",
    workers: int = 1,
    patience: float = 0,
    settle_delay_seconds: int = 900,
) -> Rebuilder:
    """The indexing path; with `patience=0` it fails at the first outage."""
    return Rebuilder(
        state=SearchState(tables, clock),
        sources=Sources(tables, objects, AssetRepository(tables).owners, workers=workers),
        geo_keys=GeoKeys(tables),
        writer=BulkWriter(engine, patience=patience),
        failures=FailureStore(objects, failure_bucket, "Test", clock),
        queues=queues,
        settle_delay_seconds=settle_delay_seconds,
    )


def stream_record(
    keys_of_item: Key, image: dict[str, Any] | None = None, *, event_id: str = "1"
) -> dict[str, Any]:
    """A record of a DynamoDB stream as Lambda receives it; without an image, of a removal."""
    change: dict[str, Any] = {
        "Keys": {name: {"S": value} for name, value in keys_of_item.items()},
        "SequenceNumber": event_id,
    }
    if image is not None:
        change["NewImage"] = image
    return {
        "eventID": event_id,
        "eventName": "REMOVE" if image is None else "MODIFY",
        "dynamodb": change,
    }


def object_message(bucket: str, key: str, *, message_id: str = "m") -> dict[str, Any]:
    """A queue message with an object event in EventBridge's form."""
    import json

    event = {
        "source": "aws.s3",
        "detail-type": "Object Created",
        "detail": {"bucket": {"name": bucket}, "object": {"key": key}},
    }
    return {"messageId": message_id, "body": json.dumps(event)}
