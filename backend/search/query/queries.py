"""Builds plans from search requests. Pure: no I/O, no caller.

Every plan excludes tombstones, and archived documents unless requested.
"""

import hashlib
from dataclasses import replace

from backend.core.errors import InvalidInputError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.search.query.conditions import Budget
from backend.search.query.facets import choice_conditions, plan_facets
from backend.search.query.filters import filter_query
from backend.search.query.geo_search import geo_query
from backend.search.query.hits import ATTRIBUTE_PREFIX
from backend.search.query.metadata_queries import metadata_filter_query, pair_sort
from backend.search.query.metadata_text import (
    MAX_WILDCARDS,
    exact,
    is_pattern,
    key_of,
    metadata_query,
    pair_query,
    part_query,
    require_few_wildcards,
)
from backend.search.query.models import (
    BOTH,
    SearchBody,
    SimpleSearchBody,
    SortField,
    Window,
)
from backend.search.query.pairs import METADATA, PREFIXES, Named, mapping_version_for, pair_named
from backend.search.query.plan import (
    BY_SCORE,
    NOT_SHOWN,
    NOTHING,
    TOMBSTONE,
    PageWindow,
    SearchPlan,
)
from backend.search.query.words import TEXT_FIELDS, TextQuery, text_query
from backend.spec.facts import FACT_BY_KEY
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, SORT, SORT_FIELDS

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
_FACT_FIELDS = frozenset(f"{ATTRIBUTE_PREFIX}{key}" for key in FACT_BY_KEY)
_UNMAPPED = {"num": "long", "date": "date", "bool": "boolean"}
# The sort values for documents without the date. With `_last`, OpenSearch 3.8 sorts an index in
# which no document has the date differently from the other index.
_LAST_DATE = {"asc": 2**63 - 1, "desc": -(2**63)}
_SORTABLE = frozenset((*ASSET_INDEX.all_fields, *FILE_INDEX.all_fields, "_score", "_rectype"))


def plan_simple_search(body: SimpleSearchBody, visible: JsonObject | None) -> SearchPlan:
    """Return the plan of a search by named fields, among documents of the filter `visible`.

    Raises:
        InvalidInputError: there are more than `MAX_WILDCARDS` wildcards, or `MAX_WORDS` words.
    """
    _check_few_wildcards(body)
    extension = body.file_extension
    if extension is not None and not extension.startswith((".", "*", "?")):
        extension = f".{extension}"  # as indexed: `glb` means `.glb`
    by_name = {
        "assetName": ("str_assetname", body.asset_name),
        "assetId": ("str_assetid", body.asset_id),
        "assetType": ("str_assettype", body.asset_type),
        "fileKey": ("str_key", body.file_key),
        "fileExtension": ("str_fileext", extension),
        "databaseId": ("str_databaseid", body.database_id),
    }
    filters = {
        name: exact(f"{field}.keyword", value) for name, (field, value) in by_name.items() if value
    }
    if body.tags:
        tags = [exact("list_tags.keyword", tag) for tag in body.tags]
        filters["tags"] = {"bool": {"should": tags, "minimum_should_match": 1}}
    if body.metadata_key or body.metadata_value:
        key = None if body.metadata_key is None else key_of(body.metadata_key)
        value = body.metadata_value
        metadata = pair_query(key, None) if value is None else part_query(value, key)
        filters["metadataKey" if value is None else "metadataValue"] = metadata
    window = {name: getattr(body, name) for name in Window.model_fields}
    whole = SearchBody.model_construct(**window, aggregations=False, include_highlights=False)
    plan = plan_search(whole, visible)
    named = (*plan.named, *filters)
    return replace(plan, filters=(*plan.filters, *filters.values()), named=named)


