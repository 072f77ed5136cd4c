"""Comments on versions of assets."""

from collections.abc import Iterator
from uuid import uuid4

from vitrine import api_models as api
from vitrine.api_models import Comment as Comment
from vitrine.models import Message, Wire
from vitrine.resources.resource import Resource
from vitrine.transport import path_of

KEY = "assetVersionId:commentId"


class _CommentReply(Wire):
    message: Comment


class Comments(Resource):
    def list(
        self,
        asset_id: str,
        *,
        version_id: str | None = None,
        show_deleted: bool | None = None,
        page_size: int | None = None,
    ) -> Iterator[Comment]:
        """List the comments, or the deleted ones, of an asset or of one of its versions."""
        of_version = () if version_id is None else ("assetVersionId", version_id)
        return self._transport.pages(
            Comment,
            path_of("comments", "assets", asset_id, *of_version),
            items="message",
            query={"showDeleted": show_deleted},
            page_size=page_size,
        )

    def get(self, asset_id: str, key: str) -> Comment:
        return self._transport.read(_CommentReply, _path(asset_id, key)).message

    def add(
        self, asset_id: str, text: str, *, version_id: str, comment_id: str | None = None
    ) -> str:
        """Comment on a version of an asset; return the comment's key."""
        key = f"{version_id}:{comment_id or f'x{uuid4()}'}"
        self._transport.write(
            Message, "POST", _path(asset_id, key), body=api.CommentBody(comment_body=text)
        )
        return key

    def edit(self, asset_id: str, key: str, text: str) -> Message:
        """Change a comment. Raises PermissionDeniedError if another user wrote it."""
        path = _path(asset_id, key)
        return self._transport.write(Message, "PUT", path, body=api.CommentBody(comment_body=text))

    def delete(self, asset_id: str, key: str) -> Message:
        """Delete a comment. Raises PermissionDeniedError if another user wrote it."""
        return self._transport.write(Message, "DELETE", _path(asset_id, key))


def _path(asset_id: str, key: str) -> str:
    # The colon is not escaped in the path, as the route requires.
    return f"{path_of('comments', 'assets', asset_id)}/{KEY}/{path_of(key)[1:]}"
