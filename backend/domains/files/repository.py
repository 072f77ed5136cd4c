"""The files of an asset's versions as their table holds them, by access pattern.

The sort key `fileKey` is the file's path in the asset with a leading slash.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.core.errors import UnavailableError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    MAX_TRANSACTION_ITEMS,
    Check,
    Delete,
    Update,
    Write,
    absent,
    equals,
    exists,
)
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.models import (
    AFTER_NUMBERS,
    FIRST_NUMBER,
    Asset,
    AssetVersion,
)
from backend.domains.files.errors import ChangeBusyError, ChangeEndedError, ChangeOvertakenError
from backend.domains.files.models import FileSnapshot
from backend.spec import keys
from backend.spec.tables.assets import (
    ASSET_FILE_METADATA_VERSIONS,
    ASSET_FILE_VERSIONS,
    ASSET_ID,
    ASSET_VERSION_ID,
    ASSET_VERSIONS,
    ASSETS,
    DATABASE_ID,
    FILE_KEY,
)
from backend.spec.tables.model import Table
from backend.spec.tables.operations import RESERVATIONS

_KINDS = ("metadata", "attribute")
_COUNTED_OUT = MAX_TRANSACTION_ITEMS - 1
"""Files that one transaction removes from a version, whose row it changes too."""


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
        found = self.tables.query(query, PageRequest(limit))
        return [AssetVersion.model_validate(item) for item in found.items]

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
    ) -> dict[tuple[str, str], FileSnapshot]:
        """Return, by snapshot and path, the rows of these files in the snapshots of versions."""
        partitions = {_version_key(asset, each): each for each in snapshot_ids}
        wanted = [
            (ASSET_FILE_VERSIONS, {keys.ASSET_VERSION.name: partition, FILE_KEY.name: path})
            for partition in partitions
            for path in paths
        ]
        found: dict[tuple[str, str], FileSnapshot] = {}
        for _, item in self.tables.get_many(wanted):
            snapshot = FileSnapshot.model_validate(item)
            found[partitions[item[keys.ASSET_VERSION.name]], snapshot.file_key] = snapshot
        return found

    def delete_files(self, asset: Asset, paths: Sequence[str]) -> None:
        """Remove the rows of these files, which are sorted, from the snapshots of all versions."""
        query = Query(
            table=ASSET_VERSIONS,
            partition=_asset_key(asset),
            sort_between=(FIRST_NUMBER, AFTER_NUMBERS),
            consistent=True,
        )
        for item in self.tables.query_all(query):
            self._delete_files_of(asset, AssetVersion.model_validate(item), paths)

    def _delete_files_of(self, asset: Asset, version: AssetVersion, paths: Sequence[str]) -> None:
        partition = _version_key(asset, version.snapshot)
        held = Query(
            table=ASSET_FILE_VERSIONS,
            partition=partition,
            sort_between=(paths[0], paths[-1]),
            consistent=True,
            attributes=ASSET_FILE_VERSIONS.key_names,
        )
        wanted = frozenset(paths)
        gone = [i for i in self.tables.query_all(held) if i[FILE_KEY.name] in wanted]
        for path in (item[FILE_KEY.name] for item in gone):
            for kind in _KINDS:
                self._remove_all(
                    Query(
                        table=ASSET_FILE_METADATA_VERSIONS,
                        partition=partition,
                        sort_prefix=keys.SNAPSHOT.prefix(kind, path),
                        consistent=True,
                        attributes=ASSET_FILE_METADATA_VERSIONS.key_names,
                    )
                )
        for start in range(0, len(gone), _COUNTED_OUT):
            self._count_out(asset, version, gone[start : start + _COUNTED_OUT])

    def _count_out(
        self, asset: Asset, version: AssetVersion, rows: Sequence[dict[str, Any]]
    ) -> None:
        """Remove files of a version, and decrease its count, once for each file.

        Raises:
            UnavailableError: another request is removing them, or the version.
        """
        refused = UnavailableError(
            f"The files of version {version.asset_version_id} are being removed; try again"
        )
        table = ASSET_FILE_VERSIONS
        key = {
            keys.ASSET.name: _asset_key(asset),
            ASSET_VERSION_ID.name: version.asset_version_id,
        }
        removed = [
            Delete(
                table=table,
                key={name: row[name] for name in table.key_names},
                conditions=(exists(FILE_KEY.name),),
                refused=refused,
            )
            for row in rows
        ]
        counted = Update(
            table=ASSET_VERSIONS,
            key=key,
            add={"fileCount": -len(removed)},
            conditions=(exists(ASSET_VERSION_ID.name),),
            refused=refused,
        )
        self.tables.transact([*removed, counted])

    def _remove_all(self, query: Query) -> None:
        self._remove(query.table, self.tables.query_all(query))

    def _remove(self, table: Table, items: Sequence[dict[str, Any]]) -> None:
        if items:
            names = table.key_names
            self.tables.delete_many(table, [{name: item[name] for name in names} for item in items])


class ChangeState(NamedTuple):
    """The number of changes of an asset's files, and the job that is changing them."""

    number: int
    job_id: str | None


@dataclass(eq=False, repr=False)
class FileChangeRepository:
    """Allows one change of an asset's files at a time, by an item that names the job.

    The item remains and counts the changes, so a process that read it, and then the files, can
    verify that they were not changed since.
    """

    tables: Tables

    def state(self, asset_id: str) -> ChangeState:
        item = self.tables.get(RESERVATIONS, _changes_of(asset_id)) or {}
        return ChangeState(int(item.get(_NUMBER, 0)), item.get(_JOB))

    def commit(
        self, asset: Asset, state: ChangeState, job_id: str, writes: Sequence[Write]
    ) -> None:
        """Start a change on the condition that no other one was started since the state was read.

        Raises:
            AssetNotFoundError: the asset was archived or deleted.
            ChangeOvertakenError: another change was started.
        """
        overtaken = ChangeOvertakenError("another change of files began")
        seen = equals(_NUMBER, state.number) if state.number else absent(_NUMBER)
        begun = Update(
            table=RESERVATIONS,
            key=_changes_of(asset.asset_id),
            set={_JOB: job_id},
            add={_NUMBER: 1},
            conditions=(seen, absent(_JOB)),
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

    def release(self, asset_id: str, job_id: str) -> None:
        """Allow other changes of the files; no effect if another change was started."""
        with suppress(ChangeOvertakenError):
            self.tables.write(
                Update(
                    table=RESERVATIONS,
                    key=_changes_of(asset_id),
                    remove=(_JOB,),
                    conditions=(equals(_JOB, job_id),),
                    refused=ChangeOvertakenError("the change has ended"),
                )
            )


_NUMBER, _JOB = "changes", "jobId"


def _changes_of(asset_id: str) -> dict[str, str]:
    return {RESERVATIONS.partition_key.name: keys.changes_of_files(asset_id)}


def _asset_key(asset: Asset) -> str:
    return keys.ASSET.build(asset.database_id, asset.asset_id)


def _version_key(asset: Asset, snapshot_id: str) -> str:
    return keys.ASSET_VERSION.build(asset.database_id, asset.asset_id, snapshot_id)
