"""The bodies and replies of the search routes."""

from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from backend.core.models import SentModel, WireModel, WrongFieldError
from backend.core.names import AssetId, Form, Id, Line, is_text
from backend.search.values import inexact_fact, is_inexact

EntityType = Literal["asset", "file"]
# OpenSearch's default for `index.max_result_window`; cursors reach further hits.
MAX_WINDOW = 10_000
# A page of 2,000 hits has 3,000 bytes for each, of the 6 MB of a reply.
MAX_SIZE = 2000
MAX_QUERY_CHARS = 5000
# The length of the longest object key, of which most named fields are parts.
MAX_TERM_CHARS = 1024
MAX_TERMS = 100
# 20 filters of 100 alternatives are 2,000 of the 4,096 conditions of a query; the caller's rules
# may need 900 (decisions 28, 31).
MAX_FILTERS = 20
# Each has up to 100 values, of nested pairs of all documents that are found (decision 28).
MAX_FACETS = 10
# Of a sealed page token (`core.page_tokens`), which includes the values that order the list.
MAX_CURSOR_CHARS = 16_384
# Half of the equator, the largest distance of two points, and OpenSearch's smallest one above zero.
MAX_METERS, MIN_METERS = 20_037_508, 0.001
# Hits of a page with previews, and files and assets in one request for previews: the assets and
# quarantines of a page are one or two batch reads of 100 (decision 83).
MAX_PREVIEWED = 200
# Assets of a page with their files; each has a `top_hits` of its own in OpenSearch.
MAX_FOLDED = 100

QueryText = Annotated[str, Field(max_length=MAX_QUERY_CHARS), AfterValidator(is_text)]
HistogramField = Literal["num_filesize", "date_lastmodified", "date_asset_version_createdate"]
BOTH: tuple[EntityType, ...] = ("asset", "file")


def _without_controls(value: str) -> str:
    if "\u0000" in value:
        raise ValueError("must not contain the control character U+0000")
    return value


Term = Annotated[
    str,
    Field(min_length=1, max_length=MAX_TERM_CHARS),
    AfterValidator(is_text),
    AfterValidator(_without_controls),
]


MetadataType = Literal["string", "number", "date", "boolean"]
MetadataKey = Annotated[
    str,
    Field(min_length=1, max_length=256),
    AfterValidator(is_text),
    AfterValidator(_without_controls),
]
FilterOperator = Literal[
    "eq", "in", "gt", "gte", "lt", "lte", "between", "exists", "geoDistance", "geoBox"
]


Latitude = Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
Longitude = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]


class GeoPlace(SentModel):
    """A place in degrees."""

    lat: Latitude
    lon: Longitude


class GeoCircle(GeoPlace):
    """The places within a radius of a point, or the point itself."""

    radius_meters: Annotated[
        float | None, Field(ge=MIN_METERS, le=MAX_METERS, allow_inf_nan=False)
    ] = None


class GeoBox(SentModel):
    """A box. If its left is east of its right, it crosses the date line."""

    top_left: GeoPlace
    bottom_right: GeoPlace

    @model_validator(mode="after")
    def check_area(self) -> "GeoBox":
        if self.top_left.lat <= self.bottom_right.lat:
            raise WrongFieldError("topLeft.lat", "must be greater than bottomRight.lat")
        if self.top_left.lon == self.bottom_right.lon:
            raise WrongFieldError("topLeft.lon", "must differ from bottomRight.lon")
        return self


class GeoSearch(SentModel):
    """A condition on the places of a document, in exactly one of `point`, `bbox` and `geoJson`.

    They are `geo_MD_location` and its geographic metadata. `intersects`: one of them has a point in
    common with the shape. `within`: one is inside the shape. `contains`: the shape is inside one.
    `disjoint`: it has a place, and none intersects the shape.
    """

    point: GeoCircle | None = None
    bbox: GeoBox | None = None
    geo_json: Annotated[
        dict[str, Any] | None,
        Field(
            description=(
                "A Geometry, Feature or FeatureCollection. Rings are closed, in either direction; "
                "a polygon over the 180th meridian is cut there."
            )
        ),
    ] = None
    relation: Literal["intersects", "within", "contains", "disjoint"] = "intersects"

    @model_validator(mode="after")
    def check_shape(self) -> "GeoSearch":
        sent = [self.point, self.bbox, self.geo_json]
        if sum(shape is not None for shape in sent) != 1:
            raise ValueError("takes exactly one of point, bbox and geoJson")
        return self


class Window(SentModel):
    """The page of hits that is returned: `size` hits from `from` on, within the first 10,000."""

    query: QueryText = ""
    geo_search: GeoSearch | None = None
    entity_types: Annotated[list[EntityType], Field(max_length=2)] = []
    include_archived: bool = False
    did_you_mean: Annotated[
        bool,
        Field(
            description=(
                "If no hit has all words, return a corrected text in `didYouMean`. This costs a "
                "second request to OpenSearch."
            )
        ),
    ] = False
    from_: Annotated[
        int,
        Field(alias="from", ge=0, description=f"With `size` added, at most {MAX_WINDOW}."),
    ] = 0
    size: Annotated[int, Field(ge=0, le=MAX_SIZE)] = 100

    @model_validator(mode="after")
    def check_window(self) -> "Window":
        if self.from_ + self.size > MAX_WINDOW:
            raise WrongFieldError("size", f"from and size together must not exceed {MAX_WINDOW}")
        return self


