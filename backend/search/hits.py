"""Fills hits with the sources of their documents, within bytes that are known beforehand.

OpenSearch builds a whole page in memory before it sends it, so a page of large documents could end
it. The request that finds the hits therefore returns the stored size of each document, and the
source of those only that are within an equal share of `PAGE_BYTES`: a page of small documents takes
one request. The sources of the others follow in a second one if all of them together are within
`PAGE_BYTES`. Documents over `DOCUMENT_BYTES` are returned without metadata, from doc values, for
which OpenSearch reads no source. A document without a stored size (an index of mapping version 1)
counts as one of those.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from backend.core.errors import TooLargeError
from backend.core.search_engine import JsonObject
from backend.search.queries import HIDDEN_FIELDS
from backend.search.values import iso_date
from backend.spec.search_indexes import ASSET_INDEX, BY_PREFIX, FILE_INDEX, SOURCE_BYTES, TEXT

PAGE_BYTES = 6_000_000
"""Bytes of all sources of a page, and of one request: as many as a function of AWS can send."""
DOCUMENT_BYTES = 100_000
"""Of a larger document, a hit has no metadata: the routes of metadata return it in pages."""
PORTION_HITS = 250
"""Documents without metadata in one request: at most about 40 KB each by the limits of the API."""
CUT = "metadataCut"
"""The field of a hit whose metadata was left out."""

_SOURCE = "source"
_IF_SMALL = (
    "doc.containsKey(params.field) && doc[params.field].size() > 0"
    " && doc[params.field].value <= params.most ? params._source : null"
)

Search = Callable[[JsonObject], JsonObject]
"""Runs a request over the same indexes, or point in time, as the request that found the hits."""


class _Place(NamedTuple):
    """Which document a hit is: ids of the two indexes may be equal."""

    index: str
    id: str


def sized(request: JsonObject) -> JsonObject:
    """Return the request with sizes of documents, and sources of small ones only."""
    most = min(DOCUMENT_BYTES, PAGE_BYTES // max(1, int(request["size"])))
    script = {"lang": "painless", "source": _IF_SMALL}
    return {
        **request,
        "_source": False,
        "docvalue_fields": [SOURCE_BYTES],
        "script_fields": {
            _SOURCE: {"script": {**script, "params": {"field": SOURCE_BYTES, "most": most}}}
        },
    }


def with_sources(hits: list[JsonObject], request: JsonObject, search: Search) -> list[JsonObject]:
    """Return hits of a `sized` request, each with its source.

    A document that was removed, or hidden from the caller, since it was found is left out.

    Raises:
        TooLargeError: the sources are more than a reply can hold; none of the rest was requested.
    """
    sources: dict[_Place, JsonObject] = {}
    whole: list[_Place] = []
    cut: list[_Place] = []
    total = 0
    for hit in hits:
        fields: JsonObject = hit.pop("fields", {})
        place, (source,) = _place(hit), fields.get(_SOURCE) or (None,)
        size = next(iter(fields.get(SOURCE_BYTES) or ()), DOCUMENT_BYTES + 1)
        total += size if size <= DOCUMENT_BYTES else 0
        if source is not None:
            sources[place] = _shown(source)
        else:
            (whole if size <= DOCUMENT_BYTES else cut).append(place)
    if total > PAGE_BYTES:
        fact = f"makes a reply of {total} bytes, at most {PAGE_BYTES} are sent; ask for less"
        raise TooLargeError.of("size", fact)
    for asked in _requests(request, whole, cut):
        for hit in search(asked)["hits"]["hits"]:
            source = hit.get("_source")
            sources[_place(hit)] = _from_doc_values(hit["fields"]) if source is None else source
    return list(_filled(hits, sources, frozenset(cut)))


def _filled(
    hits: list[JsonObject], sources: dict[_Place, JsonObject], cut: frozenset[_Place]
) -> Iterator[JsonObject]:
    for hit in hits:
        place = _place(hit)
        if place in sources:
            hit["_source"] = sources[place]
            if place in cut:
                hit[CUT] = True
            yield hit


def _requests(
    request: JsonObject, whole: Sequence[_Place], cut: Sequence[_Place]
) -> Iterator[JsonObject]:
    if whole:
        yield {**_over(request, whole), "_source": {"excludes": HIDDEN_FIELDS}}
    for start in range(0, len(cut), PORTION_HITS):
        portion = cut[start : start + PORTION_HITS]
        yield {**_over(request, portion), "_source": False, "docvalue_fields": _DOC_VALUES}


def _over(request: JsonObject, places: Sequence[_Place]) -> JsonObject:
    """The request for some hits again: under the same filters, what the caller may see included."""
    asked = request["query"]["bool"]
    ids = {"ids": {"values": [place.id for place in places]}}
    indexes = {"terms": {"_index": sorted({place.index for place in places})}}
    query = {"filter": [*asked["filter"], indexes, ids], "must_not": asked["must_not"]}
    # An id may be one of each index: the other one's document is of no hit, and is not used.
    return {"query": {"bool": query}, "size": 2 * len(places), "track_total_hits": False}


def _place(hit: JsonObject) -> _Place:
    return _Place(hit["_index"], hit["_id"])


def _shown(source: JsonObject) -> JsonObject:
    return {name: value for name, value in source.items() if name not in HIDDEN_FIELDS}


def _doc_value(field: str) -> JsonObject | str:
    kind = BY_PREFIX.get(field.partition("_")[0] + "_")
    if kind is TEXT:
        return f"{field}.keyword"
    return {"field": field, "format": "strict_date_time"} if field.startswith("date_") else field


_FIELDS = dict.fromkeys((*ASSET_INDEX.fields, *FILE_INDEX.fields, "_rectype"))
_DOC_VALUES = [_doc_value(field) for field in _FIELDS]


def _from_doc_values(fields: JsonObject) -> JsonObject:
    """The source of a document without metadata; lists are in the order of their values."""
    return {
        name: _value(name, values)
        for name, values in ((field.removesuffix(".keyword"), v) for field, v in fields.items())
    }


def _value(name: str, values: list[Any]) -> Any:
    if name.startswith("list_"):
        return values
    return iso_date(values[0]) if name.startswith("date_") else values[0]
