"""Archives and restores versions; the asset of the current one is archived with it.

A version is independent of the archiving of assets, so both are combined here: one transaction
moves the asset and sets the flag of the version.
"""

from dataclasses import dataclass
from typing import Any

from backend.core.attempts import attempts
from backend.core.authorization import require
from backend.core.identity import Identity
from backend.core.references import AssetRef
from backend.domains.asset_lifecycle.errors import AssetArchivedError, ConfirmationMissingError
from backend.domains.asset_lifecycle.service.commands import (
    Composed,
    LifecycleService,
    RelatedChanges,
    Started,
    reason_values,
)
from backend.domains.asset_versions.errors import VersionActiveError, VersionRevisionError
from backend.domains.asset_versions.service.updates import VersionUpdates
from backend.domains.assets.errors import AssetVersionNotFoundError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.queries import secured
from backend.spec import routes
from backend.spec.routes import Route

_ATTEMPTS = 8  # of a change that conflicts with edits of the version


@dataclass(eq=False, repr=False)
class VersionLifecycle:
    lifecycle: LifecycleService
    versions: VersionUpdates

    @attempts(_ATTEMPTS, VersionRevisionError)
    def archive_version(
        self,
        caller: Identity,
        ref: AssetRef,
        asset_version_id: str,
        *,
        confirmed: bool,
        reason: str | None = None,
    ) -> Started | None:
        """Archive a version of an asset (database id, asset id); None if the asset remains active.

        Raises:
            AssetArchivedError: the asset is archived.
            AssetBusyError: it is still being restored.
            AssetNotFoundError: it does not exist, or the caller may not see it.
            ConfirmationMissingError: the version is the current one, and that is not confirmed.
            PermissionDeniedError: the caller may not archive the version, or the asset with it.
            VersionArchivedError: it is archived already.
            AssetVersionNotFoundError: the version does not exist.
        """
        route = routes.ARCHIVE_ASSET_VERSION
        asset = self._asset_for(caller, ref, route)
        if asset.is_archived:
            raise AssetArchivedError(asset.asset_id)
        if not _is_current(asset, asset_version_id):
            left = reason_values("archivedReason", reason)
            return self._set_flag(caller, asset, asset_version_id, (route, left), to=True)
        self.versions.flags(asset, asset_version_id, is_archived=True)
        if not confirmed:
            raise ConfirmationMissingError(asset_version_id)
        composed = self._compose_flags(asset_version_id, route, to=True)
        return self.lifecycle.archive_asset(caller, *ref.ids, reason=reason, composed=composed)

    @attempts(_ATTEMPTS, VersionRevisionError)
    def unarchive_version(
        self,
        caller: Identity,
        ref: AssetRef,
        asset_version_id: str,
        *,
        reason: str | None = None,
    ) -> Started | None:
        """Restore a version, and its asset if that is archived; None if the asset was active.

        Raises:
            AssetArchivedError: the asset is archived, and the version is not its current one.
            AssetBusyError: it is still being archived.
            AssetNotFoundError: it does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may not restore the version, or the asset with it.
            VersionActiveError: the version is not archived.
            AssetVersionNotFoundError: the version does not exist.
        """
        route = routes.UNARCHIVE_ASSET_VERSION
        asset = self._asset_for(caller, ref, route)
        if not asset.is_archived:
            left = reason_values("unarchivedReason", reason)
            return self._set_flag(caller, asset, asset_version_id, (route, left), to=False)
        self.versions.flags(asset, asset_version_id, is_archived=False)
        if not _is_current(asset, asset_version_id):
            raise AssetArchivedError(asset.asset_id)
        composed = self._compose_flags(asset_version_id, route, to=False)
        return self.lifecycle.unarchive_asset(caller, *ref.ids, reason=reason, composed=composed)

    @attempts(_ATTEMPTS, VersionRevisionError)
    def unarchive_asset(
        self,
        caller: Identity,
        ref: AssetRef,
        *,
        reason: str | None = None,
        files: bool = True,
        revision: int | None = None,
    ) -> Started:
        """Restore an archived asset (database id, asset id).

        Its current version is restored too, because an active asset cannot have an archived current
        version. Older versions remain unchanged.

        Raises:
            AssetActiveError: it is not archived.
            AssetBusyError: it is still being archived.
            AssetNotFoundError: it does not exist, or the caller may not see it.
            AssetRevisionError: it has another revision.
            DatabaseDeletedError: its database is deleted.
            PermissionDeniedError: the caller may see it, but not restore it.
        """
        composed = Composed(routes.UNARCHIVE_ASSET, self._with_current)
        return self.lifecycle.unarchive_asset(
            caller,
            *ref.ids,
            reason=reason,
            composed=composed,
            files=files,
            revision=revision,
        )

    def _asset_for(self, caller: Identity, ref: AssetRef, route: Route) -> Asset:
        assets = self.lifecycle.assets
        asset = assets.get_asset(caller, *ref.ids, show_archived=True)
        require(assets.authorization, caller, route.action, secured(asset))
        return asset

    def _compose_flags(self, asset_version_id: str, route: Route, *, to: bool) -> Composed:
        def along(asset: Asset) -> RelatedChanges:
            if not _is_current(asset, asset_version_id):
                raise VersionRevisionError(asset_version_id)
            return self._flag(asset, asset_version_id, to=to)

        return Composed(route, along)

    def _with_current(self, asset: Asset) -> RelatedChanges:
        """Return the changes of the current version when an asset is restored."""
        try:
            return self._flag(asset, asset.current_version.version, to=False)
        except (
            VersionActiveError,
            AssetVersionNotFoundError,
        ):  # it was not archived with the asset
            return RelatedChanges((), {}, {})

    def _flag(self, asset: Asset, asset_version_id: str, *, to: bool) -> RelatedChanges:
        flags = self.versions.flags(asset, asset_version_id, is_archived=to)
        return RelatedChanges(
            flags, _audit_values(asset_version_id, not to), _audit_values(asset_version_id, to)
        )

    def _set_flag(
        self,
        caller: Identity,
        asset: Asset,
        asset_version_id: str,
        audited: tuple[Route, dict[str, Any]],
        *,
        to: bool,
    ) -> None:
        """Set the flag of a version alone; `audited` is the route, and the reason for the entry."""
        route, left = audited
        flag = self._flag(asset, asset_version_id, to=to)
        changes = (flag.before, {**flag.after, **left})
        self.lifecycle.commit(caller, route, asset, changes, flag.writes)


def _is_current(asset: Asset, asset_version_id: str) -> bool:
    return asset.current_version.version == asset_version_id


def _audit_values(asset_version_id: str, is_archived: bool) -> dict[str, Any]:
    return {f"version.{asset_version_id}.isArchived": is_archived}
