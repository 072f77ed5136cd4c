"""OpenSearch in memory: only writes under external versions."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from backend.core.errors import InvalidInputError
from backend.core.search_engine import (
    DocumentRemoval,
    DocumentResult,
    DocumentWrite,
    JsonObject,
    StoredDocument,
    Stretch,
)

OF_A_WRITE = frozenset({"rev", "source_bytes"})
"""Fields that a write adds; they do not come from the sources of a document."""


def accept_all(write: DocumentWrite) -> str | None:
    return None


@dataclass
class MemorySearchEngine:
    """The port `SearchEngine`. `refuses` returns a reason to refuse a document, or none.

    `versioned=False` ignores versions, to show what they are needed for. `before` is called before
    a bulk is processed, and again before its reply.
    """

    refuses: Callable[[DocumentWrite], str | None] = accept_all
    versioned: bool = True
    indexes: dict[str, dict[str, tuple[int, JsonObject]]] = field(
        default_factory=dict[str, dict[str, tuple[int, JsonObject]]]
    )
    mappings: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    analyses: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    limits: dict[str, str] = field(default_factory=dict[str, str])
    refusal: str | None = None
    """The reason with which the service refuses optional settings."""
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    bulks: list[int] = field(default_factory=list[int])
    before: Callable[[str], None] = lambda operation: None

    def bulk(self, writes: Sequence[DocumentWrite]) -> list[DocumentResult]:
        self.before("bulk")
        self.bulks.append(len(writes))
        results = [self._write(write) for write in writes]
        self.before("answer")
        return results

    def _write(self, write: DocumentWrite) -> DocumentResult:
        if write.index not in self.indexes:
            return DocumentResult(write.index, write.id, 404, f"no such index [{write.index}]")
        if len(write.id.encode()) > 512:
            raise InvalidInputError("id is too long")
        reason = self.refuses(write)
        if reason is not None:
            return DocumentResult(write.index, write.id, 400, reason)
        stored = self.indexes[write.index].get(write.id)
        if self.versioned and stored is not None and stored[0] >= write.version:
            return DocumentResult(write.index, write.id, 409, "version conflict", stored[0])
        self.indexes[write.index][write.id] = (write.version, json.loads(write.body))
        return DocumentResult(write.index, write.id, 201 if stored is None else 200)

    def remove(self, removals: Sequence[DocumentRemoval]) -> list[DocumentResult]:
        return [self._remove(removal) for removal in removals]

    def _remove(self, removal: DocumentRemoval) -> DocumentResult:
        stored = self.indexes[removal.index].get(removal.id)
        if stored is None:
            return DocumentResult(removal.index, removal.id, 404)
        if stored[0] > removal.version:
            return DocumentResult(removal.index, removal.id, 409, "version conflict", stored[0])
        del self.indexes[removal.index][removal.id]
        return DocumentResult(removal.index, removal.id, 200)

    def search(self, indexes: Sequence[str], body: JsonObject, *, copy: str = "") -> JsonObject:
        """Count the documents that have one of the fields of each aggregation."""
        if "aggs" not in body:
            raise NotImplementedError
        documents = [document for name in indexes for _, document in self.indexes[name].values()]

        def count(aggregation: JsonObject) -> JsonObject:
            either = [part["exists"]["field"] for part in aggregation["filter"]["bool"]["should"]]
            return {"doc_count": sum(any(name in body for name in either) for body in documents)}

        return {"aggregations": {name: count(part) for name, part in body["aggs"].items()}}

    def stretch(self, index: str, wanted: Stretch) -> list[StoredDocument]:
        self.before("stretch")
        result: list[StoredDocument] = []
        for document_id, (_, body) in self.indexes[index].items():
            place = tuple(str(body.get(name, "")) for name in wanted.order)
            held = all(body.get(name) == value for name, value in wanted.equal.items())
            above = wanted.above is None or place > wanted.above
            within = wanted.up_to is None or place[0] <= wanted.up_to
            if held and above and within and not body.get("deleted"):
                result.append(StoredDocument(document_id, body, place))
        return sorted(result, key=lambda one: one.place)[: wanted.limit]

    def open_point_in_time(self, indexes: Sequence[str], *, seconds: int) -> str:
        raise NotImplementedError

    def points_in_time(self) -> frozenset[str]:
        raise NotImplementedError

    def search_at(self, point_in_time: str, body: JsonObject, *, seconds: int) -> JsonObject:
        raise NotImplementedError

    def close_point_in_time(self, point_in_time: str) -> None:
        raise NotImplementedError

    def mapping(self, index: str) -> JsonObject:
        return self.mappings[index]

    def analysis(self, index: str) -> JsonObject:
        return self.analyses.get(index, {})

    def create_index(self, name: str, *, mapping: JsonObject, settings: JsonObject) -> bool:
        if name in self.indexes:
            return False
        self.analyses[name] = settings.get("analysis", {})
        self.indexes[name] = {}
        self.mappings[name] = mapping
        return True

    def drop_index(self, name: str) -> bool:
        self.mappings.pop(name, None)
        return self.indexes.pop(name, None) is not None

    def point_alias(self, alias: str, index: str) -> None:
        self.aliases[alias] = index

    def tune_index(self, index: str, settings: JsonObject) -> str | None:
        return self.refusal

    def limit_memory(self, limits: Mapping[str, str]) -> str | None:
        if self.refusal is None:
            self.limits.update(limits)
        return self.refusal

    def refresh(self, indexes: Sequence[str]) -> None:
        pass

    def forget(self) -> None:
        """Remove tombstones with their versions, as an engine does with deleted documents."""
        for index in self.indexes.values():
            for name in [n for n, (_, body) in index.items() if body.get("deleted")]:
                del index[name]

    def document(self, index: str, document_id: str) -> JsonObject | None:
        """The document as written last, including tombstones."""
        result = self.indexes[index].get(document_id)
        return None if result is None else result[1]

    def live(self) -> dict[str, JsonObject]:
        """All documents except tombstones, by id, without their versions."""
        return {
            document_id: {name: value for name, value in body.items() if name not in OF_A_WRITE}
            for index in self.indexes.values()
            for document_id, (_, body) in index.items()
            if not body.get("deleted")
        }
