"""Builds OpenSearch queries from search requests. Pure: no I/O, no caller.

Every query excludes tombstones, and archived documents unless requested. The caller's permissions
are the filter `visible`, which only `_request` adds to the query: hits, totals, facets and each
page by cursor are of one query, so none of them counts hidden documents.
"""

from collections.abc import Sequence
from typing import Any

from backend.core.errors import InvalidInputError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.search.query.conditions import Budget
from backend.search.query.facets import add_facets, count_all_words
from backend.search.query.filters import filter_query
from backend.search.query.letters import equals, matches
from backend.search.query.metadata_queries import metadata_filter_query, pair_sort
from backend.search.query.metadata_text import (
    MAX_WILDCARDS,
    is_pattern,
    key_of,
    metadata_query,
    pair_query,
    part_query,
    require_few_wildcards,
)
from backend.search.query.models import (
    SearchBody,
    SimpleSearchBody,
    SortField,
    Window,
)
from backend.search.query.pairs import METADATA, PREFIXES, Named, pair_named
from backend.search.query.words import TEXT_FIELDS, exact_queries, text_query
from backend.spec.search_indexes import (
    ASSET_INDEX,
    ATTRIBUTES,
    FILE_INDEX,
    RULED_TYPE,
    SHAPE,
    SOURCE_BYTES,
    WITHHELD,
)

TOMBSTONE: JsonObject = {"term": {"deleted": True}}
NOT_SHOWN: list[JsonObject] = [TOMBSTONE, {"term": {"bool_archived": True}}]
"""Documents that a search excludes: tombstones, and archived documents unless it requests them."""

HIDDEN_FIELDS = ["rev", "hash", "deleted", RULED_TYPE, SOURCE_BYTES, WITHHELD, ATTRIBUTES, SHAPE]
"""Fields that hits do not contain. `AB_` has the values of `attributes`."""
# Hits of a page multiplied by the metadata keys that sort as text. OpenSearch holds all of these
# values in memory, each with up to 8,000 characters.
MAX_SORTED_TEXTS = 4000

_KEYWORDS = frozenset(
    field
    for index in (ASSET_INDEX, FILE_INDEX)
    for field in index.all_fields
    if field.startswith(("str_", "list_"))
)
_METADATA = f"{METADATA}."
_UNMAPPED = {"num": "long", "date": "date", "bool": "boolean"}
# The sort values for documents without the date. With `_last`, OpenSearch 3.8 sorts an index in
# which no document has the date differently from the other index.
_LAST_DATE = {"asc": 2**63 - 1, "desc": -(2**63)}
_SORTABLE = frozenset((*ASSET_INDEX.all_fields, *FILE_INDEX.all_fields, "_score", "_rectype"))


# Sort fields that order documents with equal scores, so that pages neither repeat nor omit a
# document.
TIE_BREAKERS: tuple[JsonObject, ...] = tuple(
    {f"{field}.keyword": {"order": "asc", "missing": "_first", "unmapped_type": "keyword"}}
    for field in ("str_databaseid", "str_assetid", "str_key")
)


def simple_query(body: SimpleSearchBody, visible: JsonObject) -> JsonObject:
    """Return the request to OpenSearch for a search by named fields.

    Raises:
        InvalidInputError: there are more than `MAX_WILDCARDS` wildcards, or `MAX_WORDS` words.
    """
    _check_few_wildcards(body)
    named = {
        "str_assetname": body.asset_name,
        "str_assetid": body.asset_id,
        "str_assettype": body.asset_type,
        "str_key": body.file_key,
        "str_fileext": _extension(body.file_extension),
        "str_databaseid": body.database_id,
    }
    filters = [_exact(f"{field}.keyword", value) for field, value in named.items() if value]
    if body.tags:
        tags = [_exact("list_tags.keyword", tag) for tag in body.tags]
        filters.append({"bool": {"should": tags, "minimum_should_match": 1}})
    if body.metadata_key or body.metadata_value:
        filters.append(_metadata(body))
    return _request(body, filters, visible, with_metadata=True)


def full_query(body: SearchBody, visible: JsonObject) -> JsonObject:
    """Return the request to OpenSearch for a full search.

    Raises:
        InvalidInputError: a field cannot be sorted by, a metadata query is invalid, or the text has
            more than `MAX_WORDS` words.
    """
    filters = metadata_query(body.metadata_query, body.metadata_search_mode)
    filters += _filters(body.filters)
    for number, each in enumerate(body.metadata_filters):
        filters.append(metadata_filter_query(each, field=f"metadataFilters.{number}"))
    request = _request(body, filters, visible, with_metadata=body.include_metadata_in_search)
    if body.sort:
        _check_few_texts(body)
        request["sort"] = [*(_sort(criterion) for criterion in body.sort), *TIE_BREAKERS]
        request["track_scores"] = True
    add_facets(request, body)
    highlighted = [*request["query"]["bool"].get("must", ()), *filters]
    if body.include_highlights and highlighted:
        request["highlight"] = _highlight(highlighted)
    if body.explain_results:
        request["explain"] = True
    return request


def fields_query(names: Sequence[str], visible: JsonObject) -> JsonObject:
    """Return the request that counts the visible documents with each of these fields."""
    query = {"bool": {"filter": [visible], "must_not": [TOMBSTONE]}}
    aggregations: JsonObject = {
        str(number): {"filter": {"exists": {"field": name}}} for number, name in enumerate(names)
    }
    return {"query": query, "size": 0, "track_total_hits": False, "aggs": aggregations}


