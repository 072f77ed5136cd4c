"""Search results, typed."""

from enum import StrEnum

from pydantic import Field, JsonValue

from vitrine.models import Wire


class EntityType(StrEnum):
    ASSET = "asset"
    FILE = "file"


class Preview(Wire):
    """The URL of a picture; `id` changes only with the picture."""

    id: str
    url: str
    expires_at: str


class Missing(Wire):
    """Why there is no preview or GLB, as a code (`reason`) and in words."""

    reason: str
    message: str


class NamedPreview(Wire):
    """The preview of a file or asset that was requested by name."""

    database_id: str
    asset_id: str
    key: str | None = None
    preview: Preview | None = None
    preview_missing: Missing | None = None


class Hit(Wire):
    id: str = Field(alias="_id")
    index: str | None = Field(default=None, alias="_index")
    score: float | None = Field(default=None, alias="_score")
    source: dict[str, JsonValue] = Field(default_factory=dict, alias="_source")
    index_type: str | None = Field(default=None, alias="_index_type")
    preview: Preview | None = None
    preview_missing: Missing | None = None
    files: tuple["Hit", ...] = ()
    """The best file hits of an asset, where the search folds them in."""

    def text(self, field: str) -> str:
        """Return a field of the document as text; empty without one."""
        value = self.source.get(field)
        return "" if value is None else str(value)


class Total(Wire):
    value: int
    relation: str = "eq"


class Hits(Wire):
    total: Total
    max_score: float | None = Field(default=None, alias="max_score")
    hits: tuple[Hit, ...] = ()


class Facet(Wire):
    key: JsonValue
    doc_count: int = Field(alias="doc_count")
    assets: int | None = None


class MetadataFacetCounts(Wire):
    """How many documents have each value of a key, and how many numbers are in each range."""

    key: str
    documents: int = 0
    buckets: tuple[Facet, ...] = ()
    ranges: tuple[dict[str, JsonValue], ...] = ()


class HistogramField(StrEnum):
    """The field of a histogram: size or date of files, or date of asset versions."""

    SIZE = "num_filesize"
    MODIFIED = "date_lastmodified"
    VERSIONED = "date_asset_version_createdate"


class HistogramBucket(Wire):
    """Values of at least `from`, less than `to`.

    For dates, `to` is the `from` of the next bucket.
    """

    start: JsonValue = Field(default=None, alias="from")
    end: JsonValue = Field(default=None, alias="to")
    documents: int
    assets: int | None = None


class Histogram(Wire):
    field: str
    interval: str | None = None
    buckets: tuple[HistogramBucket, ...] = ()


class Lag(Wire):
    """How many of the written documents the indexes may not contain yet.

    `seconds` have passed since the first of the writes.
    """

    pending: int
    of: int
    seconds: float


class SearchResult(Wire):
    took: int | None = None
    timed_out: bool | None = Field(default=None, alias="timed_out")
    hits: Hits
    aggregations: dict[str, JsonValue] | None = None
    metadata_facets: tuple[MetadataFacetCounts, ...] | None = None
    after: str | None = None
    lag: Lag | None = None
    with_all_words: int | None = None
    """How many hits have all words of a query with several words."""
    did_you_mean: str | None = None
    """A text whose words a document has, where no hit has all words of the query."""
    histograms: tuple[Histogram, ...] | None = None
    assets_found: int | None = None
    """How many assets were found, where files are folded in; an estimate above 10,000."""
    reindex_due: str | None = None
    """What may not be found until a reindex."""
    previews_omitted: str | None = None
    """Why the hits have no previews, though they were requested."""

    @property
    def total(self) -> int:
        return self.hits.total.value
