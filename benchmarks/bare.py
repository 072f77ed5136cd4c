"""The ceilings: the rates of the engines with plain clients, without the product.

*Raw bulk* sends prebuilt documents. The *bare floor* reads the sources first, with the fewest
requests: for each asset one query of its metadata, one of its attributes and one listing. It is
measured once for each asset, and in the portions in which events arrive, because neither a plain
client nor the product can read the content of the next batch in advance.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from backend.core.parallel import WORKERS
from backend.core.references import AssetRef, FileRef
from backend.core.search_engine import DocumentWrite
from backend.search.indexing.bulk import write_of
from backend.search.indexing.changes import Changes, Record
from backend.search.indexing.projections import Source, project
from backend.search.indexing.references import Reference
from backend.spec import keys
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import (
    ASSET_FILE_METADATA,
    ATTRIBUTES_BY_ASSET,
    FILE_ATTRIBUTES,
    FILE_METADATA_BY_ASSET,
)
from backend.spec.tables.model import Index, Table
from benchmarks.data import DATABASE
from benchmarks.engines import BUCKET, Site


@dataclass(frozen=True)
class Portion:
    """Assets to read, and the bulk requests with their prebuilt documents."""

    asset_ids: Sequence[str]
    requests: Sequence[bytes]


def portions(
    site: Site,
    known: Mapping[Reference, Source],
    batches: Iterable[str],
    changes: Callable[[Sequence[Record]], Changes],
) -> list[Portion]:
    """The assets of each batch of events, and its documents in the version of the batch."""
    portions: list[Portion] = []
    for number, batch in enumerate(batches, start=1):
        touched = [_resolved(change) for change in changes(json.loads(batch)["Records"]).references]
        documents = [project(known[reference]) for reference in touched]
        writes = [write_of(d, site.pointer.current(d.index), number) for d in documents]
        portions.append(
            Portion(sorted({asset.asset_id for asset in touched}), [bulk_request(writes)])
        )
    return portions


def _resolved(reference: Reference) -> AssetRef | FileRef:
    if isinstance(reference, AssetRef | FileRef):
        return reference
    asset_id, _, path = reference.key.partition("/")
    return FileRef(DATABASE, asset_id, "/" + path)


def do_barely(site: Site, work: Iterable[Portion]) -> None:
    """Read and write one portion after the other."""
    for portion in work:
        _read(site, portion.asset_ids)
        send_raw(site, portion.requests)


def bulk_request(writes: Iterable[DocumentWrite]) -> bytes:
    lines: list[str] = []
    for write in writes:
        action: dict[str, Any] = {"_index": write.index, "_id": write.id, "version": write.version}
        lines += (json.dumps({"index": {**action, "version_type": "external"}}), write.body)
    return ("\n".join(lines) + "\n").encode()


def send_raw(site: Site, requests: Iterable[bytes]) -> None:
    for body in requests:
        reply = site.http.request(
            "POST",
            f"{site.opensearch}/_bulk",
            body=body,
            headers={"Content-Type": "application/x-ndjson"},
        )
        if reply.status != 200 or b'"errors":false' not in reply.data:
            raise RuntimeError(f"the raw bulk fails: {reply.data[:500].decode()}")


def _read(site: Site, asset_ids: Sequence[str]) -> None:
    """The fewest reads: one BatchGet, and for each asset two queries and one listing."""
    keys = [{"databaseId": {"S": DATABASE}, "assetId": {"S": asset_id}} for asset_id in asset_ids]
    for at in range(0, len(keys), 100):
        request: Any = {ASSETS.name: {"Keys": keys[at : at + 100], "ConsistentRead": True}}
        site.clients.dynamodb.batch_get_item(RequestItems=request)
    with ThreadPoolExecutor(WORKERS) as pool:
        tasks = [
            pool.submit(read, site, asset_id)
            for asset_id in asset_ids
            for read in (_query_metadata, _query_attributes, _list_versions)
        ]
        for task in tasks:
            task.result()


def _query_metadata(site: Site, asset_id: str) -> int:
    return _query(site, ASSET_FILE_METADATA, FILE_METADATA_BY_ASSET, asset_id)


def _query_attributes(site: Site, asset_id: str) -> int:
    return _query(site, FILE_ATTRIBUTES, ATTRIBUTES_BY_ASSET, asset_id)


def _query(site: Site, table: Table, index: Index, asset_id: str) -> int:
    count = 0
    start: Any = {}
    while True:
        reply = site.clients.dynamodb.query(
            TableName=table.name,
            IndexName=index.name,
            KeyConditionExpression="#key = :value",
            ExpressionAttributeNames={"#key": keys.ASSET.name},
            ExpressionAttributeValues={":value": {"S": keys.ASSET.build(DATABASE, asset_id)}},
            **start,
        )
        count += len(reply["Items"])
        if "LastEvaluatedKey" not in reply:
            return count
        start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}


def _list_versions(site: Site, asset_id: str) -> int:
    reply = site.clients.s3.list_object_versions(Bucket=BUCKET, Prefix=f"{asset_id}/")
    return len(reply.get("Versions", []))
