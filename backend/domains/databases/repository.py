"""The table of databases and the counts of their assets, by access pattern.

The count of a database is split over some items of the table of reservations. They are created and
removed with the database, so an asset can only be counted while its database exists.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from backend.core.errors import (
    NotEmptyError,
)
from backend.core.paging import Page, PageRequest
from backend.core.tables import Tables
from backend.core.transactions import (
    Check,
    Condition,
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
from backend.domains.databases.errors import (
    DatabaseActiveError,
    DatabaseDefinitionsError,
    DatabaseExistsError,
    DatabaseNotEmptyError,
    DatabaseNotFoundError,
    DatabasePurgingError,
    DatabaseRevisionError,
    PurgeEndedError,
)
from backend.domains.databases.models import CountedDatabase, Database
from backend.domains.databases.rules import (
    Definition,
    count_key,
    count_keys,
    definitions_key,
)
from backend.spec import keys
from backend.spec.tables.assets import DATABASES
from backend.spec.tables.operations import RESERVATIONS

_KEY = DATABASES.partition_key.name
_RESERVATION = RESERVATIONS.partition_key.name
_COUNT = "count"
_PURGED_BY = "purgeJobId"


@dataclass(eq=False, repr=False)
class DatabaseRepository:
    tables: Tables

    def get(self, database_id: str) -> Database | None:
        item = self.tables.get(DATABASES, {_KEY: database_id})
        return None if item is None else Database.model_validate(item)

    def get_deleted(self, database_id: str) -> Database | None:
        """Return the last deleted database with that id."""
        return self.get(keys.archived(database_id))

    def get_counted(self, database_id: str, *, deleted: bool = False) -> CountedDatabase | None:
        """Return the database, or else the last deleted one with that id, with its count.

        One request.
        """
        partition = keys.archived(database_id) if deleted else database_id
        counts = () if deleted else count_keys(database_id)
        items = self.tables.get_many(
            [(DATABASES, {_KEY: partition}), *((RESERVATIONS, {_RESERVATION: k}) for k in counts)]
        )
        rows = [item for table, item in items if table is DATABASES]
        total = sum(item[_COUNT] for table, item in items if table is RESERVATIONS)
        return CountedDatabase.model_validate({**rows[0], "assetCount": total}) if rows else None

    def counted(self, databases: Sequence[Database]) -> list[CountedDatabase]:
        """Return the databases with their counts; those of deleted ones are 0."""
        owners = {
            key: database.database_id
            for database in databases
            if not database.is_deleted
            for key in count_keys(database.database_id)
        }
        totals: Counter[str] = Counter()
        for _, item in self.tables.get_many([(RESERVATIONS, {_RESERVATION: k}) for k in owners]):
            totals[owners[item[_RESERVATION]]] += item[_COUNT]
        return [
            CountedDatabase(
                **database.model_dump(),
                asset_count=0 if database.is_deleted else totals[database.database_id],
            )
            for database in databases
        ]

    def list_registry(self, page: PageRequest) -> Page[Database]:
        """List databases in no order, including soft-deleted ones."""
        return self.tables.scan(DATABASES, page).map(Database.model_validate)

    def put_new(self, database: Database, *others: Write) -> None:
        """Put the row and create the count, with other writes, all or nothing.

        Raises:
            DatabaseExistsError: the id is in use.
            DatabasePurgingError: a deleted database with the id is being purged.
        """
        refused = DatabaseExistsError(database.database_id)
        opened = [
            Put(table=RESERVATIONS, item={_RESERVATION: key, _COUNT: 0})
            for key in count_keys(database.database_id)
        ]
        row = put_new(DATABASES, _row_of(database), refused)
        # The counterpart is in `holds`: of a creation and the start of a purge, one is refused.
        free = Check(
            table=DATABASES,
            key={_KEY: keys.archived(database.database_id)},
            conditions=(absent(_PURGED_BY),),
            refused=DatabasePurgingError(database.database_id),
        )
        self.tables.transact([row, free, *opened, *others])

    def change(self, database: Database, changes: Mapping[str, Any], *others: Write) -> Database:
        """Set some attributes if the row is unchanged since it was read, with other writes.

        Raises:
            DatabaseRevisionError: the row has another revision, or does not exist.
        """
        update = Update(
            table=DATABASES,
            key={_KEY: database.database_id},
            set=changes,
            add={"revision": 1},
            conditions=(equals("revision", database.revision),),
            refused=DatabaseRevisionError(database.database_id),
        )
        self.tables.transact([update, *others])
        now = database.model_dump(by_alias=True) | dict(changes)
        return Database.model_validate(now | {"revision": database.revision + 1})

    def mark_deleted(self, database: Database, deleted: Database, *others: Write) -> None:
        """Mark the row that was read as deleted, and remove the count.

        Raises:
            DatabaseDefinitionsError: it has active pipelines, workflows or tag types.
            DatabaseNotEmptyError: it has active assets; their number is read afterwards.
            DatabaseRevisionError: the row has another revision, or does not exist.
        """
        gone = Delete(
            table=DATABASES,
            key={_KEY: database.database_id},
            conditions=(equals("revision", database.revision),),
            refused=DatabaseRevisionError(database.database_id),
        )
        closed = [
            Delete(
                table=RESERVATIONS,
                key={_RESERVATION: key},
                conditions=(equals(_COUNT, 0),),
                refused=_CountedError(),
            )
            for key in count_keys(database.database_id)
        ]
        undefined = Delete(
            table=RESERVATIONS,
            key={_RESERVATION: definitions_key(database.database_id)},
            conditions=tuple(Condition(kind, "not >", 0) for kind in get_args(Definition)),
            refused=_DefinedError(),
        )
        away = Put(table=DATABASES, item=_row_of(deleted))
        try:
            self.tables.transact([gone, *closed, undefined, away, *others])
        except _DefinedError as error:
            key = {_RESERVATION: definitions_key(database.database_id)}
            counts = self.tables.get(RESERVATIONS, key) or {}
            held = (counts.get(kind, 0) for kind in get_args(Definition))
            raise DatabaseDefinitionsError(database.database_id, *held) from error
        except _CountedError as error:
            assets = self.counted([database])[0].asset_count
            raise DatabaseNotEmptyError(database.database_id, assets) from error

    def reservation_writes(self, deleted: Database, job_id: str) -> list[Write]:
        """Return the writes that reserve the id of a deleted database for the job that purges it.

        They are refused with DatabaseActiveError while a database with the id is active, and with
        DatabaseRevisionError if the row is not the one that was read.
        """
        inactive = Check(
            table=DATABASES,
            key={_KEY: deleted.database_id},
            conditions=(absent(_KEY),),
            refused=DatabaseActiveError(deleted.database_id),
        )
        # A later database with the id may have been deleted at the same revision.
        same = (equals("revision", deleted.revision), equals("deletedAt", deleted.deleted_at))
        held = Update(
            table=DATABASES,
            key={_KEY: deleted.partition},
            set={_PURGED_BY: job_id},
            add={"revision": 1},
            conditions=same,
            refused=DatabaseRevisionError(deleted.database_id),
        )
        return [inactive, held]

    def require_held(self, database_id: str, job_id: str) -> Check:
        """Refuse a transaction with PurgeEndedError unless the job still reserves the id."""
        return Check(
            table=DATABASES,
            key={_KEY: keys.archived(database_id)},
            conditions=(equals(_PURGED_BY, job_id),),
            refused=PurgeEndedError(database_id),
        )

    def release(self, database_id: str, job_id: str) -> None:
        """Remove the row of a purged database.

        Raises:
            PurgeEndedError: the job no longer reserves the id.
        """
        self.tables.write(
            Delete(
                table=DATABASES,
                key={_KEY: keys.archived(database_id)},
                conditions=(equals(_PURGED_BY, job_id),),
                refused=PurgeEndedError(database_id),
            )
        )

    def count_assets(self, database_id: str, asset_id: str, by: int) -> Update:
        """Return the write that counts an asset in or out; it requires the database."""
        floor = (Condition(_COUNT, ">=", -by),) if by < 0 else ()
        return Update(
            table=RESERVATIONS,
            key={_RESERVATION: count_key(database_id, asset_id)},
            add={_COUNT: by},
            conditions=(exists(_RESERVATION), *floor),
            refused=DatabaseNotFoundError(database_id),
        )

    def count_definition(self, database_id: str, kind: Definition, by: int) -> list[Write]:
        """Return the writes that count a definition in or out of an active database."""
        active = Check(
            table=DATABASES,
            key={_KEY: database_id},
            conditions=(exists(_KEY),),
            refused=DatabaseNotFoundError(database_id),
        )
        counted = Update(
            table=RESERVATIONS,
            key={_RESERVATION: definitions_key(database_id)},
            add={kind: by},
            conditions=(Condition(kind, ">=", -by),) if by < 0 else (),
            refused=DatabaseNotFoundError(database_id),
        )
        return [active, counted]


class _DefinedError(NotEmptyError):
    """The database has an active pipeline or workflow, or a tag type."""

    def __init__(self) -> None:
        super().__init__("The database has active pipelines, workflows or tag types")


class _CountedError(NotEmptyError):
    """A part of the count is not 0."""

    def __init__(self) -> None:
        super().__init__("The database has active assets")


def _row_of(database: Database) -> Item:
    return database.model_dump(by_alias=True, exclude_none=True) | {_KEY: database.partition}
