"""Wires comments."""

from dataclasses import dataclass
from functools import cached_property

from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service import AssetsById
from backend.domains.comments.repository import CommentRepository
from backend.domains.comments.service import CommentService
from backend.entrypoints.wiring import Wiring


@dataclass(eq=False, repr=False)
class CommentWiring(Wiring):
    """Creates the services of comments."""

    @cached_property
    def comments(self) -> CommentService:
        return CommentService(
            comments=CommentRepository(self.tables),
            assets=AssetsById(AssetRepository(self.tables), self.assets),
            audit=self.audit,
            clock=self.clock,
        )
