"""The measurements of the indexing path: the parts of the product, and their ceilings.

Every measurement writes into empty indexes.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.aws.search_engine import connect
from backend.core.references import AssetRef, FileRef
from backend.core.search_engine import DocumentWrite
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.indexing import object_events, rebuilder
from backend.entrypoints.wiring.indexing import table_changes as consume_changes
from backend.search.indexing.bulk import MAX_DOCUMENTS, BulkWriter, write_of
from backend.search.indexing.changes import object_changes, table_changes
from backend.search.indexing.projections import AssetSource, FileSource, Source, project
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.references import Reference
from backend.search.indexing.sources import Reading, Sources
from backend.spec.functions.workers import INDEX_OBJECTS
from benchmarks.bare import Portion, bulk_request, do_barely, portions, send_raw
from benchmarks.data import DATABASE, Batches, Size
from benchmarks.engines import Site

RAW_HTTP = "raw bulk, bare HTTP"
RAW_PORT = "raw bulk, our port"
MEMORY = "from sources in memory"
FLOOR = "bare floor, each asset once"
FLOOR_STREAMS = "bare floor of stream records"
FLOOR_OBJECTS = "bare floor of object events"
STREAMS = "pipeline of stream records"
OBJECTS = "pipeline of object events"


@dataclass(frozen=True)
class Phase:
    """A measurement; `documents` is the minimum number that it must write."""

    name: str
    run: Callable[[], object]
    documents: int


class SourcesInMemory(Sources):
    """Sources that were read before; reading them again takes one look-up each."""

    def __init__(self, known: Mapping[Reference, Source]) -> None:
        """Store sources that were read."""
        self._known = known

    def read(self, references: Iterable[Reference]) -> Reading:
        return Reading(sources=[self._known[reference] for reference in references])


def phases(site: Site, size: Size, batches: Batches) -> list[Phase]:
    """All measurements except the sum of both pipelines, in the order of one round."""
    references = size.references()
    known = _read(site, references)
    writes = _writes(site, known.values())
    requests = [bulk_request(some) for some in _slices(writes)]
    everything, files = size.documents, size.assets * size.files
    in_memory = _rebuilder_in_memory(site.context, known)
    changes = consume_changes(site.context)
    objects = object_events(Context(INDEX_OBJECTS))

    once = [Portion(size.asset_ids, requests)]
    stream_portions = portions(site, known, batches.streams, table_changes)
    object_portions = portions(site, known, batches.objects, object_changes)

    return [
        Phase(RAW_HTTP, lambda: send_raw(site, requests), everything),
        Phase(MEMORY, lambda: in_memory.rebuild(references), everything),
        Phase(RAW_PORT, lambda: _write_by_port(site, writes), everything),
        Phase(FLOOR, lambda: do_barely(site, once), everything),
        Phase(FLOOR_STREAMS, lambda: do_barely(site, stream_portions), everything),
        Phase(STREAMS, lambda: _consume(changes, batches.streams), everything),
        Phase(FLOOR_OBJECTS, lambda: do_barely(site, object_portions), files),
        Phase(OBJECTS, lambda: _consume(objects, batches.objects), files),
    ]


def _read(site: Site, references: Sequence[Reference]) -> dict[Reference, Source]:
    reading = rebuilder(site.context).sources.read(references)
    sources: dict[Reference, Source] = {}
    for source in reading.sources:
        if isinstance(source, AssetSource):
            sources[AssetRef(DATABASE, str(source.row["assetId"]))] = source
        elif isinstance(source, FileSource):
            asset_id = str(source.asset["assetId"])
            path = source.version.key.removeprefix(asset_id)
            sources[FileRef(DATABASE, asset_id, path)] = source
    if sources.keys() != set(references):
        raise RuntimeError(f"{len(sources)} sources were read of {len(references)}")
    return sources


def _writes(site: Site, sources: Iterable[Source]) -> list[DocumentWrite]:
    documents = [project(source) for source in sources]
    return [write_of(document, site.pointer.current(document.index), 1) for document in documents]


def _slices(writes: list[DocumentWrite]) -> list[list[DocumentWrite]]:
    return [writes[at : at + MAX_DOCUMENTS] for at in range(0, len(writes), MAX_DOCUMENTS)]


def _write_by_port(site: Site, writes: list[DocumentWrite]) -> None:
    engine = connect(site.context.settings)
    for some in _slices(writes):
        engine.bulk(some)


def _rebuilder_in_memory(context: Context, known: Mapping[Reference, Source]) -> Rebuilder:
    real = rebuilder(context)
    return Rebuilder(
        state=real.state,
        sources=SourcesInMemory(known),
        geo_keys=real.geo_keys,
        writer=BulkWriter(connect(context.settings)),
        failures=real.failures,
        queues=real.queues,
        settle_delay_seconds=real.settle_delay_seconds,
    )


def _consume(consume: Callable[[dict[str, Any]], Any], batches: Iterable[str]) -> None:
    for batch in batches:
        reply = consume(json.loads(batch))
        if reply["batchItemFailures"]:
            raise RuntimeError(f"a batch was given back: {reply}")
