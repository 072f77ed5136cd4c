"""The tables of assets, of their versions and of reservations, by access pattern."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.core.attempts import attempts
from backend.core.errors import (
    ConflictError,
    UnavailableError,
)
from backend.core.paging import Page, PageRequest
from backend.core.references import AssetRef
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Check,
    Condition,
    Delete,
    Item,
    Key,
    Put,
    Update,
    Write,
    absent,
    equals,
    put_new,
)
from backend.domains.assets.errors import (
    AssetIdTakenError,
    AssetNotFoundError,
    AssetRevisionError,
    PrefixTakenError,
)
from backend.domains.assets.models import (
    ALIAS_MARK,
    Asset,
    AssetChange,
    AssetChangeSource,
    AssetVersion,
)
from backend.domains.assets.rules import (
    history_of,
    id_reservation,
    possible_prefixes,
    prefix_reservation,
)
from backend.domains.buckets.models import BucketKey
from backend.spec import keys
from backend.spec.tables.assets import (
    ASSET_HISTORY,
    ASSET_ID,
    ASSET_VERSION_ID,
    ASSET_VERSIONS,
    ASSETS,
    HISTORY_RECORD_ID,
)
from backend.spec.tables.assets import DATABASE_ID as PARTITION
from backend.spec.tables.operations import RESERVATIONS

_RESERVATION = RESERVATIONS.partition_key.name
_OWNER, _WITHIN, _DELETED_BY = "assetId", "within", "deletedBy"
_ATTEMPTS = 12  # of releasing reservations concurrently with others


class _OvertakenError(ConflictError):
    """A reservation was changed after it was read."""


def _busy(_: object, asset: AssetRef, **__: object) -> Exception:
    return UnavailableError(f"Asset {asset.asset_id} is being changed by others; try again")


@dataclass(eq=False, repr=False)
class AssetRepository:
    tables: Tables

    def get(self, database_id: str, asset_id: str, *, in_archive: bool = False) -> Asset | None:
        """Return the asset's row, a consistent read; with `in_archive` also if it is archived."""
        if not in_archive:  # half the time of a batch of one
            item = self.tables.get(ASSETS, _key(database_id, asset_id))
            return None if item is None else Asset.model_validate(item)
        # In one request, because the asset may be moved between two.
        partitions = [database_id, keys.archived(database_id)]
        wanted = [(ASSETS, _key(partition, asset_id)) for partition in partitions]
        items = {item[PARTITION.name]: item for _, item in self.tables.get_many(wanted)}
        for partition in partitions:
            if partition in items:
                return Asset.model_validate(items[partition])
        return None

    def list_in_partition(self, partition: str, page: PageRequest) -> Page[Asset]:
        """List assets of a database's active or archived partition, by id."""
        query = Query(table=ASSETS, partition=partition, consistent=True)
        return self.tables.query(query, page).map(Asset.model_validate)

    def get_version(self, asset: Asset, asset_version_id: str) -> AssetVersion | None:
        """Return the row of one of the asset's versions."""
        item = self.tables.get(ASSET_VERSIONS, version_key(asset, asset_version_id))
        return None if item is None else AssetVersion.model_validate(item)

    def version_with_alias(self, asset: Asset, alias: str) -> AssetVersion | None:
        """Return the version with that alias, which is unique in the asset."""
        reserved = self.tables.get(ASSET_VERSIONS, version_key(asset, ALIAS_MARK + alias))
        return None if reserved is None else self.get_version(asset, str(reserved["version"]))

    def create(
        self,
        asset: Asset,
        version: AssetVersion,
        *,
        ancestors: Sequence[str],
        counted: Write,
        source: AssetChangeSource = "create",
    ) -> None:
        """Put the asset, its first version, history and reservations, all or nothing.

        `ancestors` are the prefixes between the bucket's base and the asset's own; `counted` is the
        write of the database, which is refused first.

        Raises:
            AssetIdTakenError: the id is reserved.
            PrefixTakenError: the prefix, one that contains it or one within it is reserved.
        """
        id_taken = AssetIdTakenError(asset.asset_id)
        prefix, bucket_id = asset.asset_location.key, asset.bucket_id
        taken = PrefixTakenError(prefix)
        writes = [
            counted,
            put_new(RESERVATIONS, _owner_row(id_reservation(asset.asset_id), asset), id_taken),
            put_new(ASSETS, row_of(asset), id_taken),
            put_new(ASSET_VERSIONS, version_row(asset, version), id_taken),
            self.history_write(asset, source, by=asset.created_by, at=asset.created_at),
            put_new(RESERVATIONS, _owner_row(prefix_reservation(bucket_id, prefix), asset), taken),
            *(
                Update(
                    table=RESERVATIONS,
                    key={_RESERVATION: prefix_reservation(bucket_id, folder)},
                    add={_WITHIN: 1},
                    conditions=(absent(_OWNER),),
                    refused=taken,
                )
                for folder in ancestors
            ),
        ]
        self.tables.transact(writes)

    def history_write(
        self,
        asset: Asset,
        source: AssetChangeSource,
        *,
        by: str,
        at: str,
        unarchived_reason: str | None = None,
    ) -> Put:
        """Return the write of a change's row; `asset` has the revision after the change."""
        row = history_of(asset, source, by=by, at=at, unarchived_reason=unarchived_reason)
        item = {**row.model_dump(by_alias=True, exclude_none=True), **history_position(row)}
        return Put(table=ASSET_HISTORY, item=item)

    def edit_write(self, asset: Asset, *, by: str, at: str) -> Put:
        """Return the write of an edit's row; `asset` has the revision before the edit."""
        after = asset.model_copy(update={"revision": asset.revision + 1})
        return self.history_write(after, "edit", by=by, at=at)

    def list_history(self, ref: AssetRef, page: PageRequest) -> Page[AssetChange]:
        """List the changes of all assets that had the id in that database, newest first."""
        query = Query(
            table=ASSET_HISTORY,
            partition=keys.ASSET.build(*ref.ids),
            newest_first=True,
            consistent=True,
        )
        return self.tables.query(query, page).map(AssetChange.model_validate)

    def move_writes(self, asset: Asset, changed: Asset) -> list[Write]:
        """Return the writes that replace a row by one of the other partition.

        They are refused with AssetRevisionError if the row was changed since it was read.
        """
        refused = AssetRevisionError(asset.asset_id)
        return [_remove_row(asset, refused), put_new(ASSETS, row_of(changed), refused)]

    def require_active(self, asset: Asset) -> Check:
        """Require that the row is still that of this asset, and active."""
        return Check(
            table=ASSETS,
            key=_key(asset.database_id, asset.asset_id),
            conditions=(equals("status", "active"), equals("createdAt", asset.created_at)),
            refused=AssetNotFoundError(asset.database_id, asset.asset_id),
        )

    def get_many(self, wanted: Iterable[AssetRef]) -> list[Asset]:
        """Return those of the assets that exist and are active, in no order."""
        keys_of = [(ASSETS, _key(ref.database_id, ref.asset_id)) for ref in wanted]
        rows = self.tables.get_many(keys_of)
        return [Asset.model_validate(item) for _, item in rows]

    def database_of(self, asset_id: str) -> str | None:
        """Return the database in which the id is used."""
        row = self.tables.get(RESERVATIONS, {_RESERVATION: id_reservation(asset_id)})
        return None if row is None else str(row["databaseId"])

    def removal_writes(self, asset: Asset, job_id: str) -> list[Write]:
        """Return the writes that remove a row; a job releases the reservations.

        They are refused with AssetRevisionError if the row was changed since it was read.
        """
        refused = AssetRevisionError(asset.asset_id)
        marked = Update(
            table=RESERVATIONS,
            key={_RESERVATION: id_reservation(asset.asset_id)},
            set={_DELETED_BY: job_id},
            conditions=(equals(_OWNER, asset.asset_id),),
            refused=refused,
        )
        return [_remove_row(asset, refused), marked]

    def is_deleted_by(self, asset_id: str, job_id: str) -> bool:
        """Return whether the id is still reserved for this job, which deletes the remains."""
        row = self.tables.get(RESERVATIONS, {_RESERVATION: id_reservation(asset_id)})
        return row is not None and row.get(_DELETED_BY) == job_id

    @attempts(_ATTEMPTS, _OvertakenError, refusal=_busy)
    def release(
        self,
        reference: AssetRef,
        *,
        bucket_id: str,
        prefix: str,
        ancestors: Sequence[str],
        deleted_by: str | None = None,
    ) -> None:
        """Release the id and the prefix of a deleted asset; no effect if repeated.

        With `deleted_by`, only reservations that `removes` marked are released: afterwards another
        asset may use the same id.

        Raises:
            UnavailableError: assets in the same folders change at every attempt.
        """
        mine = {_RESERVATION: id_reservation(reference.asset_id)}
        folders = [{_RESERVATION: prefix_reservation(bucket_id, folder)} for folder in ancestors]
        items = {
            item[_RESERVATION]: item
            for _, item in self.tables.get_many([(RESERVATIONS, key) for key in (mine, *folders)])
        }
        owner = items.get(mine[_RESERVATION], {})
        claim = (owner.get("databaseId"), owner.get(_DELETED_BY))
        if claim != (reference.database_id, deleted_by):
            return None
        own = (mine, {_RESERVATION: prefix_reservation(bucket_id, prefix)})
        counts = [(key, items.get(key[_RESERVATION], {}).get(_WITHIN, 0)) for key in folders]
        return self.tables.transact(
            [*(_release(key, reference) for key in own), *_uncount_writes(counts)]
        )

    def change(
        self,
        asset: Asset,
        changes: Mapping[str, Any],
        *others: Write,
        counters: Sequence[str] = (),
    ) -> Asset:
        """Set some attributes if the row has the asset's revision; `counters` are incremented.

        `others` are writes of the same transaction.

        Raises:
            AssetRevisionError: the row has another revision, or does not exist.
        """
        update = Update(
            table=ASSETS,
            key=_key(asset.partition, asset.asset_id),
            set=changes,
            add=dict.fromkeys(("revision", *counters), 1),
            conditions=(equals("revision", asset.revision),),
            refused=AssetRevisionError(asset.asset_id),
        )
        self.tables.transact([update, *others])
        now = asset.model_dump(by_alias=True) | dict(changes)
        return Asset.model_validate(now | {name: now[name] + 1 for name in update.add})

    def sets_version(self, asset: Asset, changes: Mapping[str, Any]) -> Update:
        """Return the write of a current version, or AssetRevisionError if the asset was changed."""
        return Update(
            table=ASSETS,
            key=_key(asset.partition, asset.asset_id),
            set=changes,
            add={"revision": 1},
            conditions=(equals("revision", asset.revision),),
            refused=AssetRevisionError(asset.asset_id),
        )

    def touch(
        self, asset: Asset, changes: Mapping[str, Any], *, counters: Iterable[str] = ()
    ) -> Asset:
        """Set some attributes of an active asset, whatever its revision.

        Raises:
            AssetNotFoundError: the asset is archived or does not exist.
        """
        item = self.tables.write(
            Update(
                table=ASSETS,
                key=_key(asset.database_id, asset.asset_id),
                set=changes,
                add=dict.fromkeys(("revision", *counters), 1),
                conditions=(equals("status", "active"),),
                refused=AssetNotFoundError(asset.database_id, asset.asset_id),
            )
        )
        return Asset.model_validate(item)

    def owners(self, objects: Iterable[BucketKey]) -> dict[BucketKey, AssetRef]:
        """Return the asset of each object; objects of no asset are left out."""
        wanted = {
            item: [prefix_reservation(item.bucket_id, p) for p in possible_prefixes(item.key)]
            for item in objects
        }
        unique = {name for names in wanted.values() for name in names}
        owners = {
            item[_RESERVATION]: AssetRef(item["databaseId"], item["assetId"])
            for _, item in self.tables.get_many(
                [(RESERVATIONS, {_RESERVATION: name}) for name in sorted(unique)]
            )
            if _OWNER in item  # others count the assets below
        }
        return {
            place: owners[name]
            for place, names in wanted.items()
            for name in names
            if name in owners
        }


