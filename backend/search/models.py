"""The bodies and replies of the search routes."""

from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from backend.core.models import WireModel
from backend.core.names import is_text

EntityType = Literal["asset", "file"]
MAX_WINDOW = 10_000
MAX_SIZE = 2000
MAX_QUERY_CHARS = 1024
MAX_TERMS = 100

QueryText = Annotated[str, Field(max_length=MAX_QUERY_CHARS), AfterValidator(is_text)]
BOTH: tuple[EntityType, ...] = ("asset", "file")


def _without_controls(value: str) -> str:
    if "\u0000" in value:
        raise ValueError("must not hold a NUL character")
    return value


Term = Annotated[
    str,
    Field(min_length=1, max_length=MAX_QUERY_CHARS),
    AfterValidator(is_text),
    AfterValidator(_without_controls),
]


class Window(WireModel):
    """Which of the hits are answered: `size` of them from `from` on; both lie in 10,000."""

    query: QueryText = ""
    entity_types: Annotated[list[EntityType], Field(max_length=2)] = []
    include_archived: bool = False
    from_: Annotated[int, Field(alias="from", ge=0)] = 0
    size: Annotated[int, Field(ge=0, le=MAX_SIZE)] = 100

    @model_validator(mode="after")
    def lies_in_the_window(self) -> "Window":
        if self.from_ + self.size > MAX_WINDOW:
            raise ValueError(f"from and size together must not exceed {MAX_WINDOW}")
        return self

    @property
    def wanted_types(self) -> tuple[EntityType, ...]:
        """The entity types that are asked for; both where none is named."""
        return tuple(dict.fromkeys(self.entity_types)) or BOTH


class SimpleSearchBody(Window):
    """A search by named fields: exact without case, or with `*` and `?`; tags are alternatives."""

    asset_name: Term | None = None
    asset_id: Term | None = None
    asset_type: Term | None = None
    file_key: Term | None = None
    file_extension: Term | None = None
    database_id: Term | None = None
    tags: Annotated[list[Term], Field(max_length=MAX_TERMS)] = []
    metadata_key: Term | None = None
    metadata_value: Term | None = None


class SortField(WireModel):
    """One sort criterion; `field` is a field of the indexes or `_score`."""

    field: Term
    order: Literal["asc", "desc"] = "asc"


class SearchBody(Window):
    """A full search. `tokens` and `operation` of older clients are accepted and ignored."""

    tokens: list[Any] = []
    operation: Any = None
    filters: Annotated[list[dict[str, Any]], Field(max_length=MAX_TERMS)] = []
    sort: Annotated[list[SortField], Field(max_length=10)] = []
    aggregations: bool = True
    metadata_query: QueryText = ""
    metadata_search_mode: Literal["key", "value", "both"] = "both"
    include_metadata_in_search: bool = True
    explain_results: bool = False
    include_highlights: bool = False

    @field_validator("sort", mode="before")
    @classmethod
    def in_any_of_the_usual_shapes(cls, value: Any) -> Any:
        """Take `"field"`, `{"field": "asc"}`, `{"field": {"order": "asc"}}` as OpenSearch does."""
        if not isinstance(value, list):
            return value
        return [_sort_field(entry) for entry in cast("list[Any]", value)]


class SearchReply(WireModel):
    """What OpenSearch answers, with `_index_type` on every hit and the facets as they are."""

    model_config = ConfigDict(extra="allow")


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
        order = cast("dict[str, Any]", order).get("order", "asc")
    return {"field": field, "order": order}
