"""Fills hits with the sources of their documents, within known limits of bytes.

OpenSearch builds a whole page in memory before it sends it, so a page of large documents could
crash it. The request that finds the hits therefore reads no source itself: a script returns, by the
stored size of each document,

- its source, if the size is within an equal share of `PAGE_BYTES`: a page of small documents takes
  one request;
- nothing, if it is larger: the sources of these follow in a second request, if those of the whole
  page are within `PAGE_BYTES` together;
- its fields without metadata, from doc values, over `DOCUMENT_BYTES`. A document without a stored
  size (in an index of mapping version 1) counts as one of these.

Words are highlighted in sources, so on longer pages the second request highlights them.
"""

from collections.abc import Callable, Sequence
from typing import Any

from backend.core.errors import TooLargeError
from backend.core.search_engine import DocumentRef, JsonObject
from backend.search.query.queries import HIDDEN_FIELDS
from backend.search.values import iso_date
from backend.spec.search_indexes import ASSET_INDEX, BY_PREFIX, FILE_INDEX, SOURCE_BYTES, TEXT

# Maximum size of all sources of a page. A Lambda function may return 6 MB.
PAGE_BYTES = 6_000_000
# Size of a document above which its hit has no metadata. The metadata routes return it in pages.
DOCUMENT_BYTES = 100_000
# Hits that the first request highlights. OpenSearch reads the source of each, whatever its size.
MARKED_AT_ONCE = 100
CUT = "metadataCut"
"""The field that marks a hit whose metadata was omitted."""

_SOURCE = "source"
_BY_SIZE = """
long size = params.most + 1;
if (doc.containsKey(params.size) && doc[params.size].size() > 0) { size = doc[params.size].value; }
if (size <= params.share) { return params._source; }
if (size <= params.most) { return null; }
Map found = new HashMap();
for (String field : params.fields) {
  if (doc.containsKey(field) && doc[field].size() > 0) {
    found.put(field, new ArrayList(doc[field]));
  }
}
return found;
"""

Search = Callable[[JsonObject], JsonObject]
"""Sends a request to the indexes, or the point in time, in which the hits were found."""


def with_document_sizes(request: JsonObject) -> JsonObject:
    """Return the request with sizes of documents, and sources of small ones only."""
    # If each source is within its share, the page is within the limit, and one request suffices.
    share = min(DOCUMENT_BYTES, PAGE_BYTES // max(1, int(request["size"])))
    base = dict(request)
    if _is_marked_later(request):
        del base["highlight"]
        share = -1
    params = {"size": SOURCE_BYTES, "share": share, "most": DOCUMENT_BYTES, "fields": DOC_VALUES}
    script = {"lang": "painless", "source": _BY_SIZE, "params": params}
    return {
        **base,
        "_source": False,
        "docvalue_fields": [SOURCE_BYTES],
        "script_fields": {_SOURCE: {"script": script}},
    }


def with_sources(hits: list[JsonObject], request: JsonObject, search: Search) -> list[JsonObject]:
    """Return hits of a `with_document_sizes` request, each with its source.

    A document that was removed, or hidden from the caller, since it was found is left out.

    Raises:
        TooLargeError: the sources exceed the size of a reply; the remaining ones were not
            requested.
    """
    missing: dict[DocumentRef, JsonObject] = {}
    total = 0
    for hit in hits:
        fields: JsonObject = hit.pop("fields", {})
        (found,) = fields.get(_SOURCE) or (None,)
        size = next(iter(fields.get(SOURCE_BYTES) or ()), DOCUMENT_BYTES + 1)
        if size > DOCUMENT_BYTES:
            hit |= {"_source": from_doc_values(found or {}), CUT: True}
            continue
        total += size
        if found is None:
            missing[_place(hit)] = hit
        else:
            hit["_source"] = _shown(found)
    # Before the second request: OpenSearch would build the whole page in memory (guide `limits`).
    if total > PAGE_BYTES:
        fact = (
            f"results in a reply of {total} bytes; at most {PAGE_BYTES} are allowed: request a "
            "smaller page"
        )
        raise TooLargeError.of("size", fact)
    if missing:
        for later in search(_over(request, list(missing)))["hits"]["hits"]:
            # An id may be in both indexes; the other document is not a hit.
            missing.get(_place(later), {}).update(
                {name: later[name] for name in ("_source", "highlight") if name in later}
            )
    return [hit for hit in hits if "_source" in hit]


def _is_marked_later(request: JsonObject) -> bool:
    return "highlight" in request and request["size"] > MARKED_AT_ONCE


def _over(request: JsonObject, places: Sequence[DocumentRef]) -> JsonObject:
    """Return the request for some hits again, under the same filters including permissions."""
    conditions = request["query"]["bool"]
    ids = {"ids": {"values": [name for _, name in places]}}
    indexes = {"terms": {"_index": sorted({index for index, _ in places})}}
    query = {"filter": [*conditions["filter"], indexes, ids], "must_not": conditions["must_not"]}
    again: JsonObject = {
        "query": {"bool": query},
        "size": 2 * len(places),
        "track_total_hits": False,
        "_source": {"excludes": HIDDEN_FIELDS},
    }
    return again | ({"highlight": request["highlight"]} if _is_marked_later(request) else {})


def _place(hit: JsonObject) -> DocumentRef:
    return DocumentRef(hit["_index"], hit["_id"])


def _shown(source: JsonObject) -> JsonObject:
    return {name: value for name, value in source.items() if name not in HIDDEN_FIELDS}


_FIELDS = dict.fromkeys((*ASSET_INDEX.all_fields, *FILE_INDEX.all_fields, "_rectype"))
DOC_VALUES = [
    f"{field}.keyword" if BY_PREFIX.get(field.partition("_")[0] + "_") is TEXT else field
    for field in _FIELDS
]


def from_doc_values(fields: JsonObject) -> JsonObject:
    """Return the source of a document without metadata; lists are in the order of their values."""
    named = {field.removesuffix(".keyword"): values for field, values in fields.items()}
    return {name: _value(name, values) for name, values in named.items()}


def _value(name: str, values: list[Any]) -> Any:
    if name.startswith("list_"):
        return values
    return iso_date(values[0]) if name.startswith("date_") else values[0]
