"""Tags and tag types as stored, and the bodies and replies of their routes."""

from typing import Annotated, Literal

from pydantic import Field

from backend.core.models import ToldTwice, WireModel
from backend.core.names import ObjectName, Words

YesNo = Literal["True", "False"]
Operation = Literal["create", "update", "delete"]
TagDescription = Annotated[Words, Field(min_length=1, max_length=256)]

MAX_TAGS_OF_TYPE = 2000
"""The list of types names all tags of each type, and is twice in a reply of at most 6 MB."""


class Tag(WireModel):
    """A tag as its row holds it."""

    tag_name: str
    description: str
    tag_type_name: str
    revision: int = 1


class TagType(WireModel):
    """A tag type as its row holds it.

    `tag_count` is kept in the transactions that write its tags, so it is exact at any moment;
    whatever writes rows of tags elsewhere (an import of another deployment) must set it.
    """

    tag_type_name: str
    description: str
    required: YesNo = "False"
    tag_count: int = 0
    revision: int = 1

    @property
    def is_required(self) -> bool:
        return self.required == "True"


class TagPath(WireModel):
    tag_id: ObjectName


class TagTypePath(WireModel):
    tag_type_id: ObjectName


class TagBody(WireModel):
    tag_name: ObjectName
    description: TagDescription
    tag_type_name: ObjectName


class TagTypeBody(WireModel):
    """Without `required`, a new type is not, and an old one stays as it is."""

    tag_type_name: ObjectName
    description: TagDescription
    required: YesNo | None = None


class TagReply(WireModel):
    """A tag; the name of a type that is required is followed by ` [R]`."""

    tag_name: str
    description: str
    tag_type_name: str
    required: YesNo


class TagsReply(ToldTwice):
    items: Annotated[list[TagReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class TagTypeReply(WireModel):
    tag_type_name: str
    description: str
    required: YesNo
    tags: list[str]


class TagTypesReply(ToldTwice):
    items: Annotated[list[TagTypeReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class TagOperationReply(WireModel):
    """`job_id` is the job that takes a deleted tag from the assets that carry it."""

    success: bool = True
    message: str
    tag_name: str
    operation: Operation
    timestamp: str
    job_id: str | None = None


class TagTypeOperationReply(WireModel):
    success: bool = True
    message: str
    tag_type_name: str
    operation: Operation
    timestamp: str
