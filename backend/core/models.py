"""The base of all models: camelCase on the wire, snake_case in Python, mapped here once."""

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    """A body, a query string, a reply or a stored item. Unknown fields are ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        ser_json_inf_nan="null",
        arbitrary_types_allowed=False,
    )


class PageQuery(WireModel):
    """The paging parameters of lists; the smaller of the two sizes counts."""

    max_items: int | None = Field(default=None, ge=1)
    page_size: int | None = Field(default=None, ge=1)
    starting_token: str | None = None
