"""The tables of versions and of their snapshots, by access pattern.

The rows of a snapshot are stored under the number of its version, or under an id of the snapshot if
an earlier release created it. The index on the asset finds the rows of a deleted asset.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from backend.core.paging import Page, PageRequest, Position
from backend.core.references import AssetRef
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Delete,
    Item,
    Put,
    Update,
    Write,
    absent,
    equals,
    exists,
    put_new,
)
from backend.domains.asset_versions.errors import (
    AliasTakenError,
    TurnTakenError,
    VersionRevisionError,
)
from backend.domains.asset_versions.models import HeldFile, HeldRecord, Kind, NamedFile
from backend.domains.assets.errors import AssetVersionNotFoundError
from backend.domains.assets.models import (
    AFTER_NUMBERS,
    ALIAS_MARK,
    FIRST_NUMBER,
    Asset,
    AssetVersion,
)
from backend.spec import keys
from backend.spec.tables.assets import (
    ASSET_FILE_METADATA_VERSIONS,
    ASSET_FILE_VERSIONS,
    ASSET_VERSION_ID,
    ASSET_VERSIONS,
    FILE_KEY,
)
from backend.spec.tables.metadata import (
    ASSET_FILE_METADATA,
    ATTRIBUTES_BY_ASSET,
    FILE_ATTRIBUTES,
    FILE_METADATA_BY_ASSET,
)
from backend.spec.tables.model import Table
from backend.spec.tables.operations import RESERVATIONS

Owner = Asset | AssetRef
# 40 batch requests of 25 deletions.
ROWS = 1000
_NAMED = "named"
_NUMBER, _EXPIRES_AT, _LAST_JOB = "number", "expiresAt", "lastJob"
_files_of = TypeAdapter(list[NamedFile], config=ConfigDict(defer_build=True))
_LIVE = {
    "metadata": (ASSET_FILE_METADATA, FILE_METADATA_BY_ASSET, "metadataKey", "metadataValue"),
    "attribute": (FILE_ATTRIBUTES, ATTRIBUTES_BY_ASSET, "attributeKey", "attributeValue"),
}


@dataclass(eq=False, repr=False)
class VersionRepository:
    tables: Tables

    def commit(self, writes: Sequence[Write]) -> None:
        """Carry out writes of several services, all or nothing."""
        self.tables.transact(writes)

    def start(self, asset: Asset, job: Write, job_id: str, after: str | None) -> None:
        """Create a job, as the one after the job that was started last for the asset.

        Raises:
            TurnTakenError: another job was started since that was read.
        """
        is_last = absent(_LAST_JOB) if after is None else equals(_LAST_JOB, after)
        turn = Update(
            table=RESERVATIONS,
            key=_counter(asset),
            set={_LAST_JOB: job_id},
            conditions=(is_last,),
            refused=TurnTakenError(asset.asset_id),
        )
        self.tables.transact([job, turn])

    def last_job(self, asset: Asset) -> str | None:
        """Return the job of a version that was started last for the asset."""
        for _, item in self.tables.get_many([(RESERVATIONS, _counter(asset))]):
            return item.get(_LAST_JOB)
        return None

    def get(self, asset: Asset, asset_version_id: str) -> AssetVersion:
        """Return one version.

        Raises:
            AssetVersionNotFoundError: the asset has no version with that id.
        """
        item = self.tables.get(ASSET_VERSIONS, _key(asset, asset_version_id))
        if item is None:
            raise AssetVersionNotFoundError(asset.asset_id, asset_version_id)
        return AssetVersion.model_validate(item)

    def list_from(self, asset: Asset, newest: int, limit: int) -> list[AssetVersion]:
        """Return versions whose numbers are among the `limit` from `newest` downwards."""
        if newest < limit and newest == int(asset.current_version.version):
            query = Query(
                table=ASSET_VERSIONS,
                partition=_asset_key(asset),
                # Rows of aliases are in the same partition.
                sort_between=(FIRST_NUMBER, AFTER_NUMBERS),
                consistent=True,
            )
            items = self.tables.query_all(query)
        else:
            # Gaps are numbers of abandoned creations: they have no row (decision 20).
            # Read by their keys: the numbers are texts there, which a query would not return in
            # numeric order.
            numbers = range(newest, max(-1, newest - limit), -1)
            wanted = [(ASSET_VERSIONS, _key(asset, str(number))) for number in numbers]
            items = [item for _, item in self.tables.get_many(wanted)]
        versions = [AssetVersion.model_validate(item) for item in items]
        # A version that was committed since is not on this list.
        versions = [version for version in versions if int(version.asset_version_id) <= newest]
        return sorted(versions, key=lambda version: int(version.asset_version_id), reverse=True)

    def is_alias_taken(self, asset: Asset, alias: str) -> bool:
        return self.tables.get(ASSET_VERSIONS, _key(asset, ALIAS_MARK + alias)) is not None

    def draw_number(self, asset: Asset) -> str:
        """Draw the number of a new version, which no other call ever returns.

        The counter starts after the existing versions. It is stored neither in the asset's row,
        which streams to the search index, nor in the versions' partition, which is deleted with the
        asset: a job of the deleted asset may still have a number when the id is used again.
        """
        key = _counter(asset)
        initial = int(asset.current_version.version)
        item = self.tables.increment(RESERVATIONS, key, _NUMBER, initial=initial)
        if _EXPIRES_AT in item:  # set when an asset of the same id was deleted
            self.tables.write(Update(table=RESERVATIONS, key=key, remove=(_EXPIRES_AT,)))
        return str(int(item[_NUMBER]))

    def new_version_writes(self, asset: Asset, version: AssetVersion) -> list[Write]:
        """Return the writes of a new version; the previous current version is no longer current."""
        item = version.model_dump(by_alias=True, exclude_none=True)
        row = _key(asset, version.asset_version_id) | item
        refused = VersionRevisionError(version.asset_version_id)
        writes: list[Write] = [put_new(ASSET_VERSIONS, row, refused)]
        if version.is_current_version:
            before = Update(
                table=ASSET_VERSIONS,
                key=_key(asset, asset.current_version.version),
                set={"isCurrentVersion": False},
                # Not its revision: a simultaneous edit of its comment may pass.
                conditions=(exists(ASSET_VERSION_ID.name),),
                refused=refused,
            )
            writes.append(before)
        if version.version_alias:
            writes.append(self._reserves(asset, version.asset_version_id, version.version_alias))
        return writes

    def changes(
        self, asset: Asset, version: AssetVersion, changes: Mapping[str, Any]
    ) -> list[Write]:
        """Return the writes for a change of a version and its alias, refused if it was changed."""
        refused = VersionRevisionError(version.asset_version_id)
        writes: list[Write] = [
            Update(
                table=ASSET_VERSIONS,
                key=_key(asset, version.asset_version_id),
                set={**changes, "revision": version.revision + 1},
                conditions=(equals("revision", version.revision),),
                refused=refused,
            )
        ]
        alias = changes.get("versionAlias", version.version_alias)
        if alias != version.version_alias:
            if version.version_alias:
                writes.append(
                    Delete(
                        table=ASSET_VERSIONS,
                        key=_key(asset, ALIAS_MARK + version.version_alias),
                        conditions=(equals("version", version.asset_version_id),),
                        refused=refused,
                    )
                )
            if alias:
                writes.append(self._reserves(asset, version.asset_version_id, alias))
        return writes

    def put_files(self, asset: Asset, number: str, files: Sequence[HeldFile]) -> None:
        """Put rows of files; existing ones are overwritten."""
        place = _place(asset, number)
        self.tables.put_many(
            ASSET_FILE_VERSIONS,
            [
                place
                | {
                    FILE_KEY.name: file.path,
                    "versionId": file.version_id,
                    "size": file.size,
                    "lastModified": file.last_modified,
                    "etag": file.etag,
                }
                for file in files
            ],
        )

    def put_records(self, asset: Asset, number: str, records: Sequence[HeldRecord]) -> None:
        place = _place(asset, number)
        items = [
            place
            | {
                keys.SNAPSHOT.name: sort_key_of(record),
                "metadataKey": record.key,
                "metadataValue": record.value,
                "metadataValueType": record.value_type,
            }
            for record in records
        ]
        self.tables.put_many(ASSET_FILE_METADATA_VERSIONS, items)

    def put_named(
        self, asset: Asset, request_id: str, pages: Sequence[Sequence[NamedFile]]
    ) -> None:
        """Store the files that a request names, for the job."""
        place = _place(asset, _pages_of(request_id))
        items = [
            {
                **place,
                FILE_KEY.name: _page(number),
                _NAMED: _files_of.dump_json(  # as text, because ten thousand maps take seconds
                    list(page), by_alias=True, exclude_defaults=True
                ).decode(),
            }
            for number, page in enumerate(pages)
        ]
        self.tables.put_many(ASSET_FILE_VERSIONS, items)

    def named_files(self, asset: Asset, request_id: str, page: int) -> list[NamedFile]:
        """Return one page of the files that a request names."""
        partition = _partition(asset, _pages_of(request_id))
        key = {keys.ASSET_VERSION.name: partition, FILE_KEY.name: _page(page)}
        item = self.tables.get(ASSET_FILE_VERSIONS, key)
        return [] if item is None else _files_of.validate_json(item[_NAMED])

    def files(
        self, asset: Asset, snapshot: str, page: PageRequest, *, after: str | None = None
    ) -> Page[HeldFile]:
        """Return files of a snapshot by path, after the path `after`."""
        partition = _partition(asset, snapshot)
        query = Query(table=ASSET_FILE_VERSIONS, partition=partition, consistent=True)
        return self.tables.query(query, _after(query.table, partition, page, after)).map(_file)

    def records(
        self, asset: Asset, snapshot: str, page: PageRequest, *, after: str | None = None
    ) -> Page[HeldRecord]:
        """Return records of a snapshot by kind, path and key, after the sort key `after`."""
        partition = _partition(asset, snapshot)
        query = Query(table=ASSET_FILE_METADATA_VERSIONS, partition=partition, consistent=True)
        return self.tables.query(query, _after(query.table, partition, page, after)).map(_record)

    def records_of(self, asset: Asset, snapshot: str, kind: Kind, path: str) -> list[HeldRecord]:
        """Return all records of a kind in a snapshot for one file, or for the asset itself."""
        query = Query(
            table=ASSET_FILE_METADATA_VERSIONS,
            partition=_partition(asset, snapshot),
            sort_prefix=keys.SNAPSHOT.prefix(kind, path),
            consistent=True,
        )
        return [_record(item) for item in self.tables.query_all(query)]

    def held_paths(self, asset: Asset, snapshot: str, paths: Iterable[str]) -> set[str]:
        """Return those of the paths for which a snapshot has a file."""
        partition = _partition(asset, snapshot)
        names = ASSET_FILE_VERSIONS.key_names
        wanted = [
            (ASSET_FILE_VERSIONS, dict(zip(names, (partition, p), strict=True))) for p in paths
        ]
        return {str(item[FILE_KEY.name]) for _, item in self.tables.get_many(wanted)}

    def count_files(self, asset: Asset, snapshot: str, page: PageRequest) -> Page[str]:
        """Count the files of a snapshot, without reading the rows' attributes."""
        query = Query(
            table=ASSET_FILE_VERSIONS,
            partition=_partition(asset, snapshot),
            consistent=True,
            attributes=(FILE_KEY.name,),
        )
        return self.tables.query(query, page).map(lambda item: str(item[FILE_KEY.name]))

    def live_records(self, asset: Asset, kind: Kind, page: PageRequest) -> Page[HeldRecord]:
        """Return the current metadata, or attributes, of an asset and its files, from the index."""
        table, index, key, value = _LIVE[kind]
        query = Query(table=table, partition=_asset_key(asset), index=index)
        return self.tables.query(query, page).map(lambda item: _live(kind, item, key, value))

    def delete_rows(self, asset: Owner, number: str) -> None:
        """Remove all rows under a number that no version uses."""
        for table in (ASSET_FILE_VERSIONS, ASSET_FILE_METADATA_VERSIONS):
            self._delete_rows(table, _partition(asset, number))

    def delete_named_rows(self, asset: Owner, request_id: str) -> None:
        """Remove the list of the files that a request named."""
        self._delete_rows(ASSET_FILE_VERSIONS, _partition(asset, _pages_of(request_id)))

    def _delete_rows(self, table: Table, partition: str) -> None:
        query = Query(table=table, partition=partition, consistent=True, attributes=table.key_names)
        while rows := self.tables.query(query, PageRequest(ROWS)).items:
            self.tables.delete_many(table, [dict(item) for item in rows])

    def _reserves(self, asset: Asset, asset_version_id: str, alias: str) -> Put:
        item = {**_key(asset, ALIAS_MARK + alias), "version": asset_version_id}
        return put_new(ASSET_VERSIONS, item, AliasTakenError(alias))


