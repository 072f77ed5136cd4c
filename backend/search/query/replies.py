"""The replies of searches.

Hits and facets are passed on as OpenSearch returned them: a page has up to 2,000 hits with sources
of any shape, and validating each would cost more than finding it. Their models are their schema.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from backend.core.models import WireModel
from backend.core.previews import Missing
from backend.search.query.models import EntityType, HistogramField


class _Raw(WireModel):
    """An object of OpenSearch, with its own names."""


class TotalHits(_Raw):
    """`relation` is `gte` if counting stopped at `value`."""

    value: int
    relation: str | None = None


class ScoreBreakdown(_Raw):
    """The score of a hit, and in how many fields it matches."""

    total_score: Annotated[float, Field(alias="total_score")]
    field_matches: Annotated[int, Field(alias="field_matches")]
    highlight_matches: Annotated[int, Field(alias="highlight_matches")]


class HitExplanation(_Raw, extra="allow"):
    """Why a hit was found: the fields that match, and its score. If the caller may see every
    document, OpenSearch's own explanation (`value`, `description`, `details`) is included.
    """

    query_type: Annotated[
        Literal["general", "metadata", "combined", "none"], Field(alias="query_type")
    ]
    index_type: Annotated[EntityType, Field(alias="index_type")]
    matched_fields: Annotated[list[str], Field(alias="matched_fields")]
    match_reasons: Annotated[dict[str, str], Field(alias="match_reasons")]
    score_breakdown: Annotated[ScoreBreakdown, Field(alias="score_breakdown")]


class Preview(WireModel):
    """A picture. `id` changes only with the picture: use the first URL of an id until shortly
    before it expires.
    """

    id: str
    url: str
    small_url: Annotated[
        str | None,
        Field(description="The picture in at most 256 pixels as WebP, if it was generated."),
    ] = None
    expires_at: str


class SearchHit(_Raw):
    """A found asset or file; `_index_type` is its type. `files` are the best files of an asset.

    With `previews`, a hit has `preview`, `previewHeld` (the id of one of `heldPreviews`) or
    `previewMissing`, except in indexes that need a reindex.
    """

    id: Annotated[str, Field(alias="_id")]
    index: Annotated[str, Field(alias="_index")]
    index_type: Annotated[EntityType, Field(alias="_index_type")]
    score: Annotated[float | None, Field(alias="_score")] = None
    source: Annotated[dict[str, Any], Field(alias="_source")]
    highlight: dict[str, list[str]] = {}
    explanation: HitExplanation | None = None
    sort: list[Any] = []
    ignored: Annotated[list[str], Field(alias="_ignored")] = []
    files: list["SearchHit"] = []
    file_count: Annotated[
        int | None,
        Field(description="With `fileCounts`, how many files of the asset the caller may see."),
    ] = None
    preview: Preview | None = None
    preview_held: str | None = None
    preview_missing: Missing | None = None


class SearchHits(_Raw):
    total: TotalHits
    max_score: Annotated[float | None, Field(alias="max_score")] = None
    hits: list[SearchHit]


Assets = Annotated[
    int | None,
    Field(description="With `foldFiles`, how many assets these are; an estimate above 3,000."),
]


class FacetBucket(_Raw):
    """A value of a field or key, and how many documents have it."""

    key: Any
    key_as_string: Annotated[str | None, Field(alias="key_as_string")] = None
    doc_count: Annotated[int, Field(alias="doc_count")]
    assets: Assets = None


class FacetCounts(_Raw, extra="allow"):
    """The values of a field that most documents have. The inner aggregation is there, too, under
    its own name (`filtered_…`), for clients that read it there.
    """

    doc_count: Annotated[int, Field(alias="doc_count")]
    buckets: list[FacetBucket] = []
    sum_other_doc_count: Annotated[int | None, Field(alias="sum_other_doc_count")] = None
    doc_count_error_upper_bound: Annotated[
        int | None, Field(alias="doc_count_error_upper_bound")
    ] = None


class RangeBucket(WireModel):
    """The documents with a number from `from` on and below `to`."""

    start: Annotated[float | None, Field(alias="from")] = None
    end: Annotated[float | None, Field(alias="to")] = None
    doc_count: Annotated[int, Field(alias="doc_count")]
    assets: Assets = None


class NumberStatistics(WireModel):
    """Statistics of a key's numbers. A value outside the range of numbers is left out."""

    count: int
    min: float | None = None
    max: float | None = None
    avg: float | None = None
    sum: float | None = None


