"""Users' requests that link assets and remove links."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from backend.core.errors import (
    AlreadyExistsError,
    StateForbidsError,
    VitrineError,
)
from backend.domains.asset_links.models import CreateLinkBody, RelationshipType
from backend.domains.asset_links.repository import AssetLinkRepository
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.entrypoints.wiring.assets import assets
from tests.model.machine import ADMIN, Product, numbers, pick
from tests.model.state import ModelAsset

kinds: st.SearchStrategy[RelationshipType] = st.sampled_from(("parentChild", "related"))


class Linking(Product):
    """Links between active assets, while none is being deleted: its links still count then."""

    @precondition(lambda self: len(self.model.active()) > 1 and not self.model.leaving)
    @rule(first=numbers, second=numbers, kind=kinds)
    def link(self, first: int, second: int, kind: RelationshipType) -> None:
        source = self.pick_asset(first)
        others = [asset for asset in self.model.active() if asset is not source]
        target = pick(others, second)
        body = CreateLinkBody(
            from_asset_database_id=source.database_id,
            from_asset_id=source.asset_id,
            to_asset_database_id=target.database_id,
            to_asset_id=target.asset_id,
            relationship_type=kind,
        )
        error = self.refusal_to_link(source, target, kind)
        if error is not None:
            self.expect(error, lambda: self.links.create_link(ADMIN, body))
            return
        made = self.links.create_link(ADMIN, body)
        self.model.links[made.asset_link_id] = (kind, source.asset_id, target.asset_id)

    @precondition(lambda self: self.model.links)
    @rule(number=numbers)
    def unlink(self, number: int) -> None:
        link_id = pick(sorted(self.model.links), number)
        self.links.delete_link(ADMIN, link_id)
        del self.model.links[link_id]

    @property
    def links(self) -> AssetLinkService:
        repository = AssetLinkRepository(self.world.ports.tables)
        service = assets(self.on)
        return AssetLinkService(repository, service, service.audit, self.world.time.clock)

    def refusal_to_link(
        self, source: ModelAsset, target: ModelAsset, kind: RelationshipType
    ) -> type[VitrineError] | None:
        first, second = source.asset_id, target.asset_id
        made = set(self.model.links.values())
        if kind == "related":
            taken = {(kind, first, second), (kind, second, first)} & made
            return AlreadyExistsError if taken else None
        if first in self.model.below(second):
            return StateForbidsError
        return AlreadyExistsError if (kind, first, second) in made else None
