"""Search: the simple form (named fields) and the full form (filters and facets)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue, ValidationError

from vitrine import api_models as api
from vitrine.api_models import Suggestion as Suggestion
from vitrine.errors import ProtocolError
from vitrine.metadata_filters import FacetChoice, GeoSearch, MetadataFacet, MetadataFilter
from vitrine.models import Wire
from vitrine.resources.resource import Resource, given
from vitrine.search_models import (
    EntityType,
    Facet,
    HistogramField,
    Hit,
    NamedPreview,
    SearchResult,
)
from vitrine.transport import path_of

# The API's limits.
LARGEST_PAGE = 2_000
# Maximum of `from + size`. Narrow the search to reach further hits.
DEEPEST_HIT = 10_000


@dataclass(frozen=True, kw_only=True)
class SearchQuery:
    """A search. Fields that are None or empty do not restrict it."""

    query: str | None = None
    entity_types: Sequence[EntityType] = ()
    database_id: str | None = None
    asset_id: str | None = None
    asset_name: str | None = None
    asset_type: str | None = None
    file_key: str | None = None
    file_extension: str | None = None
    tags: Sequence[str] = ()
    metadata_key: str | None = None
    metadata_value: str | None = None
    metadata: Sequence[MetadataFilter] = ()
    geo: GeoSearch | None = None
    facets: Sequence[MetadataFacet] = ()
    choices: Sequence[FacetChoice] = ()
    histograms: Sequence[HistogramField] = ()
    fold_files: bool = False
    """Whether to return assets, each with its three best files."""
    sort: Sequence[tuple[str, Literal["asc", "desc"]]] = ()
    include_archived: bool = False
    previews: bool = False
    """Whether to return the URL of each hit's preview; at most 200 hits a page."""
    did_you_mean: bool = False
    """Whether to return a corrected text if the query has no hits."""

    def simple_body(self) -> dict[str, JsonValue]:
        body = given(
            query=self.query,
            entityTypes=[entity.value for entity in self.entity_types] or None,
            databaseId=self.database_id,
            assetId=self.asset_id,
            assetName=self.asset_name,
            assetType=self.asset_type,
            fileKey=self.file_key,
            fileExtension=self.file_extension,
            tags=list(self.tags) or None,
            metadataKey=self.metadata_key,
            metadataValue=self.metadata_value,
            didYouMean=self.did_you_mean or None,
            geoSearch=self.geo and self.geo.body(),
        )
        return {**body, "includeArchived": self.include_archived}

    def full_body(self) -> dict[str, JsonValue]:
        """Return the full form, in which named fields are filters in query syntax."""
        named = {
            "str_databaseid": self.database_id,
            "str_assetid": self.asset_id,
            "str_assetname.keyword": self.asset_name,
            "str_assettype": self.asset_type,
            "str_key.keyword": self.file_key,
            "str_fileext": self.file_extension,
        }
        clauses = [f"{field}:{quoted(value)}" for field, value in named.items() if value]
        if self.tags:
            clauses.append(" OR ".join(f"list_tags.keyword:{quoted(tag)}" for tag in self.tags))
        words = [word for word in (self.metadata_key, self.metadata_value) if word]
        mode = ("key" if self.metadata_key else "value") if len(words) == 1 else "both"
        filters: list[JsonValue] = [{"query_string": {"query": clause}} for clause in clauses]
        body = given(
            query=self.query,
            entityTypes=[entity.value for entity in self.entity_types] or None,
            filters=filters or None,
            metadataQuery=":".join(words) or None,
            metadataSearchMode=mode if words else None,
            metadataFilters=[metadata.body() for metadata in self.metadata] or None,
            geoSearch=self.geo and self.geo.body(),
            metadataFacets=[facet.body() for facet in self.facets] or None,
            facetChoices=[choice.body() for choice in self.choices] or None,
            histograms=[histogram.value for histogram in self.histograms] or None,
            foldFiles=self.fold_files or None,
            sort=[{field: order} for field, order in self.sort] or None,
            previews=self.previews or None,
            didYouMean=self.did_you_mean or None,
        )
        return {**body, "includeArchived": self.include_archived, "aggregations": True}

    @property
    def needs_full_form(self) -> bool:
        """Return whether the simple form does not support this search."""
        counted = self.facets or self.histograms
        named = self.metadata or self.choices or self.fold_files or self.sort
        return bool(named or counted or self.previews)


class _Suggestions(Wire):
    suggestions: list[Suggestion]


class _Previews(Wire):
    items: list[NamedPreview]


class _Mappings(Wire):
    mappings: dict[str, JsonValue]


