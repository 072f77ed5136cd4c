"""A search engine in memory that applies the filters of a query, and does not rank."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from backend.core.search_engine import JsonObject
from backend.spec.search_indexes import RULED_FIELDS, STRETCHES_OF
from tests.factories.policies import term_matches
from tests.fakes.search_engine import MemorySearchEngine

Document = Mapping[str, Any]


_OF_RULES = {*RULED_FIELDS.values(), *STRETCHES_OF.values()}
"""The fields that filters of rules use."""


@dataclass
class FilteringEngine(MemorySearchEngine):
    """Returns those of its documents that match the filters of a query."""

    documents: Sequence[Document] = ()
    requested: list[JsonObject] = field(default_factory=list[JsonObject])

    def search(self, indexes: Sequence[str], body: JsonObject, *, copy: str = "") -> JsonObject:
        self.requested.append(body)
        result = [document for document in self.documents if matches(body["query"], document)]
        hits = [
            {
                "_index": indexes[0],
                "_id": item["_id"],
                "_score": 1.0,
                "_source": dict(item),
                "fields": {"source": [dict(item)], "source_bytes": [1]},
            }
            for item in result[: body["size"]]
        ]
        total = {"value": len(result), "relation": "eq"}
        fields: JsonObject = {"total": total, "max_score": 1.0, "hits": hits}
        answer: JsonObject = {"took": 1, "timed_out": False, "hits": fields}
        if "aggs" in body:
            facets = {name: _facet(wanted, result) for name, wanted in body["aggs"].items()}
            answer["aggregations"] = facets
        return answer


def _facet(wanted: Mapping[str, Any], documents: Sequence[Document]) -> JsonObject:
    """The number of matching documents for each value."""
    if "nested" in wanted:
        return {"of_pairs": {"values": {"buckets": []}}}
    counted = [document for document in documents if matches(wanted["filter"], document)]
    result: JsonObject = {"doc_count": len(counted)}
    for name, inner in wanted["aggs"].items():
        field_name = inner["terms"]["field"]
        values = Counter(value for item in counted for value in set(_values(item, field_name)))
        buckets = [{"key": value, "doc_count": count} for value, count in values.items()]
        result[name] = {"buckets": buckets}
    return result


def matches(query: Mapping[str, Any], document: Document) -> bool:
    """Return whether a query of the kinds that rules and searches use matches a document."""
    ((kind, clause),) = query.items()
    if kind == "script_score":
        return matches(clause["query"], document)
    if kind == "bool":
        return _all_hold(clause, document)
    is_of_rules = kind == "prefix" and bool(_OF_RULES & clause.keys())
    if kind in {"match_bool_prefix", "nested", "prefix"} and not is_of_rules:
        return True  # searches for words are tested with OpenSearch
    if kind in {"match_all", "match_none"}:
        return kind == "match_all"
    if kind == "ids":
        return document["_id"] in clause["values"]
    ((name, wanted),) = clause.items()
    return any(term_matches(kind, wanted, value) for value in _values(document, name))


def _all_hold(clause: Mapping[str, Any], document: Document) -> bool:
    def some(of: Iterable[Mapping[str, Any]]) -> bool:
        return any(matches(item, document) for item in of)

    demanded = [*clause.get("filter", ()), *clause.get("must", ())]
    return (
        all(matches(item, document) for item in demanded)
        and not some(clause.get("must_not", ()))
        and ("should" not in clause or some(clause["should"]))
    )


def _values(document: Document, name: str) -> list[Any]:
    result = document.get(name, [])
    return cast("list[Any]", result) if isinstance(result, list) else [result]