def plan_search(body: SearchBody, visible: JsonObject | None) -> SearchPlan:
    """Return the plan of a full search, among documents of the filter `visible`; None finds none.

    Raises:
        InvalidInputError: a field cannot be sorted by, a metadata query is invalid, or the text has
            more than `MAX_WORDS` words.
    """
    filters: list[JsonObject] = []
    named = ["filters"] * len(body.filters) + ["metadataFilters"] * len(body.metadata_filters)
    if body.metadata_query.strip():
        filters.append(metadata_query(body.metadata_query, body.metadata_search_mode))
        named.insert(0, "metadataQuery")
    budget = Budget()
    for number, entry in enumerate(body.filters):
        filters.append(filter_query(entry, field=f"filters.{number}", budget=budget))
    for number, condition in enumerate(body.metadata_filters):
        filters.append(metadata_filter_query(condition, field=f"metadataFilters.{number}"))
    text = TextQuery({})
    if body.query.strip():
        text = text_query(body.query, with_metadata=body.include_metadata_in_search)
    sort = _sort(body) if body.sort else BY_SCORE
    choices = choice_conditions(body) if body.facet_choices else {}
    # Only the words of the request: the query also contains words of rules and types.
    highlighted = [*text.marked, *filters] if body.include_highlights else []
    places = [] if body.geo_search is None else [geo_query(body.geo_search)]
    highlight: JsonObject = {
        "fields": {field.split("^")[0]: {} for field in TEXT_FIELDS},
        "require_field_match": False,
        "highlight_query": {"bool": {"should": highlighted}},
    }
    texts = (("general", body.query), ("metadata", body.metadata_query))
    kinds = [kind for kind, sent in texts if sent.strip()]
    kind = "combined" if len(kinds) > 1 else next(iter(kinds), "none")
    digest = ""
    if body.after is not None:
        sent = body.model_dump_json(by_alias=True, exclude={"after", "size", "tokens", "operation"})
        digest = hashlib.sha256(sent.encode()).hexdigest()
    return SearchPlan(
        visible=visible or NOTHING,
        kinds=tuple(dict.fromkeys(body.entity_types)) or BOTH,
        window=PageWindow(body.size, body.from_),
        filters=(*filters, *places),
        named=(*named, *("geoSearch" for _ in places)),
        excluded=(TOMBSTONE,) if body.include_archived else tuple(NOT_SHOWN),
        words=text.clauses,
        chosen={"bool": {"filter": [*choices.values()]}} if choices else None,
        facets=plan_facets(body, choices, text.score_of_all),
        sort=sort,
        highlight=highlight if highlighted else None,
        folding=body.fold_files,
        file_facts=tuple(_FACT_FIELDS.intersection(body.source_fields or ())),
        counts_files=body.file_counts,
        cursor=body.after,
        digest=digest,
        corrected=body.query.strip() if body.did_you_mean and not body.from_ else "",
        explained=kind if body.explain_results else None,
        # Word frequencies would reveal hidden documents.
        scores_explained=body.explain_results and visible == EVERYTHING,
        mapping_version=mapping_version_for(body),
    )


def _sort(body: SearchBody) -> tuple[JsonObject, ...]:
    named: list[tuple[SortField, Named | None]] = []
    for criterion in body.sort:
        key, pairs = criterion.field.removeprefix(_METADATA), None
        if key and key != criterion.field:
            pairs = Named(METADATA, key)
        elif criterion.field.startswith(PREFIXES):
            pairs = pair_named(criterion.field, field="sort")
        named.append((criterion, pairs))
    texts = sum(
        pairs is not None and (pairs.type or criterion.type) == "string"
        for criterion, pairs in named
    )
    if texts * body.size > MAX_SORTED_TEXTS:
        most = MAX_SORTED_TEXTS // texts
        message = f"{texts} metadata keys sort by text: request a size of at most {most}"
        raise InvalidInputError.of("sort", message)
    return tuple(
        _by_field(criterion) if pairs is None else pair_sort(pairs, criterion.type, criterion.order)
        for criterion, pairs in named
    )


def _by_field(criterion: SortField) -> JsonObject:
    name = criterion.field.removesuffix(".keyword")
    if name not in _SORTABLE:
        raise InvalidInputError.of("sort", f"{quoted(criterion.field)} cannot be used for sorting")
    if name == "_score":
        return {"_score": {"order": criterion.order}}
    part = SORT if name in SORT_FIELDS else "keyword"
    field = f"{name}.{part}" if name in _KEYWORDS else name
    # A field that only one of the indexes maps needs the same type in the other, or hits cannot be
    # merged.
    kind = _UNMAPPED.get(name.partition("_")[0], "keyword")
    missing = _LAST_DATE[criterion.order] if kind == "date" else "_last"
    return {field: {"order": criterion.order, "missing": missing, "unmapped_type": kind}}


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