class Search(Resource):
    def mappings(self) -> dict[str, JsonValue]:
        """Return the fields that can be searched, by index."""
        return self._transport.read(_Mappings, path_of("search")).mappings

    def previews(self, names: Sequence[tuple[str, str, str | None]]) -> list[NamedPreview]:
        """Return the previews of at most 200 files or assets: database, asset, path or None.

        Those that do not exist, or that the caller may not see, are left out.
        """
        items = [
            api.PreviewName(database_id=database_id, asset_id=asset_id, key=key)
            for database_id, asset_id, key in names
        ]
        body = api.PreviewsBody(items=items)
        path = path_of("previews")
        return self._transport.write(_Previews, "POST", path, body=body, repeatable=True).items

    def suggest(self, text: str, *, size: int = 10) -> list[Suggestion]:
        """Return names, tags, metadata keys and values that begin with the text."""
        query = {"q": text, "size": size}
        return self._transport.read(
            _Suggestions, path_of("search", "suggest"), query=query
        ).suggestions

    def simple(self, query: SearchQuery, *, start: int = 0, size: int = 100) -> SearchResult:
        """Search by the simple form; with metadata filters or facets, by the full form."""
        window = {"from": start, "size": size}
        if query.needs_full_form:
            body = {**query.full_body(), "aggregations": False, **window}
            return self._post(path_of("search"), body)
        return self._post(path_of("search", "simple"), {**query.simple_body(), **window})

    def full(
        self, query: SearchQuery, *, start: int = 0, size: int = 100, wait: bool = False
    ) -> SearchResult:
        """Search with aggregations; see `facets`.

        With `wait` the server waits some seconds until its indexes contain the last writes of this
        client; if that is not confirmed, the result has a `lag`.
        """
        body = {**query.full_body(), "from": start, "size": size}
        return self._post(path_of("search"), body, wait=wait)

    def everything(
        self, query: SearchQuery, *, page_size: int = LARGEST_PAGE, wait: bool = False
    ) -> Iterator[Hit]:
        """Yield every hit, from the content of the indexes at the first page.

        Each page must be requested within a minute after the one before. A user has at most ten
        such lists open: an eleventh closes the oldest.

        Raises:
            ApiError: with status 410 after more than a minute.
            ProtocolError: a cursor is repeated.
        """
        body = {**query.full_body(), "aggregations": False, "size": page_size}
        after, seen = "", set[str]()
        while True:
            page = self._post(path_of("search"), {**body, "after": after}, wait=wait and not after)
            yield from page.hits.hits
            if page.after is None:
                return
            if page.after in seen:
                raise ProtocolError("POST /search: the server returned the same cursor twice")
            seen.add(page.after)
            after = page.after

    def hits(
        self,
        query: SearchQuery,
        *,
        limit: int = DEEPEST_HIT,
        page_size: int = LARGEST_PAGE,
    ) -> Iterator[Hit]:
        """Yield hits of the simple form, page after page, up to the limit of the server."""
        start = 0
        while start < (deepest := min(limit, DEEPEST_HIT)):
            size = min(page_size, deepest - start)
            page = self.simple(query, start=start, size=size)
            yield from page.hits.hits
            start += len(page.hits.hits)
            if len(page.hits.hits) < size:
                return

    def _post(self, path: str, body: dict[str, JsonValue], *, wait: bool = False) -> SearchResult:
        written = self._transport.written.recent() if wait else ()
        headers = {"X-After": ",".join(written)} if written else None
        result = self._transport.write(
            SearchResult, "POST", path, body=body, headers=headers, repeatable=True
        )
        if result.lag is None:
            self._transport.written.remove(written)
        return result


def quoted(value: str) -> str:
    """Return a value as one phrase of the query syntax; one with wildcards remains a pattern."""
    if any(mark in value for mark in "*?"):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def facets(result: SearchResult) -> dict[str, tuple[Facet, ...]]:
    """Return the counted values of each aggregation that has buckets, most frequent first.

    Raises:
        ProtocolError: a bucket has another form than a key and a count.
    """
    counted = {
        name: _buckets(aggregation) for name, aggregation in (result.aggregations or {}).items()
    }
    try:
        return {
            name: tuple(Facet.model_validate(row) for row in rows)
            for name, rows in counted.items()
            if rows
        }
    except ValidationError as error:
        raise ProtocolError("a facet is not in the form of key and doc_count") from error


def _buckets(aggregation: JsonValue) -> list[JsonValue]:
    """Return the buckets of an aggregation, also within a filter."""
    if not isinstance(aggregation, dict):
        return []
    rows = aggregation.get("buckets")
    if isinstance(rows, list):
        return rows
    for inner in aggregation.values():
        if nested := _buckets(inner):
            return nested
    return []