class SimpleSearchBody(Window):
    """A search by field values: exact except for case, or with `*` and `?`. Of several tags one
    must match. `metadataValue` may be a part of a value.
    """

    asset_name: Term | None = None
    asset_id: Term | None = None
    asset_type: Term | None = None
    file_key: Term | None = None
    file_extension: Term | None = None
    database_id: Term | None = None
    tags: Annotated[list[Term], Field(max_length=MAX_TERMS)] = []
    metadata_key: Term | None = None
    metadata_value: Term | None = None


class SortField(SentModel):
    """A sort criterion: an index field, `_score`, `metadata.<key>`, `fact_<name>` or `AB_<key>`.

    `type` is the type by which metadata values are compared; facts have a fixed type. Documents
    without a value of that type are sorted last.
    """

    field: Term
    order: Literal["asc", "desc"] = "asc"
    type: MetadataType = "string"


class MetadataFilter(WireModel):
    """A condition on the metadata of an asset or file. All conditions must match.

    `fact_<name>` is a fact of a file, such as `fact_triangles`, with a fixed type; `AB_<key>` is a
    file attribute, which is always text. Any other key is metadata.

    `eq` and `in` (a list) match exactly; `gt`, `gte`, `lt`, `lte` and `between` (two values,
    inclusive) compare numbers and dates; `exists` (true or false) tests for the key; `geoDistance`
    takes `lat`, `lon` and `meters`, and `geoBox` takes `top`, `left`, `bottom` and `right`. The
    type follows from the value, where text in a range is a date; `type` overrides it.
    """

    key: MetadataKey
    op: FilterOperator
    value: Any = None
    type: MetadataType | None = None


# Above it, a whole number may have no `float`.
_LARGEST = 10**308


def _require_exact(value: object) -> object:
    if is_inexact(value):
        raise ValueError(inexact_fact(value))
    return value


# Before its conversion, which rounds it.
ExactNumber = Annotated[float, BeforeValidator(_require_exact), Field(allow_inf_nan=False)]


class FacetRange(WireModel):
    """A range of numbers: at least `from`, less than `to`. Without a limit, that side is open."""

    from_: Annotated[ExactNumber | None, Field(alias="from")] = None
    to: ExactNumber | None = None

    @model_validator(mode="after")
    def check_bounds(self) -> "FacetRange":
        if self.from_ is None and self.to is None:
            raise WrongFieldError("from", "from or to is required")
        return self


class MetadataFacet(WireModel):
    """Counts the most frequent values of a metadata key, a fact or an attribute.

    `ranges` also counts the numbers in each range. The dates of a fact are counted in intervals.
    """

    key: MetadataKey
    size: Annotated[int, Field(ge=1, le=100)] = 20
    ranges: Annotated[list[FacetRange], Field(max_length=20)] = []


class FacetChoice(WireModel):
    """Values selected in a facet: a hit must have one of them.

    Selections in several facets must all match. A facet counts its values without its own
    selection, so selecting one value does not hide the others.
    """

    facet: Annotated[
        MetadataKey,
        Field(
            description="A facet of `aggregations`, `fact_<name>`, `AB_<key>`, `metadata.<key>`, "
            "or a key that the request has in `metadataFacets`."
        ),
    ]
    values: Annotated[
        list[bool | float | Term],
        Field(
            min_length=1,
            max_length=MAX_TERMS,
            description="Values as returned in the facet's buckets.",
        ),
    ]

    @field_validator("values", mode="before")
    @classmethod
    def require_distinct_numbers(cls, values: Any) -> Any:
        """Refuse whole numbers that their conversion changes; buckets have none of them."""
        for value in cast("list[Any]", values) if isinstance(values, list) else []:
            if isinstance(value, int) and (abs(value) > _LARGEST or float(value) != value):
                raise ValueError(inexact_fact(value))
        return cast("Any", values)


