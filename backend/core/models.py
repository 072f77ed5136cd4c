"""The base of all models: camelCase on the wire, snake_case in Python, mapped here once."""

from copy import deepcopy
from functools import cache
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic_core import CoreSchema


@cache
def camel(name: str) -> str:
    """As pydantic's `to_camel`, which takes regular expressions to it, for each field anew."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


class WireModel(BaseModel):
    """A body, a query string, a reply or a stored item. Unknown fields are ignored."""

    model_config = ConfigDict(
        alias_generator=camel,
        populate_by_name=True,
        extra="ignore",
        ser_json_inf_nan="null",
        arbitrary_types_allowed=False,
        defer_build=True,  # most runs of a function use few of its models
    )


class FullModel(WireModel):
    """A part of a reply whose fields without a value are in the JSON, as null.

    (Elsewhere a field without a value is left out.)
    """

    @model_serializer(mode="wrap")
    def with_nulls(
        self, serialize: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any]:
        fields = type(self).model_fields
        names = [
            (field.serialization_alias if info.by_alias else None) or name
            for name, field in fields.items()
        ]
        return dict.fromkeys(names) | serialize(self)


class ToldTwice(WireModel):
    """A reply that is in its own field `message` once more.

    Of these lists the contract has the items at the top; the clients of VAMS look for them within
    `message`.
    """

    @model_serializer(mode="wrap")
    def with_message(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        told = serialize(self)
        return {**told, "message": told}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        reference = handler(core_schema)
        whole = handler.resolve_ref_schema(reference)
        # The copy shares nothing: what pydantic renames in one place it would rename there twice.
        message = deepcopy({name: whole[name] for name in ("type", "properties", "required")})
        whole["properties"]["message"] = message
        whole["required"] = [*whole["required"], "message"]
        return reference


class OptionalBody(WireModel):
    """A body that a request may leave out: none of its fields has to be there."""


class PageQuery(WireModel):
    """The paging parameters of lists; the smaller of the two sizes counts."""

    max_items: int | None = Field(default=None, ge=1)
    page_size: int | None = Field(default=None, ge=1)
    starting_token: str | None = None
