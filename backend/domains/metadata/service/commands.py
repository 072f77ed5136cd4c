"""Metadata of databases, assets and files, with permission checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.core.attempts import attempts
from backend.core.authorization import require
from backend.core.clock import iso
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, Objects
from backend.core.paging import Page, PageRequest
from backend.core.transactions import Write
from backend.domains.assets.errors import FileNotFoundInAssetError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.queries import secured
from backend.domains.databases.service import DatabaseService
from backend.domains.databases.service import secured as secured_database
from backend.domains.metadata import rules
from backend.domains.metadata.errors import FilesChangedError
from backend.domains.metadata.models import (
    ASSET_LEVEL,
    AnyEntity,
    DatabaseEntity,
    Edit,
    Entity,
    LinkEntity,
    NewRecord,
    UpdateType,
)
from backend.domains.metadata.models.replies import (
    AnyRecordReply,
    AssetRecordReply,
    BulkReply,
    DatabaseRecordReply,
    FailedItem,
    FileRecordReply,
    LinkRecordReply,
    MetadataReply,
)
from backend.domains.metadata.service.records import BulkResult, RecordService, ShownRecord
from backend.spec.routes import Action

_ATTEMPTS = 8  # of a write before which changes of the asset's files begin


def metadata_reply(
    entity: AnyEntity, page: Page[ShownRecord], next_token: str | None, *, is_restricted: bool
) -> MetadataReply:
    """Return a page of records as routes return it."""
    return MetadataReply(
        metadata=[_record(entity, shown) for shown in page.items],
        restrict_metadata_outside_schemas=is_restricted,
        next_token=next_token,
        message=f"{len(page.items)} records",
    )


def bulk_reply(result: BulkResult, done: str, *, at: datetime) -> BulkReply:
    """Return the result for each key; `done` is its participle: added, written or removed."""
    total = len(result.done) + len(result.failed)
    return BulkReply(
        success=bool(result.done),
        total_items=total,
        success_count=len(result.done),
        failure_count=len(result.failed),
        successful_items=list(result.done),
        failed_items=[FailedItem(key=key, error=error) for key, error in result.failed],
        message=f"{len(result.done)} of {total} records were {done}",
        timestamp=iso(at),
    )


def _record(entity: AnyEntity, shown: ShownRecord) -> AnyRecordReply:
    field, values = shown.field, dict[str, object](shown.record.model_dump())
    values |= {"metadata_schema_field": field is not None, "metadata_stored": shown.is_stored}
    if field is not None:
        values |= {
            "metadata_schema_name": ", ".join(field.schemas),
            "metadata_schema_value_type": field.value_type,
            "metadata_schema_required": field.required,
            "metadata_schema_sequence": field.sequence,
            "metadata_schema_default_value": field.default,
            "metadata_schema_depends_on": list(field.depends_on),
            "metadata_schema_multi_field_conflict": field.has_conflict,
            "metadata_schema_controlled_list_keys": list(field.controlled),
        }
    match entity:
        case DatabaseEntity():
            return DatabaseRecordReply.model_validate({**values, "database_id": entity.database_id})
        case LinkEntity():
            return LinkRecordReply.model_validate({**values, "asset_link_id": entity.asset_link_id})
        case _:
            values |= {"database_id": entity.database_id, "asset_id": entity.asset_id}
            if entity.path == ASSET_LEVEL:
                return AssetRecordReply.model_validate(values)
            return FileRecordReply.model_validate({**values, "file_path": entity.path})


@dataclass(eq=False, repr=False)
class MetadataService:
    """Checks permissions and whether the entity exists; `records` does the rest.

    `require_unchanged` returns the condition, by asset id and path, that the file is not moved,
    replaced or deleted from now on.
    """

    records: RecordService
    assets: AssetService
    databases: DatabaseService
    objects: Objects
    require_unchanged: Callable[[str, str], Write]

    def now(self) -> datetime:
        return self.records.clock()

    def list_metadata(
        self,
        caller: Identity,
        entity: Entity,
        page: PageRequest,
        *,
        asset_version_id: str | None = None,
        asset_version_alias: str | None = None,
    ) -> Page[ShownRecord]:
        """List the records of an entity by key, current ones or those of an asset version.

        Current records are followed by schema fields without a record. A page ends early at a
        megabyte, because replies are limited.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            AssetVersionNotFoundError: it has no such version.
        """
        rules.check_composite_keys(entity.database_id, entity.asset_id, entity.path)
        asset = self.assets.get_asset(caller, entity.database_id, entity.asset_id)
        version = self.assets.wanted_version(asset, asset_version_id, asset_version_alias)
        if version is None:
            return self.records.list_records(entity, page)
        return self.records.list_snapshot(entity, version.snapshot, page)

    def list_database_metadata(
        self, caller: Identity, entity: DatabaseEntity, page: PageRequest
    ) -> Page[ShownRecord]:
        """List the records of a database by key, then schema fields without a record.

        Raises:
            DatabaseNotFoundError: it does not exist, or the caller may not see it.
        """
        self.databases.get_database(caller, entity.database_id)
        return self.records.list_records(entity, page)

    def is_restricted(self, entity: Entity | DatabaseEntity) -> bool:
        """Return whether the database allows only keys that its schemas define."""
        return self.records.is_restricted(entity)

    @attempts(_ATTEMPTS, FilesChangedError)
    def add_metadata(
        self, caller: Identity, entity: Entity | DatabaseEntity, records: Sequence[NewRecord]
    ) -> BulkResult:
        """Add records; existing keys fail individually.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            ChangeBusyError: the file is being moved, copied to this path, or deleted.
            DatabaseNotFoundError: the database does not exist, or the caller may not see it.
            FileNotFoundInAssetError: the asset has no such file.
            PermissionDeniedError: the caller may not add here.

        Also raises what `RecordService.add_records` does.
        """
        guards = self._require(caller, entity, "POST")
        return self.records.add_records(caller, entity, records, guards=guards)

    @attempts(_ATTEMPTS, FilesChangedError)
    def change_metadata(
        self,
        caller: Identity,
        entity: Entity | DatabaseEntity,
        records: Sequence[NewRecord],
        *,
        update_type: UpdateType = "update",
        or_folder: bool = False,
    ) -> BulkResult:
        """Write records whether or not they exist; `replace_all` removes all others.

        With `or_folder`, the path may be that of a folder; routes accept records of files only, and
        those of a folder are read and removed by its path.

        Raises as `add_metadata`; `replace_all` also requires the permissions to add and to delete.
        """
        actions: tuple[Action, ...] = ("PUT",)
        if update_type == "replace_all":
            actions = ("PUT", "POST", "DELETE")
        guards = self._require(caller, entity, *actions, or_folder=or_folder)
        return self.records.change_records(
            caller, entity, records, update_type=update_type, guards=guards
        )

    @attempts(_ATTEMPTS, FilesChangedError)
    def remove_metadata(
        self, caller: Identity, entity: Entity | DatabaseEntity, wanted: Sequence[str]
    ) -> BulkResult:
        """Remove records; missing keys fail individually. The file itself need not exist.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            ChangeBusyError: the file is being moved, copied to this path, or deleted.
            DatabaseNotFoundError: the database does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may not delete here.

        Also raises what `RecordService.remove_records` does.
        """
        guards = self._require_removal(caller, entity)
        return self.records.remove_records(caller, entity, wanted, guards=guards)

    @attempts(_ATTEMPTS, FilesChangedError)
    def edit_metadata(self, caller: Identity, entity: Entity | DatabaseEntity, edit: Edit) -> None:
        """Write and remove records together, if their values are the expected ones.

        Raises as `change_metadata`, `remove_metadata` and `RecordService.edit_records`.
        """
        guards: tuple[Write, ...] = ()
        if edit.removals:
            guards = self._require_removal(caller, entity)
        if edit.records:
            guards = self._require(caller, entity, "PUT")
        self.records.edit_records(caller, entity, edit, guards=guards)

    def _require_removal(
        self, caller: Identity, entity: Entity | DatabaseEntity
    ) -> tuple[Write, ...]:
        if isinstance(entity, DatabaseEntity):
            return self._require(caller, entity, "DELETE")
        self._check_asset(caller, entity, "DELETE")
        return self._guards(entity)

    def _require(
        self,
        caller: Identity,
        entity: Entity | DatabaseEntity,
        *actions: Action,
        or_folder: bool = False,
    ) -> tuple[Write, ...]:
        """Require that the entity exists and the caller may perform all of these actions.

        Return the conditions of the transactions that write its records.
        """
        if isinstance(entity, DatabaseEntity):
            self.databases.get_database(caller, entity.database_id)
            database = secured_database(entity.database_id)
            for action in actions:
                require(self.databases.authorization, caller, action, database)
            return ()
        asset = self._check_asset(caller, entity, *actions)
        guards = self._guards(entity)
        if entity.path == ASSET_LEVEL:
            return guards
        bucket, prefix = self.assets.location(asset)
        key = rules.check_object_key(prefix, entity.path)
        if isinstance(self.objects.head(bucket, key), ObjectHead):
            return guards
        if not or_folder or not self.objects.list_objects(bucket, f"{key}/", limit=1).objects:
            raise FileNotFoundInAssetError(entity.path, entity.asset_id)
        return guards

    def _guards(self, entity: Entity) -> tuple[Write, ...]:
        if entity.path == ASSET_LEVEL:
            return ()
        return (self.require_unchanged(entity.asset_id, entity.path),)

    def _check_asset(self, caller: Identity, entity: Entity, *actions: Action) -> Asset:
        rules.check_composite_keys(entity.database_id, entity.asset_id, entity.path)
        asset = self.assets.get_asset(caller, entity.database_id, entity.asset_id)
        for action in actions:
            require(self.assets.authorization, caller, action, secured(asset))
        return asset