class SearchBody(Window):
    """A full search. `tokens` and `operation` of older clients are accepted and ignored.

    `after` pages by cursor: empty for the first page, then the value from the previous page. A user
    can have ten cursors open; an eleventh closes the oldest, whose next page returns 410.
    """

    tokens: list[Any] = []
    operation: Any = None
    filters: Annotated[list[dict[str, Any]], Field(max_length=MAX_TERMS)] = []
    sort: Annotated[list[SortField], Field(max_length=10)] = []
    aggregations: bool = True
    metadata_query: QueryText = ""
    metadata_search_mode: Literal["key", "value", "both"] = "both"
    include_metadata_in_search: bool = True
    metadata_filters: Annotated[list[MetadataFilter], Field(max_length=MAX_FILTERS)] = []
    metadata_facets: Annotated[list[MetadataFacet], Field(max_length=MAX_FACETS)] = []
    facet_choices: Annotated[list[FacetChoice], Field(max_length=MAX_FILTERS)] = []
    histograms: Annotated[
        list[HistogramField],
        Field(
            max_length=3,
            description=(
                "Fields to count in buckets: sizes by powers of ten, dates in at most 20 equal "
                "intervals."
            ),
        ),
        AfterValidator(lambda fields: list(dict.fromkeys(fields))),
    ] = []
    fold_files: Annotated[
        bool,
        Field(
            description=(
                "Return assets, each with its three best file hits in `files`. An asset is "
                "found by its own data or by one of its files. At most 100 assets a page; "
                "cannot be combined with `after`."
            )
        ),
    ] = False
    file_counts: Annotated[
        bool,
        Field(description="With `foldFiles`, return the number of each asset's files."),
    ] = False
    previews: Annotated[
        bool,
        Field(
            description=(
                "Return a URL of each hit's preview, or the reason why there is none. At most "
                "200 hits a page."
            )
        ),
    ] = False
    held_previews: Annotated[
        list[Annotated[str, Form("[0-9a-f]{32}", "must be the id of a preview")]],
        Field(
            max_length=MAX_PREVIEWED,
            description=(
                "Ids of previews whose URLs have not expired: their hits have `previewHeld`, and "
                "no new URL."
            ),
        ),
    ] = []
    after: Annotated[str, Field(max_length=MAX_CURSOR_CHARS)] | None = None
    source_fields: Annotated[
        list[Term] | None,
        Field(
            max_length=MAX_TERMS,
            description=(
                "The fields of documents that hits have in `_source`; all if omitted. "
                "`MD_.material` is one key of metadata, `AB_.fact_triangles` one fact; with "
                "`foldFiles`, files have the facts that are named."
            ),
        ),
    ] = None
    explain_results: bool = False
    include_highlights: bool = True

    @field_validator("sort", mode="before")
    @classmethod
    def accept_short_forms(cls, value: Any) -> Any:
        """Accept `"field"`, `{"field": "asc"}` and `{"field": {"order": "asc"}}`."""
        if not isinstance(value, list):
            return value
        return [_sort_field(entry) for entry in cast("list[Any]", value)]

    @model_validator(mode="after")
    def check_cursor(self) -> "SearchBody":
        if self.after is not None and (self.from_ or not self.size):
            raise WrongFieldError(
                "after", "requires a size of at least 1, and cannot be used with from"
            )
        return self

    @model_validator(mode="after")
    def check_previews(self) -> "SearchBody":
        if self.previews and self.size > MAX_PREVIEWED:
            raise WrongFieldError("size", f"must not exceed {MAX_PREVIEWED} with previews")
        if self.held_previews and not self.previews:
            raise WrongFieldError("heldPreviews", "requires previews")
        return self

    @model_validator(mode="after")
    def check_folding(self) -> "SearchBody":
        if not self.fold_files:
            if self.file_counts:
                raise WrongFieldError("fileCounts", "requires foldFiles")
            return self
        if self.after is not None:
            raise WrongFieldError("foldFiles", "cannot be used with after")
        if len(set(self.entity_types)) == 1:
            raise WrongFieldError("foldFiles", "requires both entity types")
        if self.size > MAX_FOLDED:
            raise WrongFieldError("size", f"must not exceed {MAX_FOLDED} with foldFiles")
        return self


class PreviewName(WireModel):
    """A file, by its path in the asset or its key; without `key`, the asset."""

    database_id: Id
    asset_id: AssetId
    key: Annotated[Line | None, Field(min_length=1)] = None


class PreviewsBody(WireModel):
    """The files and assets whose previews are requested."""

    items: Annotated[list[PreviewName], Field(min_length=1, max_length=MAX_PREVIEWED)]


class SuggestQuery(WireModel):
    q: Annotated[
        str,
        Field(
            min_length=1,
            max_length=100,
            description="The text typed so far. The last word may be incomplete.",
        ),
        AfterValidator(is_text),
        AfterValidator(_without_controls),
    ]
    size: Annotated[int, Field(ge=1, le=20)] = 10


class Suggestion(WireModel):
    """`documents` counts assets and files; for keys and values, the matching key-value pairs."""

    text: str
    kind: Literal["name", "tag", "key", "value"]
    documents: int


class SuggestionsReply(WireModel):
    """Suggestions, from documents that the caller may see only."""

    suggestions: list[Suggestion]


class MappingsReply(WireModel):
    """The mappings of both indexes."""

    mappings: dict[Literal["asset_index", "file_index"], dict[str, Any]]


def _sort_field(entry: Any) -> Any:
    if isinstance(entry, str):
        return {"field": entry, "order": "desc" if entry == "_score" else "asc"}
    if not isinstance(entry, dict) or len(cast("dict[str, Any]", entry)) != 1:
        return cast("Any", entry)
    ((field, order),) = cast("dict[str, Any]", entry).items()
    if field == "field":
        return {"field": order}
    if isinstance(order, dict):
        said = cast("dict[str, Any]", order)
        return {"field": field, "order": "asc"} | {
            name: said[name] for name in ("order", "type") if name in said
        }
    return {"field": field, "order": order}
