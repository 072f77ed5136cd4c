"""The rows of executions and their reservations, by access pattern.

`others` are writes of the same transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.core.attempts import attempts
from backend.core.definitions import DefinitionRef
from backend.core.errors import StateForbidsError
from backend.core.paging import Page, PageRequest
from backend.core.references import AssetRef
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Delete,
    Item,
    Key,
    Update,
    Write,
    absent,
    equals,
    exists,
    put_new,
)
from backend.domains.executions.errors import (
    ExecutionActiveError,
    ExecutionChangedError,
    ExecutionExistsError,
    ExecutionNotFoundError,
)
from backend.domains.executions.models import (
    ActiveRun,
    Execution,
    ExecutionPlace,
    RunOutputs,
)
from backend.domains.executions.rules import reservation_key, target_of
from backend.spec import keys
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.workflows import (
    EXECUTION_ID,
    EXECUTIONS_BY_WORKFLOW,
    WORKFLOW_EXECUTIONS,
)

_RESERVED = RESERVATIONS.partition_key.name
_NEXT = "nextUpload"
_ATTEMPTS = 4  # of a start whose predecessor ends at the same moment


class _ReservedError(StateForbidsError):
    """The workflow and file are reserved."""


def _change_error(_: object, execution: Execution, *_others: Write) -> ExecutionChangedError:
    return ExecutionChangedError(execution.execution_id)


class Reserved(NamedTuple):
    """The reservation of an execution, as read; `run` may name another execution, or none."""

    execution_id: str
    key: str
    run: ActiveRun | None


@dataclass(eq=False, repr=False)
class ExecutionRepository:
    tables: Tables

    def find(self, execution_id: str) -> Execution | None:
        """Return an execution by its id alone, a consistent read."""
        item = self.tables.get(RESERVATIONS, {_RESERVED: keys.execution(execution_id)})
        if item is None:
            return None
        place = ExecutionPlace.model_validate(item)
        return self.get(place.database_id, place.asset_id, execution_id)

    def get(self, database_id: str, asset_id: str, execution_id: str) -> Execution | None:
        """Return an execution of an asset, a consistent read."""
        key = _row_key(database_id, asset_id, execution_id)
        item = self.tables.get(WORKFLOW_EXECUTIONS, key)
        return None if item is None else Execution.model_validate(item)

    def list_of_asset(self, asset: AssetRef, page: PageRequest) -> Page[Execution]:
        """Return the executions of an asset, the newest first."""
        query = Query(
            table=WORKFLOW_EXECUTIONS,
            partition=keys.ASSET.build(*asset.ids),
            newest_first=True,
            consistent=True,
        )
        return self.tables.query(query, page).map(Execution.model_validate)

    def list_of_workflow(
        self, asset: AssetRef, workflow: DefinitionRef, page: PageRequest
    ) -> Page[Execution]:
        """Return the executions of a workflow on an asset."""
        query = Query(
            table=WORKFLOW_EXECUTIONS,
            index=EXECUTIONS_BY_WORKFLOW,
            partition=keys.ASSET.build(*asset.ids),
            # One sort key for all: DynamoDB promises no order among them.
            sort_equals=keys.WORKFLOW.build(*workflow),
            consistent=True,
        )
        return self.tables.query(query, page).map(Execution.model_validate)

    def active_run(self, reservation: str) -> ActiveRun | None:
        """Return the active execution of a workflow on a file, by its reservation's key."""
        item = self.tables.get(RESERVATIONS, {_RESERVED: reservation})
        return None if item is None else ActiveRun.model_validate(item)

    @attempts(_ATTEMPTS, _ReservedError, refusal=_change_error)
    def create(self, execution: Execution, *others: Write) -> None:
        """Write a new execution, and reserve its workflow and file.

        Raises:
            ExecutionActiveError: another execution of the workflow on this file is active.
            ExecutionChangedError: others start and end at every attempt.
            ExecutionExistsError: the id is taken.
        """
        try:
            self.tables.transact([*_new(execution), *others])
        except _ReservedError:
            target = target_of(execution)
            running = self.active_run(reservation_key(target))
            if running is not None:
                raise ExecutionActiveError(target, running.execution_id) from None
            raise

    def change(self, execution: Execution, changes: Mapping[str, Any], *others: Write) -> None:
        """Set some attributes of an execution.

        Raises:
            ExecutionChangedError: it was changed after it was read.
        """
        self.tables.transact([_change(execution, changes), *others])

    def commit(self, writes: Sequence[Write]) -> None:
        """Carry out composed writes, all or nothing."""
        self.tables.transact(writes)

    def end_writes(
        self,
        execution: Execution | None,
        changes: Mapping[str, Any],
        reserved: Reserved,
        repeat: Execution | None = None,
    ) -> list[Write]:
        """Return the writes that end an execution and release its workflow and file.

        `repeat` is a new execution that takes over the reservation. Without a row (the asset was
        deleted), the item that finds the execution by its id is removed. They are refused with
        ExecutionChangedError if anything was changed after it was read.
        """
        writes: list[Write] = []
        if execution is None:
            place = {_RESERVED: keys.execution(reserved.execution_id)}
            writes.append(Delete(table=RESERVATIONS, key=place))
        elif execution.is_active:
            writes.append(_change(execution, changes))
        run = reserved.run
        if run is not None and run.execution_id == reserved.execution_id:
            upload = run.next_upload
            as_read = absent(_NEXT) if upload is None else equals(_NEXT, upload)
            values: Mapping[str, Any] = {
                "table": RESERVATIONS,
                "key": {_RESERVED: reserved.key},
                "conditions": (equals(EXECUTION_ID.name, reserved.execution_id), as_read),
                "refused": ExecutionChangedError(reserved.execution_id),
            }
            if repeat is None:
                writes.append(Delete(**values))
            else:
                taken_over = Update(**values, set={EXECUTION_ID.name: repeat.execution_id})
                writes += [taken_over, *_rows(repeat)]
        return writes

    def store_upload(self, reservation: str, active_id: str, message: str) -> None:
        """Keep the message of an upload until the active execution of its file has ended.

        It replaces that of an earlier upload.

        Raises:
            ExecutionChangedError: the execution has ended.
        """
        self.tables.write(
            Update(
                table=RESERVATIONS,
                key={_RESERVED: reservation},
                set={_NEXT: message},
                conditions=(equals(EXECUTION_ID.name, active_id),),
                refused=ExecutionChangedError(active_id),
            )
        )

    def set_outputs(self, execution: Execution, outputs: RunOutputs) -> None:
        """Replace what an execution stored, whatever its status is.

        Raises:
            ExecutionNotFoundError: its row does not exist, because the asset was deleted.
        """
        self.tables.write(
            Update(
                table=WORKFLOW_EXECUTIONS,
                key=row_key(execution),
                set={"outputs": outputs.model_dump(by_alias=True)},
                conditions=(exists(EXECUTION_ID.name),),
                refused=ExecutionNotFoundError(execution.execution_id),
            )
        )


