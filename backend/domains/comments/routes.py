"""The routes of comments."""

from backend.core.paging import Page
from backend.domains.comments.models import (
    AssetCommentsPath,
    Comment,
    CommentBody,
    CommentItem,
    CommentPath,
    CommentReply,
    CommentsQuery,
    CommentsReply,
    DoneReply,
    VersionCommentsPath,
)
from backend.domains.comments.service import CommentService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(service: CommentService) -> Router:
    """Bind the routes of comments to the service."""
    router = Router()
    _bind_reads(router, service)
    _bind_writes(router, service)
    return router


def _bind_reads(router: Router, service: CommentService) -> None:
    @router.bind(routes.LIST_COMMENTS)
    def list_comments(call: Call, path: AssetCommentsPath, query: CommentsQuery) -> CommentsReply:
        page = service.list_comments(
            call.caller, path.asset_id, call.page(query), show_deleted=query.show_deleted
        )
        return _page(call, page)

    @router.bind(routes.LIST_VERSION_COMMENTS)
    def list_version_comments(
        call: Call, path: VersionCommentsPath, query: CommentsQuery
    ) -> CommentsReply:
        page = service.list_comments(
            call.caller,
            path.asset_id,
            call.page(query),
            version_id=path.asset_version_id,
            show_deleted=query.show_deleted,
        )
        return _page(call, page)

    @router.bind(routes.GET_COMMENT)
    def get_comment(call: Call, path: CommentPath) -> CommentReply:
        return CommentReply(
            message=_item(service.get_comment(call.caller, path.asset_id, path.key))
        )


def _bind_writes(router: Router, service: CommentService) -> None:
    @router.bind(routes.CREATE_COMMENT)
    def create_comment(call: Call, path: CommentPath, body: CommentBody) -> DoneReply:
        service.create_comment(call.caller, path.asset_id, path.key, body.comment_body)
        return DoneReply(message="Succeeded")

    @router.bind(routes.UPDATE_COMMENT)
    def update_comment(call: Call, path: CommentPath, body: CommentBody) -> DoneReply:
        service.update_comment(call.caller, path.asset_id, path.key, body.comment_body)
        return DoneReply(message="Succeeded")

    @router.bind(routes.DELETE_COMMENT)
    def delete_comment(call: Call, path: CommentPath) -> DoneReply:
        service.delete_comment(call.caller, path.asset_id, path.key)
        return DoneReply(message="Comment deleted")


def _page(call: Call, page: Page[Comment]) -> CommentsReply:
    return CommentsReply(
        message=[_item(comment) for comment in page.items],
        next_token=call.next_token(page.after),
    )


def _item(comment: Comment) -> CommentItem:
    return CommentItem.model_validate(comment.model_dump())
