"""The item that allows one change of an asset's files at a time."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.tables import Tables
from backend.core.transactions import (
    Check,
    Update,
    Write,
    absent,
    equals,
)
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.models import (
    Asset,
)
from backend.domains.files.errors import ChangeBusyError, ChangeEndedError, ChangeOvertakenError
from backend.spec import keys
from backend.spec.tables.assets import (
    ASSET_ID,
    ASSETS,
    DATABASE_ID,
)
from backend.spec.tables.operations import RESERVATIONS


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