def row_key(execution: Execution) -> Key:
    """Return the key of an execution's row."""
    return _row_key(execution.database_id, execution.asset_id, execution.execution_id)


def position_in_asset(execution: Execution) -> Key:
    """Return the position of an execution among those of its asset."""
    return row_key(execution)


def position_in_workflow(execution: Execution) -> Key:
    """Return the position of an execution among those of its workflow on its asset."""
    return {**row_key(execution), keys.WORKFLOW.name: execution.workflow_key}


def row_of(execution: Execution) -> Item:
    """Return the item of an execution."""
    return {
        **execution.model_dump(by_alias=True, exclude_none=True),
        **row_key(execution),
        keys.WORKFLOW.name: execution.workflow_key,
    }


def _change(execution: Execution, changes: Mapping[str, Any]) -> Update:
    return Update(
        table=WORKFLOW_EXECUTIONS,
        key=row_key(execution),
        set=changes,
        add={"revision": 1},
        conditions=(equals("revision", execution.revision),),
        refused=ExecutionChangedError(execution.execution_id),
    )


def _new(execution: Execution) -> list[Write]:
    active = ActiveRun(execution_id=execution.execution_id).model_dump(by_alias=True)
    reservation = {_RESERVED: reservation_key(target_of(execution)), **active}
    # Of several refused writes the first one is reported: a repeated execution exists.
    return [
        *_rows(execution),
        put_new(RESERVATIONS, reservation, _ReservedError(execution.execution_id)),
    ]


def _rows(execution: Execution) -> list[Write]:
    """Return the writes of a new execution and of the item that finds it by its id."""
    taken = ExecutionExistsError(execution.execution_id)
    place = ExecutionPlace(database_id=execution.database_id, asset_id=execution.asset_id)
    item = {_RESERVED: keys.execution(execution.execution_id), **place.model_dump(by_alias=True)}
    return [
        put_new(WORKFLOW_EXECUTIONS, row_of(execution), taken),
        put_new(RESERVATIONS, item, taken),
    ]


def _row_key(database_id: str, asset_id: str, execution_id: str) -> Key:
    return {
        keys.ASSET.name: keys.ASSET.build(database_id, asset_id),
        EXECUTION_ID.name: execution_id,
    }
