"""Tags and tag types as stored, and the bodies and replies of their routes."""

from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from backend.core.models import LegacyEnvelope, PageQuery, WireModel, WrongFieldError
from backend.core.names import GLOBAL, DatabaseOrGlobal, ObjectName, Words
from backend.core.quoting import quoted

B = TypeVar("B", "TagBody", "TagTypeBody")
YesNo = Literal["True", "False"]
# Null means omitted, as clients of VAMS expect.
Scope = Annotated[
    DatabaseOrGlobal, BeforeValidator(lambda value: GLOBAL if value is None else value)
]
Operation = Literal["create", "update", "delete"]
TagDescription = Annotated[Words, Field(min_length=1, max_length=256)]

# Tags or tag types in one request. Each takes a transaction.
MAX_LISTED = 100

# Tags of one type. The list of types contains all of them, twice, in a reply of at most 6 MB.
MAX_TAGS_OF_TYPE = 2000


class Scoped(NamedTuple):
    """The name of a tag or tag type, and its scope: a database, or GLOBAL for all of them."""

    database_id: str
    name: str

    @property
    def key(self) -> str:
        # Neither ids nor names contain ":", so no name of GLOBAL is the key of another row.
        return self.name if self.database_id == GLOBAL else ":".join(self)

    def __str__(self) -> str:
        """Return the name as messages contain it."""
        return self.name if self.database_id == GLOBAL else f"{self.name} of {self.database_id}"


class Tag(WireModel):
    """A tag as stored. Its type is of the same scope."""

    tag_name: str
    description: str
    tag_type_name: str
    database_id: str = GLOBAL
    revision: int = 1

    @property
    def scoped(self) -> Scoped:
        return Scoped(self.database_id, self.tag_name)

    @property
    def scoped_type(self) -> Scoped:
        return Scoped(self.database_id, self.tag_type_name)


class TagType(WireModel):
    """A tag type as stored.

    `tag_count` changes in the transactions that write its tags, so it is always exact; other
    programs that write rows of tags (an import of another deployment) must set it.
    """

    tag_type_name: str
    description: str
    required: YesNo = "False"
    database_id: str = GLOBAL
    tag_count: int = 0
    revision: int = 1

    @property
    def scoped(self) -> Scoped:
        return Scoped(self.database_id, self.tag_type_name)

    @property
    def is_required(self) -> bool:
        return self.required == "True"


class TagPath(WireModel):
    tag_id: ObjectName


class TagTypePath(WireModel):
    tag_type_id: ObjectName


class ScopeQuery(WireModel):
    """The scope of what is deleted: a database, or GLOBAL."""

    database_id: Scope = GLOBAL


class ScopedPageQuery(PageQuery):
    """Without `databaseId` and `scope`, a list has all scopes, as with the scope `all`."""

    database_id: DatabaseOrGlobal | None = None
    scope: Literal["global", "all"] = "all"

    def includes(self, item: Tag | TagType) -> bool:
        """Return whether the scope of an item is requested."""
        scopes = {self.database_id or item.database_id}
        if self.scope == "global":
            scopes &= {GLOBAL}
        return item.database_id in scopes


class TagBody(WireModel):
    tag_name: ObjectName
    description: TagDescription
    tag_type_name: ObjectName
    database_id: Scope = GLOBAL

    @property
    def scoped(self) -> Scoped:
        return Scoped(self.database_id, self.tag_name)


class TagTypeBody(WireModel):
    """If `required` is omitted, a new type is not required and an existing one is unchanged."""

    tag_type_name: ObjectName
    description: TagDescription
    required: YesNo | None = None
    database_id: Scope = GLOBAL

    @property
    def scoped(self) -> Scoped:
        return Scoped(self.database_id, self.tag_type_name)


def _one_or_list_schema(*required: str, listed: str, example: dict[str, str]) -> ConfigDict:
    def describe(schema: dict[str, Any]) -> None:
        # Null means omitted, as clients of VAMS expect.
        texts = {name: {"type": "string"} for name in required}
        schema["anyOf"] = [
            {"required": list(required), "properties": {**texts, listed: {"type": "null"}}},
            {"required": [listed], "properties": {listed: {"type": "array", "items": {}}}},
        ]
        schema["examples"] = [example]

    return ConfigDict(json_schema_extra=describe)


