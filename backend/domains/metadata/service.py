"""What can be done with metadata and attributes."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.core.authorization import require
from backend.core.clock import Clock
from backend.core.errors import InvalidInputError, NotFoundError, StateForbidsError
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, Objects
from backend.core.paging import Page, PageRequest
from backend.core.transactions import Write
from backend.core.wired import wired
from backend.domains.assets.models import Asset
from backend.domains.assets.service import AssetService, secured
from backend.domains.audit.models import asset_entity, file_entity
from backend.domains.databases.service import DatabaseService
from backend.domains.metadata import rules
from backend.domains.metadata.models import (
    ASSET_LEVEL,
    MAX_RECORDS,
    Entity,
    NewRecord,
    Record,
    UpdateType,
)
from backend.domains.metadata.repository import EntryOf, MetadataRepository, Told, item_of
from backend.spec.routes import Action


class FileNotFoundInAssetError(NotFoundError):
    code = "FileNotFound"

    def __init__(self, asset_id: str, path: str) -> None:
        super().__init__(f"Asset {asset_id} has no file {path}")


class TooManyRecordsError(StateForbidsError):
    code = "TooManyRecords"

    def __init__(self, count: int) -> None:
        super().__init__(f"There would be {count} records here, at most {MAX_RECORDS} are taken")


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What became of each key of a request, in its order."""

    done: tuple[str, ...]
    failed: tuple[tuple[str, str], ...] = ()


