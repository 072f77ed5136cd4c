"""The base of all models: camelCase on the wire, snake_case in Python, mapped here once."""

from copy import deepcopy
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Union, cast, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema


@cache
def camel(name: str) -> str:
    """Return a name in camelCase, as pydantic's `to_camel` but without its regular expressions."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


class WrongFieldError(ValueError):
    """Raised by rules that compare several fields; names the wrong field as on the wire."""

    def __init__(self, field: str, fact: str) -> None:
        super().__init__(fact)
        self.field = field


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
    """A part of a reply in which fields without a value are included as null.

    In other models, such fields are left out.
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


class LegacyEnvelope(WireModel):
    """A reply that repeats its fields within the field `message`.

    In the contract, these lists have their items at the top level, but the clients of VAMS read
    them from `message`.
    """

    @model_serializer(mode="wrap")
    def with_message(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields_sent = serialize(self)
        return {**fields_sent, "message": fields_sent}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        reference = handler(core_schema)
        whole = handler.resolve_ref_schema(reference)
        # A full copy, because pydantic would rename a shared part twice.
        message = deepcopy({name: whole[name] for name in ("type", "properties", "required")})
        whole["properties"]["message"] = message
        whole["required"] = [*whole["required"], "message"]
        return reference


class SentModel(WireModel):
    """A body, or a part of one, in which null is the same as omitting the field.

    VAMS clients send null for fields without a value. Null remains a value for fields that accept
    null, and for required fields.
    """

    @model_validator(mode="before")
    @classmethod
    def without_nulls(cls, sent: Any) -> Any:
        if not isinstance(sent, dict):
            return sent
        values, silent = cast("dict[str, Any]", sent), _silent(cls)
        return {
            name: value for name, value in values.items() if value is not None or name not in silent
        }

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        reference = handler(core_schema)
        if handler.mode == "validation":
            properties = handler.resolve_ref_schema(reference)["properties"]
            for name in _silent(cls) & properties.keys():
                # The description stays at the top level.
                schema = dict(properties[name])
                kept = [key for key in ("default", "description", "title") if key in schema]
                about = {key: schema.pop(key) for key in kept}
                properties[name] = {"anyOf": [schema, {"type": "null"}], **about}
        return reference


@cache
def _silent(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of the fields that may be omitted, but do not accept null."""
    return frozenset(
        spelling
        for name, field in model.model_fields.items()
        if not field.is_required() and not _takes_null(field.annotation)
        for spelling in (name, field.alias or name)
    )


def _takes_null(annotation: object) -> bool:
    if get_origin(annotation) in {Annotated, Union, UnionType}:
        return any(map(_takes_null, get_args(annotation)))
    return annotation in (Any, None, NoneType)


def _is_true(value: bool) -> bool:
    if not value:
        raise ValueError("must be true to confirm the operation")
    return value


# `Literal[True]` would accept 1 and 1.0, in strict models too.
Confirmation = Annotated[bool, AfterValidator(_is_true), Field(json_schema_extra={"const": True})]
"""A confirmation, which must be `true`."""


class OptionalBody(WireModel):
    """A body that a request may omit, because none of its fields is required."""


class PageQuery(WireModel):
    """The paging parameters of lists; the smaller of the two sizes counts.

    Each list declares how many items its pages have at most, and how many by default if fewer.
    """

    most_items: ClassVar[int] = 1000
    default_items: ClassVar[int | None] = None
    refuses_larger: ClassVar[bool] = False  # VAMS 2.6 refuses a larger `pageSize` in some lists

    max_items: int | None = Field(default=None, ge=1)
    page_size: int | None = Field(default=None, ge=1)
    starting_token: str | None = Field(
        default=None,
        description=(
            "`NextToken` of the previous page. The last page has no `NextToken`; pages before "
            "it may be short, and the last page may be empty"
        ),
    )

    @field_validator("page_size")
    @classmethod
    def check_size(cls, value: int | None) -> int | None:
        if cls.refuses_larger and value is not None and value > cls.most_items:
            raise ValueError(f"must be at most {cls.most_items}")
        return value

    @property
    def limit(self) -> int:
        """Return the items of the requested page; VAMS clients request more than there can be."""
        return self._limit(self.most_items, self.default_items)

    def _limit(self, most: int, default: int | None = None) -> int:
        sizes = [size for size in (self.max_items, self.page_size) if size is not None]
        return min(*sizes, most) if sizes else default or most

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        reference = handler(core_schema)
        properties = handler.resolve_ref_schema(reference)["properties"]
        about = f"Items of a page: {sizes_text(cls.most_items, cls.default_items)}"
        for name, other in (("maxItems", "pageSize"), ("pageSize", "maxItems")):
            properties[name]["description"] = f"{about}. If `{other}` is smaller, it counts"
        if cls.refuses_larger:
            size = properties["pageSize"]
            size["anyOf"][0]["maximum"] = cls.most_items
            size["description"] = size["description"].replace(
                f"larger values count as {cls.most_items}", "larger values are refused"
            )
        return reference


def sizes_text(most: int, default: int | None = None) -> str:
    """Return the sizes of pages in words, for the descriptions of parameters."""
    usual = "" if default is None else f"{default} by default, "
    return f"{usual}at most {most}; larger values count as {most}"