class _ListBody(WireModel):
    """`databaseId` is the scope of those in a list that have none."""

    database_id: Scope = GLOBAL

    def in_scope(self, items: list[B]) -> list[B]:
        """Return a list, in which each item has a scope."""
        default = {"database_id": self.database_id}
        return [
            item if "database_id" in item.model_fields_set else item.model_copy(update=default)
            for item in items
        ]


class TagsBody(_ListBody):
    """One tag by its fields, or a list in `tags`, written in this order.

    The request ends at the first invalid tag; the tags before it have been written.
    """

    model_config = _one_or_list_schema(
        "tagName",
        "description",
        "tagTypeName",
        listed="tags",
        example={"tagName": "red", "description": "Mostly red", "tagTypeName": "colour"},
    )

    tag_name: ObjectName | None = None
    description: TagDescription | None = None
    tag_type_name: ObjectName | None = None
    tags: Annotated[list[TagBody], Field(min_length=1, max_length=MAX_LISTED)] | None = None

    @model_validator(mode="after")
    def is_one_or_a_list(self) -> "TagsBody":
        if self.tags is None:
            _require(self, {"tagName", "description", "tagTypeName"}, listed="tags")
        return self

    @property
    def listed(self) -> list[TagBody]:
        """Return the tags, in order."""
        fields = self.model_dump(exclude={"tags"})
        return [TagBody.model_validate(fields)] if self.tags is None else self.in_scope(self.tags)


class TagTypesBody(_ListBody):
    """One tag type by its fields, or a list in `tagTypes`."""

    model_config = _one_or_list_schema(
        "tagTypeName",
        "description",
        listed="tagTypes",
        example={"tagTypeName": "colour", "description": "Main colour"},
    )

    tag_type_name: ObjectName | None = None
    description: TagDescription | None = None
    required: YesNo | None = None
    tag_types: Annotated[list[TagTypeBody], Field(min_length=1, max_length=MAX_LISTED)] | None = (
        None
    )

    @model_validator(mode="after")
    def is_one_or_a_list(self) -> "TagTypesBody":
        if self.tag_types is None:
            _require(self, {"tagTypeName", "description"}, listed="tagTypes")
        return self

    @property
    def listed(self) -> list[TagTypeBody]:
        """Return the tag types, in order."""
        if self.tag_types is not None:
            return self.in_scope(self.tag_types)
        return [TagTypeBody.model_validate(self.model_dump(exclude={"tag_types"}))]


def _require(body: WireModel, names: set[str], *, listed: str) -> None:
    missing = sorted(names - body.model_dump(by_alias=True, exclude_none=True).keys())
    if missing:
        fact = f"is required; the required fields are {', '.join(sorted(names))}"
        raise WrongFieldError(missing[0], f"{fact}. To send a list, use {quoted(listed)}")


class TagReply(WireModel):
    """A tag; the name of a required tag type is followed by ` [R]`."""

    tag_name: str
    description: str
    tag_type_name: str
    required: YesNo
    database_id: str


class TagsReply(LegacyEnvelope):
    items: Annotated[list[TagReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class TagTypeReply(WireModel):
    tag_type_name: str
    description: str
    required: YesNo
    tags: list[str]
    database_id: str


class TagTypesReply(LegacyEnvelope):
    items: Annotated[list[TagTypeReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class _OperationReply(WireModel):
    """`warnings` name databases that have a tag or type of the same name as a new one of GLOBAL."""

    success: bool = True
    message: str
    operation: Operation
    timestamp: str
    warnings: list[str] | None = None


class TagOperationReply(_OperationReply):
    """`job_id` is the job that removes a deleted tag from assets."""

    tag_name: str
    job_id: str | None = None


class TagTypeOperationReply(_OperationReply):
    tag_type_name: str