@wired
class MetadataService:
    """Records of assets and files.

    Lists are read from an index that lags behind writes by moments. So do the limit of records on
    one entity and what `replace_all` removes: a record that was added within that lag may be
    missed. Whether a key is free or taken is decided by conditional writes, never by the index.
    """

    metadata: MetadataRepository
    assets: AssetService
    databases: DatabaseService
    objects: Objects
    clock: Clock

    def list_metadata(
        self,
        caller: Identity,
        entity: Entity,
        page: PageRequest,
        *,
        asset_version_id: str | None = None,
        asset_version_alias: str | None = None,
    ) -> Page[Record]:
        """The records of an entity by key, now or as a version of the asset keeps them.

        A page ends early at a megabyte, for a reply may not have more than a few.

        Raises:
            AssetNotFoundError: the asset does not exist, or not for the caller.
            AssetVersionNotFoundError: it has no such version.
        """
        rules.check_composite_keys(entity.database_id, entity.asset_id, entity.path)
        asset = self.assets.get_asset(caller, entity.database_id, entity.asset_id)
        version = self.assets.wanted_version(asset, asset_version_id, asset_version_alias)
        if version is None:
            return self.metadata.list_of(entity, page)
        return self.metadata.list_snapshot(entity, version.snapshot, page)

    def is_restricted(self, entity: Entity) -> bool:
        """Whether the database takes only keys that its schemas know."""
        database = self.databases.find_database(entity.database_id)
        return database is not None and database.restrict_metadata_outside_schemas

    def add_metadata(
        self, caller: Identity, entity: Entity, records: Sequence[NewRecord]
    ) -> BulkResult:
        """Add records; a key that is there already fails alone.

        Raises:
            AssetNotFoundError: the asset does not exist, or not for the caller.
            FileNotFoundInAssetError: the asset has no such file.
            InvalidInputError: a key comes twice or does not fit, an attribute is not a string.
            PermissionDeniedError: the caller may not add to this asset.
            TooLargeError: a record is over DynamoDB's 400 KB.
            TooManyRecordsError: the entity would have more than 500.
        """
        self._demand_entity(caller, entity, "POST")
        stored = _checked(entity, records)
        self._demand_room(entity, [record.metadata_key for record in stored])
        taken = self.metadata.add(entity, stored, self._entries(caller, "create", entity))
        return _result([r.metadata_key for r in stored], taken, "The key exists already")

    def change_metadata(
        self,
        caller: Identity,
        entity: Entity,
        records: Sequence[NewRecord],
        *,
        update_type: UpdateType = "update",
    ) -> BulkResult:
        """Put records whether or not their keys are there; `replace_all` removes all others.

        Each 99 writes are atomic. Raises as `add_metadata`; `replace_all` needs the rights to
        add and to delete as well.
        """
        asset = self._demand_entity(caller, entity, "PUT")
        stored = _checked(entity, records)
        wanted = [record.metadata_key for record in stored]
        entries = self._entries(caller, "update", entity)
        if update_type == "replace_all":
            for action in ("POST", "DELETE"):
                require(self.assets.authorization, caller, action, secured(asset))
            gone = sorted(self.metadata.keys_of(entity) - set(wanted))
            self.metadata.replace(entity, stored, entries, gone=gone)
        else:
            self._demand_room(entity, wanted)
            self.metadata.replace(entity, stored, entries)
        return BulkResult(tuple(wanted))

    def remove_metadata(
        self, caller: Identity, entity: Entity, wanted: Sequence[str]
    ) -> BulkResult:
        """Remove records; a key that is not there fails alone. The file itself may be gone.

        Raises:
            AssetNotFoundError: the asset does not exist, or not for the caller.
            InvalidInputError: a key comes twice.
            PermissionDeniedError: the caller may not delete from this asset.
        """
        rules.check_composite_keys(entity.database_id, entity.asset_id, entity.path)
        self.assets.asset_for(caller, "DELETE", entity.database_id, entity.asset_id)
        _demand_distinct(wanted, "metadataKeys.{}")
        missing = self.metadata.remove(entity, wanted, self._entries(caller, "delete", entity))
        return _result(wanted, missing, "There is no such key")

    def _entries(self, caller: Identity, verb: str, entity: Entity) -> EntryOf:
        """What makes the audit entries of a request, one for each of its transactions."""
        is_asset = entity.path == ASSET_LEVEL
        place = (entity.database_id, entity.asset_id)
        name = asset_entity(*place) if is_asset else file_entity(*place, entity.path)
        operation = f"{verb}_{'asset' if is_asset else 'file'}_metadata"

        def entry(before: Told, after: Told) -> Write:
            def told(records: Told) -> dict[str, object]:
                return {f"{entity.kind}.{key}": record for key, record in records.items()}

            return self.assets.audit.entry(
                caller, operation, name, before=told(before), after=told(after), at=self.clock()
            )

        return entry

    def _demand_entity(self, caller: Identity, entity: Entity, action: Action) -> Asset:
        rules.check_composite_keys(entity.database_id, entity.asset_id, entity.path)
        asset = self.assets.asset_for(caller, action, entity.database_id, entity.asset_id)
        if entity.path != ASSET_LEVEL:
            bucket, prefix = self.assets.location(asset)
            key = rules.check_object_key(prefix, entity.path)
            if not isinstance(self.objects.head(bucket, key), ObjectHead):
                raise FileNotFoundInAssetError(entity.asset_id, entity.path)
        return asset

    def _demand_room(self, entity: Entity, wanted: Sequence[str]) -> None:
        count = len(self.metadata.keys_of(entity) | set(wanted))
        if count > MAX_RECORDS:
            raise TooManyRecordsError(count)


def _checked(entity: Entity, records: Sequence[NewRecord]) -> list[Record]:
    """The records as they are stored, if the entity may have them."""
    _demand_distinct([record.metadata_key for record in records], "metadata.{}.metadataKey")
    stored: list[Record] = []
    for number, new in enumerate(records):
        field = f"metadata.{number}"
        if entity.kind == "attribute" and new.metadata_value_type != "string":
            raise InvalidInputError.of(
                f"{field}.metadataValueType", "must be 'string' for an attribute"
            )
        rules.check_snapshot_key(
            entity.kind, entity.path, new.metadata_key, field=f"{field}.metadataKey"
        )
        record = Record.model_validate(new.model_dump())
        rules.check_item_size(item_of(entity, record), field=f"{field}.metadataValue")
        stored.append(record)
    return stored


def _demand_distinct(wanted: Sequence[str], field: str) -> None:
    seen: set[str] = set()
    for number, key in enumerate(wanted):
        if key in seen:
            raise InvalidInputError.of(field.format(number), "comes twice in this request")
        seen.add(key)


def _result(wanted: Sequence[str], failed: set[str], error: str) -> BulkResult:
    return BulkResult(
        tuple(key for key in wanted if key not in failed),
        tuple((key, error) for key in wanted if key in failed),
    )
