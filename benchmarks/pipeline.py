"""What is measured of the indexing path: two ceilings, and two parts of the product below them.

Every measurement writes into empty indexes. The floor and the raw bulk know nothing of the product:
they say what the engines would take.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from backend.aws.search_engine import connect
from backend.core.parallel import WORKERS
from backend.core.search_engine import DocumentWrite
from backend.entrypoints.indexing import IndexingWiring
from backend.search.bulk import MAX_DOCUMENTS, BulkWriter, write_of
from backend.search.projections import AssetSource, FileSource, Source, project
from backend.search.rebuild import Rebuilder
from backend.search.references import AssetRef, FileRef, Reference
from backend.search.sources import Reading, Sources
from backend.spec import keys
from backend.spec.functions import INDEX_OBJECTS
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import (
    ASSET_FILE_METADATA,
    ATTRIBUTES_BY_ASSET,
    FILE_ATTRIBUTES,
    FILE_METADATA_BY_ASSET,
)
from backend.spec.tables.model import Index, Table
from benchmarks.data import DATABASE, Batches, Size
from benchmarks.engines import BUCKET, Site
from tests.factories.http import Context

RAW_HTTP = "raw bulk, bare HTTP"
RAW_PORT = "raw bulk, our port"
MEMORY = "from sources in memory"
FLOOR = "bare floor"
STREAMS = "pipeline: stream records"
OBJECTS = "pipeline: object events"


@dataclass(frozen=True)
class Phase:
    """A measurement; `documents` are those that it must write at the least."""

    name: str
    run: Callable[[], object]
    documents: int


class SourcesInMemory(Sources):
    """Sources that were read before; reading them again costs a look-up each."""

    def __init__(self, known: Mapping[Reference, Source]) -> None:
        """Take over what was read."""
        self._known = known

    def read(self, references: Iterable[Reference]) -> Reading:
        return Reading(sources=[self._known[reference] for reference in references])


def phases(site: Site, size: Size, batches: Batches) -> list[Phase]:
    """All measurements but the sum of both pipelines, in the order of one round."""
    references = size.references()
    known = _read(site, references)
    writes = _writes(site, known.values())
    requests = [_bulk_request(some) for some in _slices(writes)]
    everything, files = size.documents, size.assets * size.files
    rebuilder = _rebuilder_in_memory(site.wiring, known)
    changes = site.wiring.changes_handler
    objects = IndexingWiring(INDEX_OBJECTS).objects_handler

    def floor() -> None:
        _read_barely(site, size)
        _send_raw(site, requests)

    return [
        Phase(RAW_HTTP, lambda: _send_raw(site, requests), everything),
        Phase(MEMORY, lambda: rebuilder.rebuild(references), everything),
        Phase(RAW_PORT, lambda: _write_by_port(site, writes), everything),
        Phase(FLOOR, floor, everything),
        Phase(STREAMS, lambda: _consume(changes, batches.streams), everything),
        Phase(OBJECTS, lambda: _consume(objects, batches.objects), files),
    ]


def _read(site: Site, references: Sequence[Reference]) -> dict[Reference, Source]:
    reading = site.wiring.rebuilder.sources.read(references)
    found: dict[Reference, Source] = {}
    for source in reading.sources:
        if isinstance(source, AssetSource):
            found[AssetRef(DATABASE, str(source.row["assetId"]))] = source
        elif isinstance(source, FileSource):
            asset_id = str(source.asset["assetId"])
            path = source.version.key.removeprefix(asset_id)
            found[FileRef(DATABASE, asset_id, path)] = source
    if found.keys() != set(references):
        raise RuntimeError(f"{len(found)} sources were read of {len(references)}")
    return found


def _writes(site: Site, sources: Iterable[Source]) -> list[DocumentWrite]:
    documents = [project(source) for source in sources]
    return [write_of(one, site.pointer.current(one.index), 1) for one in documents]


def _slices(writes: list[DocumentWrite]) -> list[list[DocumentWrite]]:
    return [writes[at : at + MAX_DOCUMENTS] for at in range(0, len(writes), MAX_DOCUMENTS)]


def _bulk_request(writes: Iterable[DocumentWrite]) -> bytes:
    lines: list[str] = []
    for write in writes:
        action: dict[str, Any] = {"_index": write.index, "_id": write.id, "version": write.version}
        lines += (json.dumps({"index": {**action, "version_type": "external"}}), write.body)
    return ("\n".join(lines) + "\n").encode()


def _send_raw(site: Site, requests: Iterable[bytes]) -> None:
    for body in requests:
        reply = site.http.request(
            "POST",
            f"{site.opensearch}/_bulk",
            body=body,
            headers={"Content-Type": "application/x-ndjson"},
        )
        if reply.status != 200 or b'"errors":false' not in reply.data:
            raise RuntimeError(f"the raw bulk fails: {reply.data[:500].decode()}")


def _write_by_port(site: Site, writes: list[DocumentWrite]) -> None:
    engine = connect(site.wiring.settings)
    for some in _slices(writes):
        engine.bulk(some)


def _rebuilder_in_memory(wiring: IndexingWiring, known: Mapping[Reference, Source]) -> Rebuilder:
    real = wiring.rebuilder
    return Rebuilder(
        state=real.state,
        sources=SourcesInMemory(known),
        geo_keys=real.geo_keys,
        writer=BulkWriter(connect(wiring.settings)),
        failures=real.failures,
        queues=real.queues,
        settle_delay_seconds=real.settle_delay_seconds,
    )


def _read_barely(site: Site, size: Size) -> None:
    """The fewest reads: one BatchGet, and for each asset two queries and one listing."""
    asked = [{"databaseId": {"S": DATABASE}, "assetId": {"S": each}} for each in size.asset_ids]
    for at in range(0, len(asked), 100):
        request: Any = {ASSETS.name: {"Keys": asked[at : at + 100], "ConsistentRead": True}}
        site.clients.dynamodb.batch_get_item(RequestItems=request)
    with ThreadPoolExecutor(WORKERS) as pool:
        tasks = [
            pool.submit(read, site, asset_id)
            for asset_id in size.asset_ids
            for read in (_query_metadata, _query_attributes, _list_versions)
        ]
        for task in tasks:
            task.result()


def _query_metadata(site: Site, asset_id: str) -> int:
    return _query(site, ASSET_FILE_METADATA, FILE_METADATA_BY_ASSET, asset_id)


def _query_attributes(site: Site, asset_id: str) -> int:
    return _query(site, FILE_ATTRIBUTES, ATTRIBUTES_BY_ASSET, asset_id)


def _query(site: Site, table: Table, index: Index, asset_id: str) -> int:
    found = 0
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
        found += len(reply["Items"])
        if "LastEvaluatedKey" not in reply:
            return found
        start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}


def _list_versions(site: Site, asset_id: str) -> int:
    reply = site.clients.s3.list_object_versions(Bucket=BUCKET, Prefix=f"{asset_id}/")
    return len(reply.get("Versions", []))


def _consume(handler: Callable[[dict[str, Any], Any], Any], batches: Iterable[str]) -> None:
    context = Context()
    for batch in batches:
        reply = handler(json.loads(batch), context)
        if reply["batchItemFailures"]:
            raise RuntimeError(f"a batch was given back: {reply}")
