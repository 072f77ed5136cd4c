"""Changes of a version's own row: its comment, its alias, whether it is archived."""

from datetime import datetime
from typing import Any

from backend.core.clock import Clock
from backend.core.errors import StateForbidsError
from backend.core.identity import Identity
from backend.core.transactions import Write
from backend.core.wired import wired
from backend.domains.asset_versions import rules
from backend.domains.asset_versions.models import UpdateVersionBody
from backend.domains.asset_versions.repository import VersionRepository, VersionRevisionError
from backend.domains.assets.models import Asset, AssetVersion
from backend.domains.assets.service import AssetRevisionError, AssetService
from backend.domains.audit.models import asset_entity
from backend.domains.audit.service import AuditService
from backend.spec import routes

_ATTEMPTS = 8  # of a change that others' edits of the same version or asset overtake


class VersionArchivedError(StateForbidsError):
    """The asset version is archived."""

    code = "AssetVersionIsArchived"

    def __init__(self, asset_version_id: str) -> None:
        super().__init__(f"Version {asset_version_id} is already archived")


class VersionActiveError(StateForbidsError):
    """The asset version is not archived."""

    code = "AssetVersionIsActive"

    def __init__(self, asset_version_id: str) -> None:
        super().__init__(f"Version {asset_version_id} is not archived")


@wired
class VersionEditing:
    repository: VersionRepository
    assets: AssetService
    audit: AuditService
    clock: Clock

    def update_version(
        self,
        caller: Identity,
        asset_id: tuple[str, str],
        asset_version_id: str,
        body: UpdateVersionBody,
    ) -> AssetVersion:
        """Change the comment, or the alias, of a version of an asset (database id, asset id).

        Raises:
            AliasTakenError: another version of the asset has the alias.
            AssetNotFoundError: the asset does not exist, or not for the caller.
            PermissionDeniedError: the caller may see the asset, and not change it.
            AssetVersionNotFoundError: the asset has no such version.
            VersionRevisionError: others change it all the time.
        """
        wanted = body.model_dump(by_alias=True, exclude_none=True)
        for _ in range(_ATTEMPTS):
            asset = self.assets.asset_for(caller, "PUT", *asset_id)
            version = self.repository.get(asset, asset_version_id)
            if rules.is_newest(asset_version_id, asset):  # committed since the asset was read
                continue
            old = version.model_dump(by_alias=True)
            changes = {name: value for name, value in wanted.items() if value != old[name]}
            if not changes:
                return version
            changed = AssetVersion.model_validate({**old, **changes})
            try:
                self.repository.commit(self._writes(caller, asset, version, changed, changes))
            except (AssetRevisionError, VersionRevisionError):
                continue
            return changed
        raise VersionRevisionError(asset_version_id)

    def flags(self, asset: Asset, asset_version_id: str, *, is_archived: bool) -> list[Write]:
        """The writes that archive a version, or bring it back, for a transaction of any slice.

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
            asset_entity(asset.database_id, asset.asset_id),
            before={f"version.{number}.{name}": before[name] for name in changes},
            after={f"version.{number}.{name}": value for name, value in changes.items()},
            at=now,
        )
        return [*writes, entry]