def page_of(request: JsonObject, *, size: int, after: list[Any] | None) -> JsonObject:
    """Return the request for one page by cursor, with one more hit to detect a further page.

    Only the first page has totals and facets.
    """
    page = {name: part for name, part in request.items() if name != "from"} | {"size": size + 1}
    if after is None:
        return page
    page.pop("aggs", None)
    return {**page, "search_after": after}


def _request(
    window: Window, filters: list[JsonObject], visible: JsonObject, *, with_metadata: bool
) -> JsonObject:
    excluded = NOT_SHOWN[:1] if window.include_archived else NOT_SHOWN
    kinds: JsonObject = {"terms": {"_rectype": list(window.wanted_types)}}
    query: JsonObject = {"filter": [visible, kinds, *filters], "must_not": list(excluded)}
    score_of_all = None
    if window.query.strip():
        text = text_query(window.query, with_metadata=with_metadata)
        query["must"] = [text.query]
        query["should"] = exact_queries(window.query.strip(), with_metadata=with_metadata)
        score_of_all = text.score_of_all
    request: JsonObject = {
        "query": {"bool": query},
        "from": window.from_,
        "size": window.size,
        "track_total_hits": 10_000,
        "_source": {"excludes": HIDDEN_FIELDS},
        # Assets come before files with the same score.
        "sort": ["_score", {"_rectype": {"order": "asc"}}, *TIE_BREAKERS],
    }
    if score_of_all is not None:
        count_all_words(request, score_of_all)
    return request


def _highlight(highlighted: list[JsonObject]) -> JsonObject:
    """Mark the words of the request only; the query also contains words of rules and types."""
    return {
        "fields": {field.split("^")[0]: {} for field in TEXT_FIELDS},
        "require_field_match": False,
        "highlight_query": {"bool": {"must": highlighted}},
    }


def _exact(field: str, value: str) -> JsonObject:
    """Return a condition on a whole value without regard to case, or a pattern with `*` or `?`."""
    return matches(field, value) if is_pattern(value) else equals(field, value)


def _metadata(body: SimpleSearchBody) -> JsonObject:
    """Return the query for documents with a pair of this key whose value contains this one."""
    key = None if body.metadata_key is None else key_of(body.metadata_key)
    if body.metadata_value is not None:
        return part_query(body.metadata_value, key)
    return pair_query(key, None)


def _filters(entries: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the queries of filters, read lazily."""
    budget = Budget()
    return [
        filter_query(entry, field=f"filters.{number}", budget=budget)
        for number, entry in enumerate(entries)
    ]


def _sort(criterion: SortField) -> JsonObject | str:
    pairs = _pairs_of(criterion)
    if pairs is not None:
        return pair_sort(pairs, criterion.type, criterion.order)
    name = criterion.field.removesuffix(".keyword")
    if name not in _SORTABLE:
        raise InvalidInputError.of("sort", f"{quoted(criterion.field)} cannot be used for sorting")
    if name == "_score":
        return {"_score": {"order": criterion.order}}
    field = f"{name}.keyword" if name in _KEYWORDS else name
    # A field that only one of the indexes maps needs the same type in the other, or hits cannot be
    # merged.
    kind = _UNMAPPED.get(name.partition("_")[0], "keyword")
    missing = _LAST_DATE[criterion.order] if kind == "date" else "_last"
    return {field: {"order": criterion.order, "missing": missing, "unmapped_type": kind}}


def _pairs_of(criterion: SortField) -> Named | None:
    """Return the pairs by which a criterion sorts; None if it names a field."""
    key = criterion.field.removeprefix(_METADATA)
    if key and key != criterion.field:
        return Named(METADATA, key)
    if criterion.field.startswith(PREFIXES):
        return pair_named(criterion.field, field="sort")
    return None


def _check_few_texts(body: SearchBody) -> None:
    pairs = [(_pairs_of(one), one.type) for one in body.sort]
    keys = [one for one, kind in pairs if one is not None and (one.type or kind) == "string"]
    if len(keys) * body.size > MAX_SORTED_TEXTS:
        most = MAX_SORTED_TEXTS // len(keys)
        message = f"{len(keys)} metadata keys sort by text: request a size of at most {most}"
        raise InvalidInputError.of("sort", message)


def _extension(value: str | None) -> str | None:
    """Return an extension with its dot, as indexed: `glb` means `.glb`."""
    if value is None or value.startswith((".", "*", "?")):
        return value
    return "." + value


def _check_few_wildcards(body: SimpleSearchBody) -> None:
    sent = (
        ("assetName", body.asset_name),
        ("assetId", body.asset_id),
        ("assetType", body.asset_type),
        ("fileKey", body.file_key),
        ("fileExtension", body.file_extension),
        ("databaseId", body.database_id),
        ("metadataKey", body.metadata_key),
        ("metadataValue", body.metadata_value),
        *(("tags", tag) for tag in body.tags),
    )
    patterns = [(field, value) for field, value in sent if value and is_pattern(value)]
    if len(patterns) > MAX_WILDCARDS:
        message = f"{len(patterns)} patterns have wildcards; at most {MAX_WILDCARDS} are allowed"
        raise InvalidInputError(message)
    for field, value in patterns:
        require_few_wildcards(value, field=field)
