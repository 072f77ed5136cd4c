"""Executions that have not ended: waiting and admitted ones.

An execution is counted exactly as long as it has an item among the admitted ones: both change in
one transaction.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from backend.core.clock import iso
from backend.core.paging import PageRequest, all_items
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Condition,
    Delete,
    Item,
    Key,
    Put,
    Update,
    Write,
    exists,
)
from backend.domains.executions.errors import ExecutionChangedError, FullError
from backend.domains.executions.models import ActiveExecution, Execution
from backend.domains.executions.rules import reservation_key, target_of
from backend.spec import keys
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.workflows import ACTIVE_EXECUTIONS, ACTIVE_STATE, EXECUTION_ID

_COUNT, _ENDED = "count", "endedAt"
_LAST_PLACE_LIFE = timedelta(days=1)  # no execution waits longer for a place
# A query returns at most 1 MB, which is more rows than a page. Of a larger crowd the later ones are
# not considered yet: each end of an execution reads them again.
_PAGE, _READ_AT_MOST = 2_000, 20_000
_COUNTER: Key = {RESERVATIONS.partition_key.name: keys.ADMITTED_EXECUTIONS}


@dataclass(eq=False, repr=False)
class ActiveRepository:
    tables: Tables

    def oldest_waiting(self, limit: int) -> Sequence[ActiveExecution]:
        """Return the waiting executions with the lowest ids, which begin with their time."""
        query = Query(table=ACTIVE_EXECUTIONS, partition="waiting", consistent=True)
        return _read(self.tables.query(query, PageRequest(limit)).items)

    def list_waiting(self) -> Sequence[ActiveExecution]:
        """Return the waiting executions, oldest first. Of very many, the later ones are left out.

        They are read again at each end of an execution: 1,000 of them take one request.
        """
        query = Query(table=ACTIVE_EXECUTIONS, partition="waiting", consistent=True)
        rows = all_items(partial(self.tables.query, query), _PAGE)
        return _read(islice(rows, _READ_AT_MOST))

    def list_admitted(self) -> Sequence[ActiveExecution]:
        """Return all executions that were admitted: as many as may run at once."""
        query = Query(table=ACTIVE_EXECUTIONS, partition="admitted", consistent=True)
        return _read(self.tables.query_all(query))

    def find(self, execution_id: str) -> ActiveExecution | None:
        """Return the item of an execution; None if it has ended."""
        wanted = [(ACTIVE_EXECUTIONS, _key(state, execution_id)) for state in _STATES]
        executions = _read([item for _, item in self.tables.get_many(wanted)])
        # A second item appears only if an admission happens between two reads of one request.
        return next(iter(sorted(executions, key=lambda execution: execution.state)), None)

    def waiting_write(self, execution: Execution) -> Write:
        """Return the write that makes a new execution wait."""
        return Put(
            table=ACTIVE_EXECUTIONS,
            item=_row(
                ActiveExecution(
                    state="waiting",
                    execution_id=execution.execution_id,
                    database_id=execution.database_id,
                    asset_id=execution.asset_id,
                    reservation=reservation_key(target_of(execution)),
                    since=execution.created_at,
                    user=execution.started_by,
                )
            ),
        )

    def admit(self, waiting: ActiveExecution, *, at: str, limit: int) -> ActiveExecution:
        """Admit a waiting execution, if fewer than `limit` are admitted.

        Raises:
            ExecutionChangedError: it is no longer waiting.
            FullError: the limit is reached.
        """
        admitted = waiting.model_copy(update={"state": "admitted", "since": at})
        count = Update(
            table=RESERVATIONS,
            key=_COUNTER,
            add={_COUNT: 1},
            # Also true before the first execution is counted.
            conditions=(Condition(_COUNT, "not >", limit - 1),),
            refused=FullError(),
        )
        put = Put(table=ACTIVE_EXECUTIONS, item=_row(admitted))
        self.tables.transact([self._removal(waiting), count, put])
        return admitted

    def record_started(self, admitted: ActiveExecution, at: str) -> None:
        """Record that Step Functions has started an execution.

        Raises:
            ExecutionChangedError: it has ended already.
        """
        self.tables.write(
            Update(
                table=ACTIVE_EXECUTIONS,
                key=_key(admitted.state, admitted.execution_id),
                set={"startedAt": at},
                conditions=(exists(EXECUTION_ID.name),),
                refused=ExecutionChangedError(admitted.execution_id),
            )
        )

    def last_places(self, users: Collection[str]) -> Mapping[str, str]:
        """Return when an execution of each user last ended, of those with one in the last day."""
        by_key = {keys.last_place(user): user for user in users}
        name = RESERVATIONS.partition_key.name
        wanted = [(RESERVATIONS, {name: key}) for key in by_key]
        rows = [item for _, item in self.tables.get_many(wanted)]
        return {by_key[str(row[name])]: str(row[_ENDED]) for row in rows}

    def end_writes(self, active: ActiveExecution, at: datetime) -> list[Write]:
        """Return the writes that release the reservations of an active execution.

        They are refused with ExecutionChangedError if it is no longer in that state.
        """
        if active.state == "waiting":
            return [self._removal(active)]
        # With the removal of the item in one transaction, so a repeated end counts once.
        count = Update(table=RESERVATIONS, key=_COUNTER, add={_COUNT: -1})
        expires = int((at + _LAST_PLACE_LIFE).timestamp())
        last = Update(
            table=RESERVATIONS,
            key={RESERVATIONS.partition_key.name: keys.last_place(active.user)},
            set={_ENDED: iso(at), "expiresAt": expires},
        )
        return [self._removal(active), count, last]

    def _removal(self, active: ActiveExecution) -> Delete:
        return Delete(
            table=ACTIVE_EXECUTIONS,
            key=_key(active.state, active.execution_id),
            conditions=(exists(EXECUTION_ID.name),),
            refused=ExecutionChangedError(active.execution_id),
        )


_STATES = ("admitted", "waiting")


def _read(items: Iterable[Item]) -> Sequence[ActiveExecution]:
    return [ActiveExecution.model_validate(item) for item in items]


def _row(active: ActiveExecution) -> Item:
    return active.model_dump(by_alias=True, exclude_none=True)


def _key(state: str, execution_id: str) -> Key:
    return {ACTIVE_STATE.name: state, EXECUTION_ID.name: execution_id}
