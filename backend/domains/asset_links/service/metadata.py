"""Metadata of links, with permission checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest
from backend.core.transactions import Write
from backend.domains.asset_links.models import AssetLink
from backend.domains.asset_links.repository import guard_of
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.metadata.models import Edit, LinkEntity, NewRecord, UpdateType
from backend.domains.metadata.service.records import BulkResult, RecordService, ShownRecord
from backend.spec.routes import Action


@dataclass(eq=False, repr=False)
class LinkMetadataService:
    """Checks permissions at both ends; `records` does the rest.

    Every transaction requires that the link exists, so no record outlives it. All may raise
    LinkNotFoundError and PermissionDeniedError.
    """

    links: AssetLinkService
    records: RecordService

    def now(self) -> datetime:
        return self.records.clock()

    def list_metadata(
        self, caller: Identity, asset_link_id: str, page: PageRequest
    ) -> tuple[LinkEntity, Page[ShownRecord]]:
        """List the records of a link by key, then schema fields without a record."""
        entity = entity_of(self.links.get_link(caller, asset_link_id))
        return entity, self.records.list_records(entity, page)

    def add_metadata(
        self, caller: Identity, asset_link_id: str, records: Sequence[NewRecord]
    ) -> BulkResult:
        """Add records; existing keys fail individually. Raises as `add_records`."""
        entity, guards = self._for(caller, asset_link_id, "POST")
        return self.records.add_records(caller, entity, records, guards=guards)

    def change_metadata(
        self,
        caller: Identity,
        asset_link_id: str,
        records: Sequence[NewRecord],
        *,
        update_type: UpdateType = "update",
    ) -> BulkResult:
        """Write records; `replace_all` removes all others, and requires to add and delete.

        Raises as `change_records`.
        """
        entity, guards = self._for(caller, asset_link_id, "PUT")
        if update_type == "replace_all":
            for action in ("POST", "DELETE"):
                self.links.link_for(caller, action, asset_link_id)
        return self.records.change_records(
            caller, entity, records, update_type=update_type, guards=guards
        )

    def remove_metadata(
        self, caller: Identity, asset_link_id: str, keys: Sequence[str]
    ) -> BulkResult:
        """Remove records; missing keys fail individually. Raises as `remove_records`."""
        entity, guards = self._for(caller, asset_link_id, "DELETE")
        return self.records.remove_records(caller, entity, keys, guards=guards)

    def edit_metadata(self, caller: Identity, asset_link_id: str, edit: Edit) -> None:
        """Write and remove records together, if their values are the expected ones.

        Raises as `edit_records`.
        """
        if edit.removals:
            self.links.link_for(caller, "DELETE", asset_link_id)
        action: Action = "PUT" if edit.records else "DELETE"
        entity, guards = self._for(caller, asset_link_id, action)
        self.records.edit_records(caller, entity, edit, guards=guards)

    def _for(
        self, caller: Identity, asset_link_id: str, action: Action
    ) -> tuple[LinkEntity, list[Write]]:
        link = self.links.link_for(caller, action, asset_link_id)
        return entity_of(link), [guard_of(asset_link_id)]


def entity_of(link: AssetLink) -> LinkEntity:
    """Return the link as an entity with metadata."""
    databases = (link.from_asset_database_id, link.to_asset_database_id)
    return LinkEntity(link.asset_link_id, databases)
