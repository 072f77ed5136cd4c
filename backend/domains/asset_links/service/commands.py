"""Creates, changes and deletes links."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.core.attempts import attempts
from backend.core.authorization import Secured, require
from backend.core.clock import Clock, iso
from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid
from backend.core.invisible import require_new_names
from backend.core.references import AssetRef
from backend.core.transactions import Write
from backend.domains.asset_links import rules
from backend.domains.asset_links.errors import (
    CycleError,
    LinkNotFoundError,
    LinkOvertakenError,
    LinksBusyError,
    TooWideError,
)
from backend.domains.asset_links.models import AssetLink, CreateLinkBody, UpdateLinkBody
from backend.domains.asset_links.repository import AssetLinkRepository
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.queries import secured
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.spec.routes import Action

_ATTEMPTS = 20  # of a write that conflicts with writes of neighbouring links


@dataclass(eq=False, repr=False)
class AssetLinkService:
    links: AssetLinkRepository
    assets: AssetService
    audit: AuditService
    clock: Clock
    new_id: NewId = new_uuid

    @attempts(_ATTEMPTS, LinkOvertakenError, refusal=lambda *_: LinksBusyError())
    def create_link(self, caller: Identity, body: CreateLinkBody) -> AssetLink:
        """Link two active assets.

        Raises:
            AssetNotFoundError: one of them does not exist, or the caller may not see it.
            CycleError: the child is already above the parent.
            InvalidInputError: an asset is linked to itself, or an alias is not allowed.
            LinkExistsError: they already have such a link.
            LinksBusyError: the graph around them is changed concurrently at every attempt.
            PermissionDeniedError: the caller may see both, but not link them.
            TooManyLinksError: an asset has the maximum number of such links.
            TooWideError: the trees of both are too large to be joined.
        """
        rules.check_request(body)
        require_new_names({"assetLinkAliasId": body.asset_link_alias_id or ""})
        link = self._new(caller, body)
        entry = self._entry(caller, "create_link", after=link)
        for node, edge in rules.edges_of(link):
            asset = self.assets.asset_for(caller, "POST", node.database_id, node.asset_id)
            rules.check_number_of_links(asset, edge.kind)
        walk = self._check_no_cycle(link) if link.relationship_type == "parentChild" else None
        self.links.create(link, walk, entry)
        return link

    def get_link(self, caller: Identity, asset_link_id: str) -> AssetLink:
        """Return the link, for a caller who may see the assets at both ends.

        Raises:
            LinkNotFoundError: it does not exist, or the caller may not see it.
        """
        return self.link_for(caller, "GET", asset_link_id)

    def link_for(self, caller: Identity, action: Action, asset_link_id: str) -> AssetLink:
        """Return the link, for a caller who may perform the action on the assets at both ends.

        An asset may be archived. For a deleted one, the permission on its database is checked.

        Raises:
            LinkNotFoundError: it does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may see it, but not perform the action.
        """
        link = self.links.get(asset_link_id)
        if link is None:
            raise LinkNotFoundError(asset_link_id)
        nodes = (link.source, link.target)
        assets = [self.assets.find_asset(node.database_id, node.asset_id) for node in nodes]
        ends = [
            Secured("asset", {"databaseId": node.database_id}) if asset is None else secured(asset)
            for node, asset in zip(nodes, assets, strict=True)
        ]
        authorization = self.assets.authorization
        if not all(authorization.may(caller, "GET", end) for end in ends):
            raise LinkNotFoundError(asset_link_id)
        if action != "GET":
            for end in ends:
                require(authorization, caller, action, end)
        return link

    @attempts(_ATTEMPTS, LinkOvertakenError, refusal=lambda *_: LinksBusyError())
    def update_link(self, caller: Identity, asset_link_id: str, body: UpdateLinkBody) -> AssetLink:
        """Change alias or tags; type and ends cannot be changed.

        Raises:
            InvalidInputError: an alias is not allowed.
            LinkExistsError: another link from this parent to this child has the alias.
            LinkNotFoundError: it does not exist, or the caller may not see it.
            LinksBusyError: it is changed concurrently at every attempt.
            PermissionDeniedError: the caller may see it, but not change it.
        """
        link = self.link_for(caller, "PUT", asset_link_id)
        rules.check_alias(link.relationship_type, body.asset_link_alias_id)
        changes: dict[str, object] = {}
        if body.asset_link_alias_id is not None:
            changes["asset_link_alias_id"] = body.asset_link_alias_id or None
        if body.tags is not None:
            changes["tags"] = body.tags
        changed = link.model_copy(update=changes)
        if changed == link:
            return link
        if changed.asset_link_alias_id != link.asset_link_alias_id:
            require_new_names({"assetLinkAliasId": changed.asset_link_alias_id or ""})
        now = {"updated_at": iso(self.clock()), "revision": link.revision + 1}
        changed = changed.model_copy(update=now)
        entry = self._entry(caller, "update_link", before=link, after=changed)
        self.links.update(link, changed, entry)
        return changed

    @attempts(_ATTEMPTS, LinkOvertakenError, refusal=lambda *_: LinksBusyError())
    def delete_link(self, caller: Identity, asset_link_id: str) -> AssetLink:
        """Delete a link with its metadata, even if an asset at its ends was deleted.

        Return the link.

        Raises:
            LinkNotFoundError: it does not exist, or the caller may not see it.
            LinksBusyError: it, or its ends, are changed concurrently at every attempt.
            PermissionDeniedError: the caller may see it, but not delete it.
        """
        link = self.link_for(caller, "DELETE", asset_link_id)
        entry = self._entry(caller, "delete_link", before=link)
        self.links.remove(link, entry)
        return link

    def remove_links(self, database_id: str, asset_id: str, *, limit: int) -> int:
        """Remove some links of a deleted asset; return how many were left.

        Permissions are not checked and no audit entries are written: for the deletion of the asset.
        If nothing was left, the asset is removed from the graph too.

        Raises:
            LinksBusyError: a link, or its other end, is changed concurrently at every attempt.
        """
        node = AssetRef(database_id, asset_id)
        edges = self.links.edges(node, limit=limit)
        for edge in edges:
            self._remove(edge.asset_link_id)
        if not edges:
            self.links.remove_head(node)
        return len(edges)

    @attempts(_ATTEMPTS, LinkOvertakenError, refusal=lambda *_: LinksBusyError())
    def _remove(self, asset_link_id: str) -> None:
        link = self.links.get(asset_link_id)
        if link is None:
            return None
        return self.links.remove(link)

    def _check_no_cycle(self, link: AssetLink) -> rules.Walk:
        """Return all above the parent, or below the child, whichever is read first (see `rules`).

        Raises:
            CycleError: one asset is above or below the other.
            TooWideError: both are too large.
        """
        parent, child = link.source, link.target
        walks = [rules.Walk("parent", parent), rules.Walk("child", child)]
        while walks:
            walk = min(walks, key=lambda walk: len(walk.seen))
            self.links.walk(walk)
            if (child if walk.kind == "parent" else parent) in walk.seen:
                raise CycleError(parent, child)
            if walk.is_too_wide:
                walks.remove(walk)
            elif walk.is_complete:
                return walk
        raise TooWideError(parent, child)

    def _entry(
        self,
        caller: Identity,
        operation: str,
        *,
        before: AssetLink | None = None,
        after: AssetLink | None = None,
    ) -> Write:
        links: Sequence[AssetLink] = [link for link in (before, after) if link is not None]
        return self.audit.entry(
            caller,
            operation,
            audit_entity("assetLink", links[0].asset_link_id),
            before=None if before is None else before.model_dump(by_alias=True, exclude_none=True),
            after=None if after is None else after.model_dump(by_alias=True, exclude_none=True),
        )

    def _new(self, caller: Identity, body: CreateLinkBody) -> AssetLink:
        now = iso(self.clock())
        return AssetLink(
            asset_link_id=self.new_id(),
            from_asset_id=body.from_asset_id,
            from_asset_database_id=body.from_asset_database_id,
            to_asset_id=body.to_asset_id,
            to_asset_database_id=body.to_asset_database_id,
            relationship_type=body.relationship_type,
            asset_link_alias_id=body.asset_link_alias_id or None,
            tags=body.tags or [],
            created_at=now,
            created_by=caller.user_id,
            updated_at=now,
        )
