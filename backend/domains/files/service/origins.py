"""The origins of versions of files, as far as a caller may know them.

Versions older than the table of origins have none. The audit log does not replace it: its entries
of an asset name the paths of an upload and not the versions, and markers of other programs not at
all. Only the object metadata of a version names its upload, so a page of a list would need a HEAD
for each file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.core.authorization import Secured
from backend.core.delete_markers import newest
from backend.core.identity import Identity
from backend.core.objects import Objects, VersionRef
from backend.core.references import AssetRef
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.files.models import FileItem, FileOrigin, FileReply, VersionOrigin
from backend.domains.files.repository import FileRepository
from backend.domains.files.rules import marker_of
from backend.domains.files.service.rows import FileTarget

_COPIED = VersionOrigin.model_fields.keys() - FileOrigin.model_fields.keys()
_EXECUTION = FileOrigin.model_fields.keys() - {"change_source", "change_user_id"}


@dataclass(eq=False, repr=False)
class FileOrigins:
    rows: FileRepository
    assets: AssetService
    objects: Objects

    def of_items(
        self, caller: Identity, asset: Asset, items: Sequence[FileItem]
    ) -> tuple[FileItem, ...]:
        """Return rows of a listing with their origins; folders have none."""
        bucket, prefix = self.assets.location(asset)
        archived = sorted(item.key for item in items if item.is_archived and not item.is_folder)
        hidden = {
            below.key: below.version_id
            for _, below in newest(self.objects, bucket, prefix, archived)
            if below is not None
        }
        versions = {
            item.key: marker_of(item.relative_path, hidden[item.key])
            if item.key in hidden
            else VersionRef(item.relative_path, item.version_id)
            for item in items
            if not item.is_folder and item.version_id is not None
        }
        # A change just made may be missing here; the description of a file has it.
        origins = self.rows.origins(asset.ref, versions.values(), consistent=False)
        origins = self._visible(caller, asset, origins)

        def with_origin(item: FileItem) -> FileItem:
            origin = origins.get(versions.get(item.key, VersionRef("", "")))
            if origin is None:
                return item
            return item.model_copy(update=origin.model_dump(include={*FileOrigin.model_fields}))

        return tuple(map(with_origin, items))

    def of_file(self, caller: Identity, target: FileTarget, reply: FileReply) -> FileReply:
        """Return the description of a file with its origin, and those of its versions."""
        current = VersionRef(target.path, reply.version_id or "")
        if reply.is_archived:  # it is described by the version that its marker hides
            current = marker_of(*current)
        versions = reply.versions or []
        below = [*(version.version_id for version in versions), ""][1:]
        refs = [
            marker_of(target.path, hidden)
            if version.is_archived
            else VersionRef(target.path, version.version_id)
            for version, hidden in zip(versions, below, strict=True)
        ]
        origins = self.rows.origins(target.asset.ref, [current, *refs], consistent=True)
        origins = self._visible(caller, target.asset, origins)
        described = [
            version.model_copy(update=origins[ref].model_dump()) if ref in origins else version
            for version, ref in zip(versions, refs, strict=True)
        ]
        update = {} if reply.versions is None else {"versions": described}
        if current in origins:
            update |= origins[current].model_dump(include={*FileOrigin.model_fields})
        return reply.model_copy(update=update)

    def _visible(
        self, caller: Identity, asset: Asset, origins: Mapping[VersionRef, VersionOrigin]
    ) -> dict[VersionRef, VersionOrigin]:
        """Return the origins, without assets and workflows that the caller may not see."""
        sources = {
            AssetRef(origin.change_database_id_from or "", origin.change_asset_id_from)
            for origin in origins.values()
            if origin.change_asset_id_from not in (None, asset.asset_id)
        }
        seen = {None, asset.asset_id, *self.assets.visible(caller, sources)}

        def shown(origin: VersionOrigin) -> VersionOrigin:
            left_out: dict[str, None] = {}
            if origin.change_asset_id_from not in seen:
                left_out |= dict.fromkeys(_COPIED)
            workflow_id = origin.change_workflow_id or ""
            fields = {
                "databaseId": origin.change_workflow_database_id or "",
                "workflowId": workflow_id,
            }
            workflow = Secured("workflow", fields)
            if workflow_id and not self.assets.authorization.may(caller, "GET", workflow):
                left_out |= dict.fromkeys(_EXECUTION)
            return origin.model_copy(update=left_out)

        return {version: shown(origin) for version, origin in origins.items()}
