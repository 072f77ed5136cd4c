"""Rows about files: versions that hold them, their records, and the change in progress."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.objects import VersionRef
from backend.core.paging import Page, PageRequest
from backend.core.references import AssetRef
from backend.core.tables import Query, Tables
from backend.core.transactions import Check, Condition, Put, Update, Write, absent, equals
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.models import AFTER_NUMBERS, FIRST_NUMBER, Asset, AssetVersion
from backend.domains.files.errors import ChangeBusyError, ChangeEndedError, ChangeOvertakenError
from backend.domains.files.models import FileSnapshot, VersionOrigin
from backend.domains.metadata.errors import FilesChangedError
from backend.spec import keys
from backend.spec.tables.assets import (
    ASSET_FILE_METADATA_VERSIONS,
    ASSET_FILE_VERSIONS,
    ASSET_ID,
    ASSET_VERSIONS,
    ASSETS,
    DATABASE_ID,
    FILE_KEY,
    FILE_VERSION_HISTORY,
)
from backend.spec.tables.metadata import RECORD_SETS, RECORDS_OF, RECORDS_OWNER
from backend.spec.tables.operations import RESERVATIONS


class ChangeState(NamedTuple):
    """The number of changes of an asset's files, and the job that is changing them.

    `paths` are the files and folders whose metadata the job writes or deletes.
    """

    number: int
    job_id: str | None
    paths: tuple[str, ...] = ()


@dataclass(eq=False, repr=False)
class FileChangeRepository:
    """Allows one change of an asset's files at a time, by an item that names the job.

    The item remains and counts the changes, so a process that read it, and then the files, can
    verify that they were not changed since.
    """

    tables: Tables

    def state(self, asset_id: str) -> ChangeState:
        item = self.tables.get(RESERVATIONS, _changes_of(asset_id)) or {}
        return ChangeState(int(item.get(_NUMBER, 0)), item.get(_JOB), tuple(item.get(_PATHS, ())))

    def commit(
        self,
        asset: Asset,
        state: ChangeState,
        job_id: str,
        writes: Sequence[Write],
        paths: Sequence[str] = (),
    ) -> None:
        """Start a change on the condition that no other one was started since the state was read.

        No others write metadata of these paths until it ends (see `require_unchanged`).

        Raises:
            AssetNotFoundError: the asset was archived or deleted.
            ChangeOvertakenError: another change was started.
        """
        overtaken = ChangeOvertakenError("another change of files began")
        begun = Update(
            table=RESERVATIONS,
            key=_changes_of(asset.asset_id),
            set={_JOB: job_id, _PATHS: list(paths)},
            add={_NUMBER: 1},
            conditions=(_same_number(state), absent(_JOB)),
            refused=overtaken,
        )
        self.tables.transact([begun, self.require_active(asset), *writes])

    def require_active(self, asset: Asset) -> Check:
        """Return the condition that the asset is neither archived nor deleted."""
        return Check(
            table=ASSETS,
            key={DATABASE_ID.name: asset.database_id, ASSET_ID.name: asset.asset_id},
            conditions=(equals("status", "active"),),
            refused=AssetNotFoundError(asset.database_id, asset.asset_id),
        )

    def check_unfinished(self, job_id: str, asset_id: str) -> None:
        """Require that the job may still change files of the asset.

        Raises:
            ChangeEndedError: its change is complete or was undone.
        """
        if self.state(asset_id).job_id != job_id:
            raise ChangeEndedError(job_id)

    def unfinished_condition(self, job_id: str, asset_id: str) -> Check:
        """Return the condition of `check_unfinished` for a transaction."""
        key, refused = _changes_of(asset_id), ChangeEndedError(job_id)
        return Check(
            table=RESERVATIONS, key=key, conditions=(equals(_JOB, job_id),), refused=refused
        )

    def at_rest(self, asset_id: str) -> Check:
        """Return the condition that no change of the asset's files is in progress."""
        key, refused = _changes_of(asset_id), ChangeBusyError(asset_id, None)
        return Check(table=RESERVATIONS, key=key, conditions=(absent(_JOB),), refused=refused)

    def require_unchanged(self, asset_id: str, path: str) -> Check:
        """Return the condition that no change of the asset's files begins from now on.

        For a write of a file's metadata by others than these changes. Call this before the file is
        looked up: a change that begins and ends between the two would not be noticed.

        Raises:
            ChangeBusyError: the file is being moved, copied to this path, or deleted.
        """
        state = self.state(asset_id)
        # A pipeline may describe a folder: under its path without the last slash.
        if any(
            f"{path}/".startswith(changed) if changed.endswith("/") else path == changed
            for changed in state.paths
        ):
            raise ChangeBusyError(asset_id, state.job_id)
        return Check(
            table=RESERVATIONS,
            key=_changes_of(asset_id),
            conditions=(_same_number(state),),
            refused=FilesChangedError(),
        )

    def release(self, asset_id: str, job_id: str) -> None:
        """Allow other changes of the files; no effect if another change was started."""
        with suppress(ChangeOvertakenError):
            self.tables.write(
                Update(
                    table=RESERVATIONS,
                    key=_changes_of(asset_id),
                    remove=(_JOB, _PATHS),
                    conditions=(equals(_JOB, job_id),),
                    refused=ChangeOvertakenError("the change has ended"),
                )
            )