class HistogramBucket(WireModel):
    """The number of documents with a value of at least `from` (sizes: and below `to`)."""

    start: Annotated[int | str | None, Field(alias="from")] = None
    end: Annotated[int | None, Field(alias="to")] = None
    documents: int
    assets: Assets = None


class MetadataFacetReply(WireModel):
    """The number of documents for each value of a metadata key; `others` counts the rest."""

    key: str
    documents: int
    buckets: list[FacetBucket]
    others: int
    error: int
    ranges: list[RangeBucket] | None = None
    number: NumberStatistics | None = None
    dates: Annotated[
        list[HistogramBucket] | None,
        Field(description="Of a fact that is a date: its values in at most 20 equal intervals."),
    ] = None


class HistogramReply(WireModel):
    """`interval` is the length of an interval of dates; OpenSearch chooses it."""

    field: HistogramField
    interval: str | None = None
    buckets: list[HistogramBucket]


class SearchLag(WireModel):
    """The number of written documents that the indexes may not contain yet.

    `seconds` have passed since the first of the writes.
    """

    pending: int
    of: int
    seconds: float


class NamedPreview(WireModel):
    """The preview of a file or asset, under the name that the request has for it."""

    database_id: str
    asset_id: str
    key: str | None = None
    preview: Preview | None = None
    preview_missing: Missing | None = None


class PreviewsReply(WireModel):
    """Previews in the order of the request. Files and assets that do not exist, are not indexed
    yet, or are not visible to the caller are left out.
    """

    items: list[NamedPreview]
    reindex_due: Annotated[
        str | None, Field(description="Why there are no items: the indexes must be rebuilt first.")
    ] = None
    previews_omitted: Annotated[
        str | None, Field(description="Why there are no items, although there are previews.")
    ] = None


@dataclass(frozen=True)
class _Described:
    """The schema of a value that is passed on as it is."""

    model: type[BaseModel]

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        self.model.model_rebuild()
        return handler(self.model.__pydantic_core_schema__)


class SearchReply(WireModel):
    """The reply of OpenSearch, with `_index_type` on every hit and the facets.

    Hits of documents over 100,000 bytes have no metadata (`MD_`, `AB_`, `metadata`, `gp_`, `gs_`)
    and have `metadataCut`: true; on pages of more than 100 hits, matched words are not highlighted
    in them. `didYouMean` is a text whose words a document has, if it was requested and no
    document has all words of `query`.
    """

    took: int
    timed_out: Annotated[bool, Field(alias="timed_out")]
    hits: Annotated[dict[str, Any], _Described(SearchHits)]
    aggregations: dict[str, Annotated[dict[str, Any], _Described(FacetCounts)]] | None = None
    aggregation_total: Annotated[
        int | None, Field(description="The number of documents that the facets count.")
    ] = None
    metadata_facets: list[MetadataFacetReply] | None = None
    histograms: list[HistogramReply] | None = None
    assets_found: Annotated[
        int | None,
        Field(
            description="How many assets were found, with `foldFiles`; an estimate above 10,000."
        ),
    ] = None
    after: Annotated[
        str | None, Field(description="Where the next page begins, in lists by cursor.")
    ] = None
    with_all_words: Annotated[
        int | None,
        Field(
            description=(
                "How many hits have all words of a `query` with several words. They are ranked "
                "before hits with some of the words."
            )
        ),
    ] = None
    did_you_mean: str | None = None
    reindex_due: Annotated[
        str | None, Field(description="What searches may not find until the indexes are rebuilt.")
    ] = None
    files_left_out: Annotated[
        str | None,
        Field(
            description=(
                "Why a condition on assets does not hold for their files, with `foldFiles`: more "
                "assets meet it than one search can list."
            )
        ),
    ] = None
    lag: SearchLag | None = None
    previews_omitted: Annotated[
        str | None, Field(description="Why the hits have no previews, though they were requested.")
    ] = None
