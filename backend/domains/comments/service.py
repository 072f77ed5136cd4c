"""Operations on comments.

They belong to a version of an asset. The table's partition is only the asset's id, which is unique
in a deployment, so the asset determines the database. A caller who may see an asset may see its
comments.
"""

import re
from dataclasses import dataclass

from backend.core.attempts import attempts
from backend.core.clock import Clock, iso
from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest, fill
from backend.domains.assets.models import Asset
from backend.domains.assets.service.queries import AssetQueries
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.comments.errors import (
    CommentNotFoundError,
    CommentOvertakenError,
    NotTheOwnerError,
)
from backend.domains.comments.models import Comment
from backend.domains.comments.repository import CommentRepository, position_of
from backend.spec.keys import COMMENT
from backend.spec.routes import Action

_VERSION_ID = re.compile(r"[0-9]{1,18}")
_ATTEMPTS = 4  # concurrent with another request of the same owner


@dataclass(eq=False, repr=False)
class CommentService:
    comments: CommentRepository
    assets: AssetQueries
    audit: AuditService
    clock: Clock

    def list_comments(
        self,
        caller: Identity,
        asset_id: str,
        page: PageRequest,
        *,
        version_id: str | None = None,
        show_deleted: bool = False,
    ) -> Page[Comment]:
        """List the comments, or the deleted ones, of an asset or of one of its versions.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
        """
        asset = self.assets.asset_by_id(caller, "GET", asset_id)
        return fill(
            lambda request: self.comments.list_comments(
                asset_id, request, version_id=version_id, deleted=show_deleted
            ),
            page,
            visible=lambda comment: _is_of(comment, asset),
            position_of=lambda comment: position_of(comment, deleted=show_deleted),
        )

    def get_comment(self, caller: Identity, asset_id: str, key: str) -> Comment:
        """Return one comment that is not deleted.

        Raises:
            CommentNotFoundError: the comment does not exist.
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
        """
        return self._found(self.assets.asset_by_id(caller, "GET", asset_id), key)

    def create_comment(self, caller: Identity, asset_id: str, key: str, body: str) -> Comment:
        """Comment on a version of an asset; the caller chooses the comment's id.

        A key that begins with a number names a version of the asset. Other beginnings are kept as
        they are: lists find the comment by them.

        Raises:
            AssetVersionNotFoundError: the asset has no such version.
            CommentExistsError: a comment has this id, or had it.
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may not write to the asset.
        """
        asset = self.assets.asset_by_id(caller, "POST", asset_id)
        version_id = COMMENT.parse(key)[0]
        if _VERSION_ID.fullmatch(version_id):
            self.assets.get_version(asset, version_id)
        now = self.clock()
        comment = Comment(
            asset_id=asset_id,
            key=key,
            comment_body=body,
            comment_owner_id=caller.user_id,
            comment_owner_username=caller.user_id,
            date_created=iso(now),
            database_id=asset.database_id,
        )
        entry = self.audit.entry(
            caller, "create_comment", _entity(asset), after=_audit_values(key, body), at=now
        )
        self.comments.put_new(comment, self.assets.require_active(asset), entry)
        return comment

    @attempts(_ATTEMPTS, CommentOvertakenError)
    def update_comment(self, caller: Identity, asset_id: str, key: str, body: str) -> None:
        """Change the text of the caller's own comment.

        Raises:
            CommentNotFoundError: it does not exist, or is deleted.
            CommentOvertakenError: it is changed concurrently at every attempt.
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            NotTheOwnerError: another user wrote it.
            PermissionDeniedError: the caller may not change the asset.
        """
        asset, comment = self._own(caller, "PUT", asset_id, key)
        if comment.comment_body == body:
            return None
        now = self.clock()
        entry = self.audit.entry(
            caller,
            "update_comment",
            _entity(asset),
            before=_audit_values(key, comment.comment_body),
            after=_audit_values(key, body),
            at=now,
        )
        changes = {"commentBody": body, "dateEdited": iso(now)}
        active = self.assets.require_active(asset)
        return self.comments.change(comment, changes, active, entry)

    @attempts(_ATTEMPTS, CommentOvertakenError)
    def delete_comment(self, caller: Identity, asset_id: str, key: str) -> None:
        """Delete the caller's own comment; lists of deleted comments still include it.

        Raises:
            CommentNotFoundError: it does not exist, or is deleted.
            CommentOvertakenError: it is changed concurrently at every attempt.
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            NotTheOwnerError: another user wrote it.
            PermissionDeniedError: the caller may not delete the asset.
        """
        asset, comment = self._own(caller, "DELETE", asset_id, key)
        entry = self.audit.entry(
            caller,
            "delete_comment",
            _entity(asset),
            before=_audit_values(key, comment.comment_body),
        )
        active = self.assets.require_active(asset)
        return self.comments.move_to_deleted(comment, active, entry)

    def _own(
        self, caller: Identity, action: Action, asset_id: str, key: str
    ) -> tuple[Asset, Comment]:
        asset = self.assets.asset_by_id(caller, action, asset_id)
        comment = self._found(asset, key)
        if comment.comment_owner_id != caller.user_id:
            raise NotTheOwnerError(key)
        return asset, comment

    def _found(self, asset: Asset, key: str) -> Comment:
        comment = self.comments.get(asset.asset_id, key)
        if comment is None or not _is_of(comment, asset):
            raise CommentNotFoundError(asset.asset_id, key)
        return comment


def _is_of(comment: Comment, asset: Asset) -> bool:
    """Return whether a comment is about this asset; rows of VAMS name no database."""
    return comment.database_id in {None, asset.database_id}


def _entity(asset: Asset) -> str:
    return audit_entity("asset", asset.database_id, asset.asset_id)


def _audit_values(key: str, body: str) -> dict[str, str]:
    """Return a comment as the audit entry of its asset contains it."""
    return {f"comment {key}": body}
