"""Wires comments."""

from backend.domains.comments.repository import CommentRepository
from backend.domains.comments.service import CommentService
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context


def comments(context: Context) -> CommentService:
    return CommentService(
        comments=CommentRepository(context.tables),
        assets=assets(context),
        audit=context.audit,
        clock=context.clock,
    )
