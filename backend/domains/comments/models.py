"""Comments as stored, and the bodies and replies of their routes."""

from typing import Annotated

from pydantic import AfterValidator, Field, field_validator

from backend.core.models import PageQuery, WireModel
from backend.core.names import AssetId, Form, Words, is_text
from backend.spec.keys import COMMENT, SORT_KEY_BYTES, active

# Maximum length of a comment. The contract has no limit.
MAX_BODY_CHARS = 10_000

# VAMS's web application sends the asset's id while an asset has no version in S3.
VersionId = Annotated[
    str,
    AfterValidator(is_text),
    Form(
        r"[^:#/\x00-\x1f\x7f]{1,255}",
        "must be 1 to 255 characters without ':', '#', '/' and control characters",
    ),
]
"""The asset version that a comment is about."""


def _fits(key: str) -> str:
    if len(key.encode()) > SORT_KEY_BYTES:
        raise ValueError(f"must have at most {SORT_KEY_BYTES} bytes in UTF-8")
    return key


CommentKey = Annotated[
    str,
    Field(alias=COMMENT.name),
    AfterValidator(is_text),
    Form(
        r"[^:#/\x00-\x1f\x7f]{1,255}:[-_a-zA-Z0-9]{3,63}",
        "must be the id of an asset version, a colon, and the id of a comment, such as 3:x1a2b",
    ),
    AfterValidator(_fits),
]
"""The version id, a colon, and the comment's own id, which the client chooses."""


class Comment(WireModel):
    """A comment as stored, in either of the asset's two partitions.

    `database_id` is ours: the row of another database's asset that had this id is not shown.
    """

    asset_id: str
    key: Annotated[str, Field(alias=COMMENT.name)]
    comment_body: str
    comment_owner_id: Annotated[str, Field(alias="commentOwnerID")]
    comment_owner_username: str
    date_created: str
    date_edited: str | None = None
    database_id: str | None = None

    @field_validator("asset_id")
    @classmethod
    def without_suffix(cls, value: str) -> str:
        return active(value)


class AssetCommentsPath(WireModel):
    asset_id: AssetId


class VersionCommentsPath(AssetCommentsPath):
    asset_version_id: VersionId


class CommentPath(AssetCommentsPath):
    key: CommentKey


class CommentsQuery(PageQuery):
    """`showDeleted` lists the deleted comments instead."""

    show_deleted: bool = False


class CommentBody(WireModel):
    comment_body: Annotated[Words, Field(min_length=1, max_length=MAX_BODY_CHARS)]


class CommentItem(WireModel):
    """A comment."""

    asset_id: str
    key: Annotated[str, Field(alias=COMMENT.name)]
    comment_body: str
    comment_owner_id: Annotated[str, Field(alias="commentOwnerID")]
    comment_owner_username: str
    date_created: str
    date_edited: str | None = None


class CommentsReply(WireModel):
    message: list[CommentItem]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class CommentReply(WireModel):
    message: CommentItem


class DoneReply(WireModel):
    message: str
