"""Changes versions: their comment, their alias, and whether they are archived."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.core.attempts import attempts
from backend.core.clock import Clock
from backend.core.identity import Identity
from backend.core.references import AssetRef
from backend.core.transactions import Write
from backend.domains.asset_versions import rules
from backend.domains.asset_versions.errors import (
    VersionActiveError,
    VersionArchivedError,
    VersionRevisionError,
)
from backend.domains.asset_versions.models import UpdateVersionBody
from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.assets.errors import AssetRevisionError
from backend.domains.assets.models import Asset, AssetVersion
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.spec import routes

_ATTEMPTS = 8  # of a change that conflicts with edits of the version or asset


@dataclass(eq=False, repr=False)
class VersionUpdates:
    repository: VersionRepository
    assets: AssetService
    audit: AuditService
    clock: Clock

    @attempts(_ATTEMPTS, AssetRevisionError, VersionRevisionError)
    def update_version(
        self,
        caller: Identity,
        ref: AssetRef,
        asset_version_id: str,
        body: UpdateVersionBody,
    ) -> AssetVersion:
        """Change the comment, or the alias, of a version of an asset (database id, asset id).

        Raises:
            AliasTakenError: another version of the asset has the alias.
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may see the asset, but not change it.
            AssetVersionNotFoundError: the asset has no such version.
            VersionRevisionError: it is changed concurrently at every attempt.
        """
        wanted = body.model_dump(by_alias=True, exclude_none=True)
        asset = self.assets.asset_for(caller, "PUT", *ref.ids)
        version = self.repository.get(asset, asset_version_id)
        if rules.is_newest(asset_version_id, asset):  # committed since the asset was read
            raise VersionRevisionError(asset_version_id)
        old = version.model_dump(by_alias=True)
        changes = {name: value for name, value in wanted.items() if value != old[name]}
        if not changes:
            return version
        changed = AssetVersion.model_validate({**old, **changes})
        self.repository.commit(self._writes(caller, asset, version, changed, changes))
        return changed

    def flags(self, asset: Asset, asset_version_id: str, *, is_archived: bool) -> list[Write]:
        """Return the writes that archive or restore a version, for a transaction of any slice.

        They are refused with VersionRevisionError if it was changed meanwhile.

        Raises:
            VersionActiveError: it is not archived.
            VersionArchivedError: it is archived already.
            AssetVersionNotFoundError: the asset has no such version.
            VersionRevisionError: it has become the current one since the asset was read.
        """
        version = self.repository.get(asset, asset_version_id)
        if rules.is_newest(asset_version_id, asset):
            raise VersionRevisionError(asset_version_id)
        if version.is_archived == is_archived:
            error = VersionArchivedError if is_archived else VersionActiveError
            raise error(asset_version_id)
        return self.repository.changes(asset, version, {"isArchived": is_archived})

    def _writes(
        self,
        caller: Identity,
        asset: Asset,
        version: AssetVersion,
        changed: AssetVersion,
        changes: dict[str, Any],
    ) -> list[Write]:
        now: datetime = self.clock()
        writes = self.repository.changes(asset, version, changes)
        if version.asset_version_id == asset.current_version.version:
            writes.append(self.assets.sets_version(asset, rules.current_of(changed), at=now))
        number = version.asset_version_id
        before = version.model_dump(by_alias=True)
        entry = self.audit.entry(
            caller,
            routes.UPDATE_ASSET_VERSION.name,
            audit_entity("asset", asset.database_id, asset.asset_id),
            before={f"version.{number}.{name}": before[name] for name in changes},
            after={f"version.{number}.{name}": value for name, value in changes.items()},
            at=now,
        )
        return [*writes, entry]
