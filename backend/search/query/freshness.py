"""Decides whether search results include a write. Decision 28 gives the proof.

The sources of the written documents are read again, consistently, and projected as in a rebuild.
The search returns the hashes of these documents from the same view of the index. If two hashes are
equal, the document shows the sources at some time after the write. A document with a ticket above
the last one issued by then was also read from its sources after the write, except for metadata,
which rebuilds read through an eventually consistent index.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from backend.core.references import AssetRef
from backend.core.search_engine import JsonObject
from backend.core.sync_tokens import Written
from backend.domains.metadata.models import Entity, Kind
from backend.domains.metadata.repository import MetadataRepository
from backend.search.indexing.bulk import content_of
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.projections import (
    AssetSource,
    FileSource,
    Row,
    Source,
    project,
    reference_of,
    wanted_geo_keys,
)
from backend.search.indexing.references import ROOT_PATH, Reference, at_path
from backend.search.indexing.sources import Sources, prefix_of, valid_record
from backend.search.indexing.state import SearchState
from backend.search.query.facets import ASSET_ID
from backend.search.query.plan import NOT_SHOWN
from backend.search.values import Record
from backend.spec.keys import active
from backend.spec.search_indexes import FILE_INDEX
from backend.values import frozen

_NAME, _SHOWN_FILES, _DOCUMENTS_FROM = "written", "shown_files", "from_"
# Hits that OpenSearch returns inside a facet by default (`index.max_inner_result_window`).
_HITS = 100


class StoredVersion(NamedTuple):
    """A document in an index: its ticket and the hash of its content."""

    ticket: int
    hash: str


@frozen
class Expected:
    """A document as its sources define it; `hash` is None while they cannot be read completely.

    `hides_files_of` is the id of an archived or deleted asset, whose files no search finds.
    """

    reference: Reference
    id: str = ""
    record_type: str = ""
    hash: str | None = None
    gone: bool = False
    hides_files_of: str | None = None


@dataclass(eq=False, repr=False)
class Freshness:
    """Reads the expected content of documents."""

    sources: Sources
    records: MetadataRepository
    geo_keys: GeoKeys
    state: SearchState

    def watch(self, written: Written, record_types: Iterable[str]) -> "Watch":
        """Return a watch for the documents of a write, of these types."""
        last_ticket = self.state.last_ticket()
        references = {
            at_path(document.database_id, document.asset_id, document.path or ROOT_PATH)
            for document in written.documents
        }
        return Watch(
            partial(self.expected, records=written.records),
            references,
            record_types=frozenset(record_types),
            # A rebuild with a later ticket has read rows and objects after the write.
            sure_above=None if written.records else last_ticket,
        )

    def expected(self, references: Iterable[Reference], *, records: bool) -> list[Expected]:
        """Return the expected content of the documents.

        A path of an asset that was deleted identifies no document, because its key is not known.
        """
        reading = self.sources.read(references)
        version = self.state.mapping_version_read()
        unknown = [reference for unread in reading.unreadable for reference in unread.references]
        return [
            *(Expected(reference) for reference in unknown),
            *(self._expected(source, version, records=records) for source in reading.sources),
        ]

    def _expected(self, source: Source, mapping_version: int, *, records: bool) -> Expected:
        whole = self._with_records(source) if records else source
        wanted = wanted_geo_keys([whole or source])
        allowed = self.geo_keys.known_keys(wanted) if wanted else frozenset[str]()
        document = project(whole or source, allowed, mapping_version)
        reference, gone = reference_of(document), document.body.get("deleted") is True
        is_asset = isinstance(reference, AssetRef)
        return Expected(
            reference,
            document.id,
            document.index.record_type,
            content_of(document)[1] if whole is not None else None,
            gone,
            reference.asset_id if is_asset and (gone or document.body["bool_archived"]) else None,
        )

    def _with_records(self, source: Source) -> Source | None:
        """Return the source with its records from the table; None if they cannot be determined."""
        if isinstance(source, AssetSource):
            metadata = self._records(_entity(source.row))
            return None if metadata is None else replace(source, metadata=metadata)
        if not isinstance(source, FileSource):
            return source
        path = "/" + source.version.key.removeprefix(prefix_of(dict(source.asset)))
        metadata = self._records(_entity(source.asset, path))
        attributes = self._records(_entity(source.asset, path, "attribute"))
        if metadata is None or attributes is None:
            return None
        return replace(source, metadata=metadata, attributes=attributes)

    def _records(self, entity: Entity) -> tuple[Record, ...] | None:
        """Return all records of an entity.

        An eventually consistent index lists them, and the table is read for each. They are complete
        if their number is the stored count, and none was added or removed meanwhile.
        """
        before = self.records.set_of(entity)
        named = self.records.keys_of(entity) if before.total else ()
        stored = self.records.found(entity, sorted(named))
        if len(stored) != before.total or self.records.set_of(entity) != before:
            return None
        return tuple(
            valid_record(record.metadata_key, record.metadata_value, record.metadata_value_type)
            for record, _ in stored.values()
        )


class Watch:
    """Compares documents in search results until all of them were as expected.

    A document whose ticket is above `sure_above` needs no comparison.
    """

    def __init__(
        self,
        expected: Callable[[Iterable[Reference]], list[Expected]],
        references: Iterable[Reference],
        *,
        record_types: frozenset[str],
        sure_above: int | None,
    ) -> None:
        self._read = expected
        self._record_types = record_types
        self._sure_above = sure_above
        self._seen: dict[str, StoredVersion | None] = {}
        self._pending = self._expected(references)

    @property
    def pending(self) -> int:
        """Return how many documents are not confirmed yet."""
        return len(self._pending)

    def facet(self) -> JsonObject:
        """Return the aggregation that a search needs to return the documents."""
        ids = [document.id for document in self._pending if document.id]
        # From doc values: the sources of a hundred large documents would be read for two fields.
        shown = {"top_hits": {"size": _HITS, "_source": False, "docvalue_fields": ["hash", "rev"]}}
        named: JsonObject = {
            f"{_DOCUMENTS_FROM}{start}": {
                "filter": {"ids": {"values": ids[start : start + _HITS]}},
                "aggs": {"documents": shown},
            }
            for start in range(0, len(ids), _HITS)
        }
        hiding = [document.hides_files_of for document in self._pending if document.hides_files_of]
        if hiding:
            shown_files: JsonObject = {
                "filter": [
                    {"terms": {ASSET_ID: hiding}},
                    {"term": {"_rectype": FILE_INDEX.record_type}},
                ],
                "must_not": NOT_SHOWN,
            }
            of_asset = {"terms": {"field": ASSET_ID, "size": len(hiding)}}
            named[_SHOWN_FILES] = {"filter": {"bool": shown_files}, "aggs": {"of_asset": of_asset}}
        # Includes documents outside the query and not visible to the caller; `look` removes them.
        return {_NAME: {"global": {}, "aggs": named}}

    def confirm(self, aggregations: JsonObject) -> None:
        """Confirm the documents that the aggregation in a response contains.

        The sources of a document are read again only if the index returns another version than
        before.
        """
        facet = aggregations[_NAME]
        shown_files = facet.get(_SHOWN_FILES, {"of_asset": {"buckets": []}})
        shown = {bucket["key"] for bucket in shown_files["of_asset"]["buckets"]}
        parts = (part for name, part in facet.items() if name.startswith(_DOCUMENTS_FROM))
        hits = (hit for part in parts for hit in part["documents"]["hits"]["hits"])
        standing = {
            hit["_id"]: StoredVersion(int(hit["fields"]["rev"][0]), str(hit["fields"]["hash"][0]))
            for hit in hits
        }
        left = [
            document
            for document in self._pending
            if document.hides_files_of in shown or not self._holds(document, standing)
        ]
        changed = {
            document.reference
            for document in left
            if document.hash is None
            or document.hides_files_of  # the asset may have been restored
            or (document.id in self._seen and self._seen[document.id] != standing.get(document.id))
        }
        self._seen |= {document.id: standing.get(document.id) for document in left}
        again = self._expected(changed) if changed else []
        self._pending = [
            *(document for document in left if document.reference not in changed),
            # Their files may not have been counted yet.
            *(
                document
                for document in again
                if document.hides_files_of or not self._holds(document, standing)
            ),
        ]

    def _expected(self, references: Iterable[Reference]) -> list[Expected]:
        return [
            document
            for document in self._read(references)
            if not document.record_type
            or document.record_type in self._record_types
            or document.hides_files_of
        ]

    def _holds(self, document: Expected, standing: Mapping[str, StoredVersion]) -> bool:
        if document.record_type and document.record_type not in self._record_types:
            return True  # only its files are searched
        stored = standing.get(document.id)
        if stored is None:
            return document.gone
        if self._sure_above is not None and stored.ticket > self._sure_above:
            return True
        return stored.hash == document.hash


def _entity(row: Row, path: str = ROOT_PATH, kind: Kind = "metadata") -> Entity:
    return Entity(active(str(row["databaseId"])), str(row["assetId"]), path, kind)