_NUMBER, _JOB, _PATHS = "changes", "jobId", "paths"


def _same_number(state: ChangeState) -> Condition:
    return equals(_NUMBER, state.number) if state.number else absent(_NUMBER)


def _changes_of(asset_id: str) -> dict[str, str]:
    return {RESERVATIONS.partition_key.name: keys.changes_of_files(asset_id)}


_KINDS = ("metadata", "attribute")


class SnapshotFile(NamedTuple):
    """A file in the snapshot of a version of its asset."""

    snapshot_id: str
    path: str


@dataclass(eq=False, repr=False)
class FileRepository:
    tables: Tables

    def list_versions(self, asset: Asset, *, limit: int) -> list[AssetVersion]:
        """Return versions of the asset, at most `limit`."""
        query = Query(
            table=ASSET_VERSIONS,
            partition=_asset_key(asset),
            sort_between=(FIRST_NUMBER, AFTER_NUMBERS),
            consistent=True,
        )
        rows = self.tables.query(query, PageRequest(limit))
        return [AssetVersion.model_validate(item) for item in rows.items]

    def list_files(
        self, asset: Asset, snapshot_id: str, path_prefix: str, page: PageRequest
    ) -> Page[FileSnapshot]:
        """Return the files of a snapshot whose paths have a prefix, in the order of their paths."""
        query = Query(
            table=ASSET_FILE_VERSIONS,
            partition=_version_key(asset, snapshot_id),
            sort_prefix=path_prefix,
            consistent=True,
        )
        return self.tables.query(query, page).map(FileSnapshot.model_validate)

    def snapshots(
        self, asset: Asset, snapshot_ids: Iterable[str], paths: Sequence[str]
    ) -> dict[SnapshotFile, FileSnapshot]:
        """Return the rows of these files in the snapshots of versions."""
        partitions = {_version_key(asset, snapshot_id): snapshot_id for snapshot_id in snapshot_ids}
        wanted = [
            (ASSET_FILE_VERSIONS, {keys.ASSET_VERSION.name: partition, FILE_KEY.name: path})
            for partition in partitions
            for path in paths
        ]
        snapshots: dict[SnapshotFile, FileSnapshot] = {}
        for _, item in self.tables.get_many(wanted):
            snapshot = FileSnapshot.model_validate(item)
            held = SnapshotFile(partitions[item[keys.ASSET_VERSION.name]], snapshot.file_key)
            snapshots[held] = snapshot
        return snapshots

    def record_moved_version(self, asset: Asset, path: str, version_id: str, guard: Write) -> None:
        """Store the S3 version that a move leaves archived at the earlier path of a file.

        A delete marker has no reason why it was put. `guard` is part of the transaction.
        """
        note = Update(table=RECORD_SETS, key=_moved_key(asset, path), set={_VERSION: version_id})
        self.tables.transact([guard, note])

    def moved_versions(self, asset: Asset, paths: Iterable[str]) -> dict[str, str]:
        """Return the versions that moves have left at some paths; most have none."""
        by_key = {_moved_key(asset, path)[RECORDS_OF.name]: path for path in paths}
        wanted = [(RECORD_SETS, _moved_key(asset, path)) for path in by_key.values()]
        items = self.tables.get_many(wanted)
        return {by_key[item[RECORDS_OF.name]]: item[_VERSION] for _, item in items}

    def put_origins(self, ref: AssetRef, origins: Mapping[VersionRef, VersionOrigin]) -> None:
        """Store the origins of some versions, whose keys are paths."""
        items = [write.item for write in self.origin_writes(ref, origins)]
        self.tables.put_many(FILE_VERSION_HISTORY, items)

    def origin_writes(
        self, ref: AssetRef, origins: Mapping[VersionRef, VersionOrigin]
    ) -> list[Put]:
        """As `put_origins`, for a transaction."""
        return [
            Put(
                table=FILE_VERSION_HISTORY,
                item={**origin.model_dump(by_alias=True, exclude_none=True), **key},
            )
            for version, origin in origins.items()
            for key in _origin_keys(ref, [version])
        ]

    def delete_origins(self, ref: AssetRef, versions: Iterable[VersionRef]) -> None:
        self.tables.delete_many(FILE_VERSION_HISTORY, _origin_keys(ref, versions))

    def origins(
        self, ref: AssetRef, versions: Iterable[VersionRef], *, consistent: bool
    ) -> dict[VersionRef, VersionOrigin]:
        """Return the known origins of some versions."""
        wanted = [(FILE_VERSION_HISTORY, key) for key in _origin_keys(ref, set(versions))]
        origins: dict[VersionRef, VersionOrigin] = {}
        for _, item in self.tables.get_many(wanted, consistent=consistent):
            version_id, path = keys.FILE_VERSION.parse(item[keys.FILE_VERSION.name])
            origins[VersionRef(path, version_id)] = VersionOrigin.model_validate(item)
        return origins

    def delete_records(self, asset: Asset, paths: Sequence[str]) -> None:
        """Remove the metadata of these files, which are sorted, from the snapshots of all versions.

        The rows of the files remain, so that versions go on naming files that were deleted.
        """
        query = Query(
            table=ASSET_VERSIONS,
            partition=_asset_key(asset),
            sort_between=(FIRST_NUMBER, AFTER_NUMBERS),
            consistent=True,
        )
        for item in self.tables.query_all(query):
            version = AssetVersion.model_validate(item)
            self._delete_records_of(_version_key(asset, version.snapshot), paths)

    def _delete_records_of(self, partition: str, paths: Sequence[str]) -> None:
        held = Query(
            table=ASSET_FILE_VERSIONS,
            partition=partition,
            sort_between=(paths[0], paths[-1]),
            consistent=True,
            attributes=ASSET_FILE_VERSIONS.key_names,
        )
        names = ASSET_FILE_METADATA_VERSIONS.key_names
        wanted = frozenset(paths)
        for path in (item[FILE_KEY.name] for item in self.tables.query_all(held)):
            for kind in _KINDS if path in wanted else ():
                query = Query(
                    table=ASSET_FILE_METADATA_VERSIONS,
                    partition=partition,
                    sort_prefix=keys.SNAPSHOT.prefix(kind, path),
                    consistent=True,
                    attributes=names,
                )
                rows = [
                    {name: item[name] for name in names} for item in self.tables.query_all(query)
                ]
                if rows:
                    self.tables.delete_many(query.table, rows)


def _origin_keys(ref: AssetRef, versions: Iterable[VersionRef]) -> list[dict[str, str]]:
    asset = keys.ASSET.build(*ref.ids)
    sort_keys = [keys.FILE_VERSION.build(version_id, path) for path, version_id in versions]
    return [
        {keys.ASSET.name: asset, keys.FILE_VERSION.name: key}
        for key in sort_keys
        if len(key.encode()) <= keys.SORT_KEY_BYTES  # no path that the API accepts is so long
    ]


_VERSION = "movedVersionId"


def _moved_key(asset: Asset, path: str) -> dict[str, str]:
    # In the asset's partition, so that a purge finds it. A path may fill most of a sort key.
    return {RECORDS_OWNER.name: _asset_key(asset), RECORDS_OF.name: f"v{path}"}


def _asset_key(asset: Asset) -> str:
    return keys.ASSET.build(asset.database_id, asset.asset_id)


def _version_key(asset: Asset, snapshot_id: str) -> str:
    return keys.ASSET_VERSION.build(asset.database_id, asset.asset_id, snapshot_id)
