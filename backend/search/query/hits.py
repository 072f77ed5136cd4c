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

from backend.core.errors import TooLargeError
from backend.core.search_engine import DocumentRef, JsonObject
from backend.search.values import iso_date
from backend.spec.search_indexes import (
    ASSET_INDEX,
    ATTRIBUTES,
    BY_PREFIX,
    FILE_INDEX,
    RULED_TYPE,
    SHAPE,
    SOURCE_BYTES,
    TEXT,
    WITHHELD,
)

# Maximum size of all sources of a page. A Lambda function may return 6 MB.
PAGE_BYTES = 6_000_000
# Size of a document above which its hit has no metadata. The metadata routes return it in pages.
DOCUMENT_BYTES = 100_000
# Hits that the first request highlights. OpenSearch reads the source of each, whatever its size.
MARKED_AT_ONCE = 100
HIDDEN_FIELDS = [
    *("rev", "hash", "deleted", "metadata.shape"),
    *(RULED_TYPE, SOURCE_BYTES, WITHHELD, ATTRIBUTES, SHAPE),
]
"""Fields that hits do not contain. `AB_` has the values of `attributes`, `MD_` the shapes."""
ATTRIBUTE_PREFIX = "AB_."
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


def document_fields(size: int, highlight: JsonObject | None) -> JsonObject:
    """Return the parts of a request for the sizes of documents, and sources of small ones only.

    On pages of at most `MARKED_AT_ONCE` hits it also highlights words.
    """
    # If each source is within its share, the page is within the limit, and one request suffices.
    share = min(DOCUMENT_BYTES, PAGE_BYTES // max(1, size))
    is_marked_later = highlight is not None and size > MARKED_AT_ONCE
    params = {
        "size": SOURCE_BYTES,
        "share": -1 if is_marked_later else share,
        "most": DOCUMENT_BYTES,
        "fields": DOC_VALUES,
    }
    script = {"lang": "painless", "source": _BY_SIZE, "params": params}
    parts: JsonObject = {
        "_source": False,
        "docvalue_fields": [SOURCE_BYTES],
        "script_fields": {_SOURCE: {"script": script}},
    }
    return parts if is_marked_later or highlight is None else {**parts, "highlight": highlight}


def with_sources(
    hits: Sequence[JsonObject],
    request: JsonObject,
    search: Search,
    highlight: JsonObject | None = None,
) -> list[JsonObject]:
    """Return hits of a request with `document_fields`, each with its source.

    `highlight` marks the words of the text, also if the request left that to this function. A
    document that was removed, or hidden from the caller, since it was found is left out.

    Raises:
        TooLargeError: the sources exceed the size of a reply; the remaining ones were not
            requested.
    """
    complete: list[JsonObject] = []
    missing: dict[DocumentRef, JsonObject] = {}
    total = 0
    for hit in hits:
        fields: JsonObject = hit.get("fields", {})
        (source,) = fields.get(_SOURCE) or (None,)
        size = next(iter(fields.get(SOURCE_BYTES) or ()), DOCUMENT_BYTES + 1)
        shown = {name: part for name, part in hit.items() if name != "fields"}
        complete.append(shown)
        if size > DOCUMENT_BYTES:
            shown |= {"_source": from_doc_values(source or {}), CUT: True}
            continue
        total += size
        if source is None:
            missing[DocumentRef(hit["_index"], hit["_id"])] = shown
        else:
            shown["_source"] = {
                name: value for name, value in source.items() if name not in HIDDEN_FIELDS
            }
            for pair in shown["_source"].get("metadata", ()):
                pair.pop("shape", None)
    # Before the second request: OpenSearch would build the whole page in memory (guide `limits`).
    if total > PAGE_BYTES:
        fact = f"results in a reply of {total} bytes; at most {PAGE_BYTES} are allowed"
        raise TooLargeError.of("size", f"{fact}: request a smaller page")
    if missing:
        # The same filters again, including permissions.
        conditions = request["query"]["bool"]
        ids = {"ids": {"values": [name for _, name in missing]}}
        indexes = {"terms": {"_index": sorted({index for index, _ in missing})}}
        filters = [*conditions["filter"], indexes, ids]
        again: JsonObject = {
            "query": {"bool": {"filter": filters, "must_not": conditions["must_not"]}},
            "size": 2 * len(missing),
            "track_total_hits": False,
            "_source": {"excludes": HIDDEN_FIELDS},
        }
        if highlight is not None and "highlight" not in request:
            again = {**again, "highlight": highlight}
        for hit in search(again)["hits"]["hits"]:
            # An id may be in both indexes; the other document is not a hit.
            missing.get(DocumentRef(hit["_index"], hit["_id"]), {}).update(
                {name: hit[name] for name in ("_source", "highlight") if name in hit}
            )
    return [hit for hit in complete if "_source" in hit]


_FIELDS = dict.fromkeys((*ASSET_INDEX.all_fields, *FILE_INDEX.all_fields, "_rectype"))
DOC_VALUES = [
    f"{field}.keyword" if BY_PREFIX.get(field.partition("_")[0] + "_") is TEXT else field
    for field in _FIELDS
]


def from_doc_values(fields: JsonObject) -> JsonObject:
    """Return the source of a document without metadata; lists are in the order of their values.

    Of attributes it has those that were requested by name, such as `AB_.fact_triangles`.
    """
    named = {field.removesuffix(".keyword"): values for field, values in fields.items()}
    source: JsonObject = {
        name: values
        if name.startswith("list_")
        else iso_date(values[0])
        if name.startswith("date_")
        else values[0]
        for name, values in named.items()
        if not name.startswith(ATTRIBUTE_PREFIX)
    }
    facts = {
        name.removeprefix(ATTRIBUTE_PREFIX): values[0]
        for name, values in named.items()
        if name.startswith(ATTRIBUTE_PREFIX)
    }
    return {**source, "AB_": facts} if facts else source
