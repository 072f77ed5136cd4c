"""A search engine in memory that heeds what a query filters by, and knows nothing of ranking."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, cast

from backend.core.search_engine import JsonObject
from tests.fakes.search_engine import MemorySearchEngine

Document = Mapping[str, Any]


@dataclass
class FilteringEngine(MemorySearchEngine):
    """Finds those of its documents that the filters of a query let through."""

    documents: Sequence[Document] = ()
    asked: list[JsonObject] = field(default_factory=list[JsonObject])

    def search(self, indexes: Sequence[str], body: JsonObject, *, copy: str = "") -> JsonObject:
        self.asked.append(body)
        hits = [
            {
                "_index": indexes[0],
                "_id": each["_id"],
                "_score": 1.0,
                "fields": {"source": [dict(each)], "source_bytes": [1]},
            }
            for each in self.documents
            if matches(body["query"], each)
        ]
        total = {"value": len(hits), "relation": "eq"}
        found = {"total": total, "max_score": 1.0, "hits": hits}
        return {"took": 1, "timed_out": False, "hits": found, "aggregations": {}}


def matches(query: Mapping[str, Any], document: Document) -> bool:
    """Whether a query of the kinds that rules and searches make holds for a document."""
    ((kind, said),) = query.items()
    if kind == "bool":
        return _all_hold(said, document)
    if kind in {"match_all", "match_none"}:
        return kind == "match_all"
    ((name, wanted),) = said.items()
    values = _values(document, name)
    if kind in {"term", "terms"}:
        return any(value in (wanted if kind == "terms" else [wanted]) for value in values)
    pattern = {"prefix": "{}*", "wildcard": "{}"}[kind].format(
        wanted if isinstance(wanted, str) else wanted["value"]
    )
    return any(fnmatchcase(str(value), pattern) for value in values)


def _all_hold(said: Mapping[str, Any], document: Document) -> bool:
    def some(of: Iterable[Mapping[str, Any]]) -> bool:
        return any(matches(each, document) for each in of)

    demanded = [*said.get("filter", ()), *said.get("must", ())]
    return (
        all(matches(each, document) for each in demanded)
        and not some(said.get("must_not", ()))
        and ("should" not in said or some(said["should"]))
    )


def _values(document: Document, name: str) -> list[Any]:
    found = document.get(name, [])
    return cast("list[Any]", found) if isinstance(found, list) else [found]