def row_of(asset: Asset) -> Item:
    """Return the item of an asset, in the partition of its status."""
    return asset.model_dump(by_alias=True, exclude_none=True, mode="json") | {
        PARTITION.name: asset.partition
    }


def version_row(asset: Asset, version: AssetVersion) -> Item:
    """Return the item of one version of an asset; the key uses the database's own id."""
    item = version.model_dump(by_alias=True, exclude_none=True)
    return version_key(asset, version.asset_version_id) | item


def version_key(asset: Asset, asset_version_id: str) -> dict[str, str]:
    """Return the key of a version, or of the item that reserves an alias among the versions."""
    return {
        keys.ASSET.name: keys.ASSET.build(asset.database_id, asset.asset_id),
        ASSET_VERSION_ID.name: asset_version_id,
    }


def history_position(change: AssetChange) -> Key:
    """Return the position after a change in the list of its asset's changes."""
    return {
        keys.ASSET.name: keys.ASSET.build(change.database_id, change.asset_id),
        HISTORY_RECORD_ID.name: change.history_record_id,
    }


def _key(partition: str, asset_id: str) -> dict[str, str]:
    return {PARTITION.name: partition, ASSET_ID.name: asset_id}


def _remove_row(asset: Asset, refused: AssetRevisionError) -> Delete:
    return Delete(
        table=ASSETS,
        key=_key(asset.partition, asset.asset_id),
        conditions=(equals("revision", asset.revision),),
        refused=refused,
    )


def _owner_row(reservation: str, asset: Asset) -> Item:
    return {
        _RESERVATION: reservation,
        "databaseId": asset.database_id,
        _OWNER: asset.asset_id,
    }


def _release(key: Key, owner: AssetRef) -> Delete:
    conditions = (equals("databaseId", owner.database_id), equals(_OWNER, owner.asset_id))
    return Delete(
        table=RESERVATIONS, key=key, conditions=conditions, refused=_OvertakenError("changed")
    )


def _uncount_writes(counts: Iterable[tuple[Key, int]]) -> Iterator[Write]:
    """Return writes that count one asset fewer in each folder; an empty one is removed."""
    for key, count in counts:
        refused = _OvertakenError("changed")
        if count == 1:
            last = (equals(_WITHIN, 1),)
            yield Delete(table=RESERVATIONS, key=key, conditions=last, refused=refused)
        else:
            more = (Condition(_WITHIN, ">=", 2),)
            yield Update(
                table=RESERVATIONS, key=key, add={_WITHIN: -1}, conditions=more, refused=refused
            )
