"""The table of comments, by access pattern. Deleted ones have the partition `<asset>#deleted`.

`others` are writes of the same transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Check,
    Condition,
    Delete,
    Item,
    Update,
    Write,
    absent,
    equals,
    put_new,
)
from backend.domains.comments.errors import CommentExistsError, CommentOvertakenError
from backend.domains.comments.models import Comment
from backend.spec.keys import COMMENT, archived
from backend.spec.tables.registry import COMMENTS

_PARTITION = COMMENTS.partition_key.name
_BODY, _EDITED = "commentBody", "dateEdited"


@dataclass(eq=False, repr=False)
class CommentRepository:
    tables: Tables

    def get(self, asset_id: str, key: str) -> Comment | None:
        item = self.tables.get(COMMENTS, _key(asset_id, key))
        return None if item is None else Comment.model_validate(item)

    def list_comments(
        self, asset_id: str, page: PageRequest, *, version_id: str | None, deleted: bool
    ) -> Page[Comment]:
        """List comments of an asset, or of one of its versions, the largest key first."""
        query = Query(
            table=COMMENTS,
            partition=archived(asset_id) if deleted else asset_id,
            # The prefix ends with the separator: `1:` does not list the comments of version 10.
            sort_prefix=None if version_id is None else COMMENT.prefix(version_id),
            newest_first=True,
            consistent=True,
        )
        return self.tables.query(query, page).map(Comment.model_validate)

    def put_new(self, comment: Comment, *others: Write) -> None:
        """Write a comment under a key that was never used.

        Raises:
            CommentExistsError: a comment has the key, or had it.
        """
        refused = CommentExistsError(comment.key)
        # The id of a deleted comment is not reused: deleting it again would overwrite the first.
        unused = Check(
            table=COMMENTS,
            key=_key(archived(comment.asset_id), comment.key),
            conditions=(absent(_PARTITION),),
            refused=refused,
        )
        self.tables.transact([put_new(COMMENTS, _row(comment), refused), unused, *others])

    def change(self, comment: Comment, changes: Mapping[str, Any], *others: Write) -> None:
        """Set some attributes.

        Raises:
            CommentOvertakenError: the comment was changed after it was read.
        """
        update = Update(
            table=COMMENTS,
            key=_key(comment.asset_id, comment.key),
            set=changes,
            conditions=_as_read(comment),
            refused=CommentOvertakenError(comment.key),
        )
        self.tables.transact([update, *others])

    def move_to_deleted(self, comment: Comment, *others: Write) -> None:
        """Move a comment to the deleted ones.

        Raises:
            CommentOvertakenError: the comment was changed after it was read.
        """
        refused = CommentOvertakenError(comment.key)
        gone = Delete(
            table=COMMENTS,
            key=_key(comment.asset_id, comment.key),
            conditions=_as_read(comment),
            refused=refused,
        )
        kept = _row(comment) | {_PARTITION: archived(comment.asset_id)}
        self.tables.transact([gone, put_new(COMMENTS, kept, refused), *others])


def position_of(comment: Comment, *, deleted: bool) -> dict[str, str]:
    """Return the position of a comment in its list."""
    return _key(archived(comment.asset_id) if deleted else comment.asset_id, comment.key)


def _as_read(comment: Comment) -> tuple[Condition, ...]:
    edited = comment.date_edited
    return (
        equals(_BODY, comment.comment_body),
        absent(_EDITED) if edited is None else equals(_EDITED, edited),
    )


def _row(comment: Comment) -> Item:
    return comment.model_dump(by_alias=True, exclude_none=True)


def _key(partition: str, key: str) -> dict[str, str]:
    return {_PARTITION: partition, COMMENT.name: key}
