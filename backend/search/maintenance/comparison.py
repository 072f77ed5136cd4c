"""Compares the sources with an index, in one window of a walk.

Documents of both are identified by id and hash of content. A difference may be a change in
progress, so `checks` compares again after a while.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from backend.core.references import AssetRef, FileKeyRef
from backend.core.search_engine import (
    DocumentRef,
    JsonObject,
    SearchEngine,
    StoredDocument,
    Stretch,
)
from backend.search.indexing.bulk import content_of
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.projections import (
    AssetSource,
    Document,
    FileSource,
    project,
    reference_of,
    stub,
    wanted_geo_keys,
)
from backend.search.indexing.sources import Sources
from backend.search.indexing.state import SearchState
from backend.search.maintenance.walk import LAST, Position, Window, place_of
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, SearchIndex

Drift = Literal["missing", "stale", "extra"]
"""`missing`: a document is not in the index. `stale`: its content is outdated. `extra`: only the
index has it."""
Names = Mapping[str, str]
"""The physical name of each search index, by alias."""
# As many as a rebuild reads under one ticket, so memory is the same.
READ_AT_ONCE = 1000
# Documents of an index that one window compares, so that memory stays constant (decision 29); the
# next window continues after them.
MOST_STANDING = 4000
# Hits of one request: the 10,000 of `max_result_window` would be the most.
_PAGE = 1000
# In base64 these are `DIGEST_CHARS`.
_DIGEST_BYTES = 6
# Two of 10,000 differences have equal digests of 48 bits once in some five million checks.
DIGEST_CHARS = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """A document that differs.

    `content` is the expected hash; empty for documents without a source.

    `since` is when the source of a missing document was created, if the source has the time.
    """

    drift: Drift
    id: str
    reference: AssetRef | FileKeyRef
    content: str = ""
    since: datetime | str | None = None

    @property
    def digest(self) -> str:
        """Return a digest of the document and its expected content."""
        kind = type(self.reference).__name__
        text = f"{kind} {self.id} {self.content}"
        return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:_DIGEST_BYTES]).decode()


@dataclass(slots=True)
class Compared:
    """The result of a window, up to and including a position.

    `refused` are documents that are indexed as stubs, because OpenSearch rejected them; they are
    listed among the failures. `unreadable` are assets with contradictory sources, `files` the
    sources of files.
    """

    upto: Position
    documents: int = 0
    refused: int = 0
    unreadable: int = 0
    differences: list[Difference] = field(default_factory=list[Difference])
    files: list[FileSource] = field(default_factory=list[FileSource])


@dataclass(frozen=True, slots=True)
class _Expected:
    """A document that should exist, and its hash."""

    document: Document
    content: str
    since: datetime | str | None


@dataclass(eq=False, repr=False)
class Comparer:
    engine: SearchEngine
    sources: Sources
    geo_keys: GeoKeys
    state: SearchState

    def compare(self, window: Window, names: Names) -> Compared:
        """Compare a window, or its first part if it is large.

        Raises:
            UnavailableError: a table, a bucket or the engine failed.
        """
        # The index is read first: a document written between the two reads is found in the sources,
        # so it becomes a suspect instead of being overlooked.
        assets, upto = self._read_stored(ASSET_INDEX, names, window.after, window.upto)
        files, upto = self._read_stored(FILE_INDEX, names, window.after, upto)
        wanted = [r for r in window.references if place_of(r) <= upto[1:]]
        # A pair of indexes is created together, so both have one mapping version.
        version = self.state.mappings()[names[ASSET_INDEX.alias]]
        files_read: list[FileSource] = []
        expected, unreadable = self._read_expected(wanted, version, files_read)
        unreadable |= window.unreadable
        compared = Compared(upto, len(expected), unreadable=len(unreadable), files=files_read)
        for standing in (*assets, *files):
            name = _reference(standing)
            if _place(standing) <= upto[1:] and name.asset_id not in unreadable:
                _compare(compared, expected, standing, name)
        compared.differences += (
            Difference(
                "missing",
                absent.document.id,
                reference_of(absent.document),
                absent.content,
                absent.since,
            )
            for absent in expected.values()
        )
        return compared

    def next_database(self, names: Names, after: str) -> str | None:
        """Return the first database after this one with documents in an index."""
        databases: list[str] = []
        for name in names.values():
            wanted = Stretch(order=("str_databaseid",), above=(after,), limit=1)
            databases += (document.place[0] for document in self.engine.stretch(name, wanted))
        return min(databases, default=None)

    def free_geo_keys(self, names: Names) -> None:
        """Free the geographic fields that no document of the indexes has."""
        keys = sorted(self.geo_keys.all_keys())
        if not keys:
            return
        has_field = {
            key: [{"exists": {"field": f"{prefix}{key}"}} for prefix in ("gp_", "gs_")]
            for key in keys
        }
        request: JsonObject = {
            "size": 0,
            "track_total_hits": False,
            "aggs": {
                key: {"filter": {"bool": {"should": either}}} for key, either in has_field.items()
            },
        }
        counts = self.engine.search([*names.values()], request)["aggregations"]
        self.geo_keys.free([key for key in keys if not counts[key]["doc_count"]])

    def _read_stored(
        self, index: SearchIndex, names: Names, after: Position, upto: Position
    ) -> tuple[list[StoredDocument], Position]:
        """Return the stored documents of the window, and the position they reach."""
        order = ("str_assetid",) if index is ASSET_INDEX else ("str_assetid", "str_key")
        if index is ASSET_INDEX and after.asset_id == upto.asset_id:
            return [], upto  # within the files of an asset, whose own document is done
        documents: list[StoredDocument] = []
        above: tuple[str, ...] | None = (after.asset_id, after.key)[: len(order)]
        while len(documents) < MOST_STANDING:
            page = self.engine.stretch(
                names[index.alias],
                Stretch(
                    order=order,
                    equal={"str_databaseid": after.database_id},
                    above=above if after.asset_id else None,
                    up_to=upto.asset_id,
                    limit=_PAGE,
                ),
            )
            documents += page
            if len(page) < _PAGE or _place(page[-1]) > upto[1:]:
                return documents, upto
            above = page[-1].place
            after = after._replace(asset_id=above[0])
        asset_id, *key = documents[-1].place
        return documents, Position(upto.database_id, asset_id, key[0] if key else LAST)

    def _read_expected(
        self,
        references: Sequence[AssetRef | FileKeyRef],
        mapping_version: int,
        files: list[FileSource],
    ) -> tuple[dict[DocumentRef, _Expected], set[str]]:
        """Return the expected documents, by alias and id, and the assets that cannot be read.

        The sources of files are appended to `files`.
        """
        expected: dict[DocumentRef, _Expected] = {}
        unreadable: set[str] = set()
        for start in range(0, len(references), READ_AT_ONCE):
            reading = self.sources.read(references[start : start + READ_AT_ONCE])
            unreadable |= {entry.asset.asset_id for entry in reading.unreadable}
            files += (source for source in reading.sources if isinstance(source, FileSource))
            wanted = wanted_geo_keys(reading.sources)
            allowed = self.geo_keys.add_keys(wanted) if wanted else frozenset[str]()
            for source in reading.sources:
                document = project(source, allowed, mapping_version)
                if document.body.get("deleted") is not True:
                    # When the source was created, or last written, if that is known.
                    since = None
                    if isinstance(source, FileSource):
                        since = source.version.last_modified
                    elif isinstance(source, AssetSource):
                        since = str(source.row.get("createdAt") or "")
                    known = _Expected(document, content_of(document)[1], since)
                    expected[DocumentRef(document.index.alias, document.id)] = known
        return expected, unreadable


def _compare(
    compared: Compared,
    expected: dict[DocumentRef, _Expected],
    standing: StoredDocument,
    name: AssetRef | FileKeyRef,
) -> None:
    """Compare a stored document; the documents left in `expected` in the end are missing."""
    alias = ASSET_INDEX.alias if isinstance(name, AssetRef) else FILE_INDEX.alias
    known = expected.pop(DocumentRef(alias, standing.id), None)
    if known is None:
        compared.differences.append(Difference("extra", standing.id, name))
    elif standing.body.get("hash") != known.content:
        if standing.body.get("hash") == content_of(stub(known.document))[1]:
            compared.refused += 1
        else:
            compared.differences.append(Difference("stale", standing.id, name, known.content))


def _reference(standing: StoredDocument) -> AssetRef | FileKeyRef:
    """Return the reference of a stored document, by its fields."""
    body = standing.body
    ids = (str(body.get("str_databaseid", "")), str(body.get("str_assetid", "")))
    return FileKeyRef(*ids, str(body["str_key"])) if "str_key" in body else AssetRef(*ids)


def _place(standing: StoredDocument) -> tuple[str, str]:
    return place_of(_reference(standing))