def _counter(asset: Asset) -> Item:
    numbers = keys.version_numbers(asset.database_id, asset.asset_id)
    return {RESERVATIONS.partition_key.name: numbers}


def sort_key_of(record: HeldRecord) -> str:
    """Return the sort key of a record in a snapshot."""
    return keys.SNAPSHOT.build(record.kind, record.path, record.key)


def _asset_key(asset: Asset) -> str:
    return keys.ASSET.build(asset.database_id, asset.asset_id)


def _key(asset: Asset, asset_version_id: str) -> dict[str, str]:
    return {keys.ASSET.name: _asset_key(asset), ASSET_VERSION_ID.name: asset_version_id}


def _partition(asset: Owner, snapshot: str) -> str:
    return keys.ASSET_VERSION.build(asset.database_id, asset.asset_id, snapshot)


def _place(asset: Asset, snapshot: str) -> Item:
    """Return the attributes that all rows of a snapshot share."""
    return {
        keys.ASSET_VERSION.name: _partition(asset, snapshot),
        keys.ASSET.name: _asset_key(asset),
    }


def _pages_of(request_id: str) -> str:
    return f"{request_id}.{_NAMED}"


def _page(number: int) -> str:
    return f"{number:06}"


def _after(table: Table, partition: str, page: PageRequest, after: str | None) -> PageRequest:
    if after is None:
        return page
    position: Position = dict(zip(table.key_names, (partition, after), strict=True))
    return PageRequest(page.limit, position)


def _file(item: Mapping[str, Any]) -> HeldFile:
    return HeldFile(
        path=item[FILE_KEY.name],
        version_id=item["versionId"],
        size=item.get("size", 0),
        last_modified=item.get("lastModified", ""),
        etag=item.get("etag", ""),
    )


def _record(item: Mapping[str, Any]) -> HeldRecord:
    kind, path, key = keys.SNAPSHOT.parse(item[keys.SNAPSHOT.name])
    return HeldRecord(
        kind="attribute" if kind == "attribute" else "metadata",
        path=path,
        key=key,
        value=item.get("metadataValue", ""),
        value_type=item.get("metadataValueType", "string"),
    )


def _live(kind: Kind, item: Mapping[str, Any], key: str, value: str) -> HeldRecord:
    _, _, path = keys.FILE.parse(item[keys.FILE.name])
    return HeldRecord(
        kind=kind,
        path=path,
        key=item[key],
        value=item.get(value, ""),
        value_type=item.get(f"{value}Type", "string"),
    )
