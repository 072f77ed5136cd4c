"""Operations on databases."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest, Position, fill
from backend.core.transactions import Write
from backend.core.wired import wired
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.audit.models import database_entity
from backend.domains.audit.service import AuditService
from backend.domains.buckets.models import AssetBucket
from backend.domains.buckets.service import BucketService
from backend.domains.databases.models import (
    CountedDatabase,
    CreateDatabaseBody,
    Database,
    UpdateDatabaseBody,
)
from backend.domains.databases.repository import (
    DatabaseActiveError,
    DatabaseDefinitionsError,
    DatabaseNotEmptyError,
    DatabaseNotFoundError,
    DatabasePurgingError,
    DatabaseRepository,
    DatabaseRevisionError,
    PurgeEndedError,
)
from backend.domains.databases.rules import Definition
from backend.spec.keys import active
from backend.spec.tables.assets import DATABASES

__all__ = [
    "DatabaseActiveError",
    "DatabaseDefinitionsError",
    "DatabaseNotFoundError",
    "DatabasePurgingError",
    "DatabaseRevisionError",
    "DatabaseService",
    "Definition",
    "PurgeEndedError",
    "Purges",
    "StartedPurge",
    "attributes",
    "secured",
]

_ATTEMPTS = 8  # of a deletion that edits, or assets that come and go, overtake


class StartedPurge(NamedTuple):
    """The job that purges a database, as the reply names it."""

    job_id: str
    job_state: str


class Purges(Protocol):
    """Starts purges. A slice above this one implements it: a purge deletes assets, as a job."""

    def purge_database(
        self,
        caller: Identity,
        database_id: str,
        *,
        reason: str | None = None,
        expected_revision: int | None = None,
    ) -> StartedPurge: ...


@wired
class DatabaseService:
    databases: DatabaseRepository
    buckets: BucketService
    names: DeletedNames
    authorization: Authorization
    audit: AuditService
    clock: Clock

    def create_database(self, caller: Identity, body: CreateDatabaseBody) -> Database:
        """Make a database whose assets go to the default bucket.

        The id of a deleted database may be taken again; its archived assets are there then.

        Raises:
            DatabaseExistsError: the id is taken.
            DatabasePurgingError: what a deleted database of the id left is being removed.
            InvalidInputError: there is no such bucket.
            PermissionDeniedError: the caller may not, or rules mention a deleted database of the id
                and the caller is no administrator.
        """
        require(self.authorization, caller, "POST", secured(body.database_id))
        self.names.require_unruled(caller, "databaseId", body.database_id)
        self._demand_bucket(body.default_bucket_id)
        now = self.clock()
        database = Database(
            database_id=body.database_id,
            description=body.description,
            date_created=iso(now),
            default_bucket_id=body.default_bucket_id,
            restrict_metadata_outside_schemas=body.restrict_metadata_outside_schemas,
            restrict_file_uploads_to_extensions=body.restrict_file_uploads_to_extensions,
            processing=body.processing,
        )
        entry = self.audit.entry(
            caller,
            "create_database",
            database_entity(body.database_id),
            after=attributes(database),
            at=now,
        )
        self.databases.put_new(database, entry)
        return database

    def get_database(self, caller: Identity, database_id: str) -> Database:
        """The database.

        Raises:
            DatabaseNotFoundError: it does not exist, or not for the caller.
        """
        if not self.may_see(caller, database_id):
            raise DatabaseNotFoundError(database_id)
        found = self.databases.get(database_id)
        if found is None:
            raise DatabaseNotFoundError(database_id)
        return found

    def describe_database(
        self, caller: Identity, database_id: str, *, show_deleted: bool = False
    ) -> CountedDatabase:
        """The database with its count; with `show_deleted` the last deleted one of that id.

        Raises:
            DatabaseNotFoundError: it does not exist, or not for the caller.
        """
        if not self.may_see(caller, database_id):
            raise DatabaseNotFoundError(database_id)
        found = self.databases.get_counted(database_id, deleted=show_deleted)
        if found is None:
            raise DatabaseNotFoundError(database_id)
        return found

    def may_see(self, caller: Identity, database_id: str) -> bool:
        """Whether the caller may see the database, if there is one: nothing is read of it."""
        return self.authorization.may(caller, "GET", secured(database_id))

    def is_listed(self, caller: Identity, partition: str) -> bool:
        """Whether the registry has such a row, active or deleted, that the caller may see."""
        return self.may_see(caller, active(partition)) and self.databases.get(partition) is not None

    def demand_known(self, caller: Identity, database_id: str) -> None:
        """Go on only if a database of that id is active, or deleted and not purged.

        Raises:
            DatabaseNotFoundError: there is none, or the caller may not see it.
        """
        known = self.may_see(caller, database_id) and (
            self.databases.get(database_id) or self.databases.get_deleted(database_id)
        )
        if not known:
            raise DatabaseNotFoundError(database_id)

    def find_database(self, database_id: str) -> Database | None:
        """The active database of an id, for other slices: no permission is asked."""
        return self.databases.get(database_id)

    def list_databases(
        self, caller: Identity, page: PageRequest, *, show_deleted: bool = False
    ) -> Page[Database]:
        """Active, or else deleted, databases that the caller may see, in no order."""

        def visible(database: Database) -> bool:
            return database.is_deleted == show_deleted and self.authorization.may(
                caller, "GET", secured(database.database_id)
            )

        return fill(
            self.databases.list_registry,
            page,
            visible=visible,
            position_of=self.position_of,
        )

    def list_filled(self, caller: Identity, page: PageRequest) -> Page[Database]:
        """Those of a page of active databases that hold active assets."""
        found = self.list_databases(caller, page)
        return Page(tuple(one for one in self.counted(found.items) if one.asset_count), found.after)

    def list_known(self, caller: Identity, page: PageRequest) -> Page[Database]:
        """Databases that the caller may see, one row for each id, in no order.

        The row of a deleted database represents its id only while no database of it is active.
        """

        def visible(database: Database) -> bool:
            database_id = database.database_id
            is_first = not database.is_deleted or self.databases.get(database_id) is None
            return is_first and self.may_see(caller, database_id)

        return fill(
            self.databases.list_registry, page, visible=visible, position_of=self.position_of
        )

    def registry(self, page: PageRequest) -> Page[Database]:
        """Databases, active and deleted, in no order: for jobs, no permission is asked."""
        return self.databases.list_registry(page)

    def position_of(self, database: Database) -> Position:
        """Where a page of the registry goes on after a database."""
        return {DATABASES.partition_key.name: database.partition}

    def counted(self, databases: Sequence[Database]) -> list[CountedDatabase]:
        """The same databases with the numbers of their active assets; no permission is asked."""
        return self.databases.counted(databases)

    def update_database(
        self,
        caller: Identity,
        database_id: str,
        body: UpdateDatabaseBody,
        *,
        expected_revision: int | None = None,
    ) -> Database:
        """Change the fields that are given.

        Raises:
            DatabaseNotFoundError: it does not exist, or not for the caller.
            DatabaseRevisionError: its revision is not the expected one.
            InvalidInputError: there is no such bucket.
        """
        found = self.get_database(caller, database_id)
        require(self.authorization, caller, "PUT", secured(database_id))
        _demand_revision(found, expected_revision)
        if body.default_bucket_id is not None:
            self._demand_bucket(body.default_bucket_id)
        changes = body.model_dump(by_alias=True, exclude_none=True)
        before = attributes(found)
        entry = self.audit.entry(
            caller,
            "update_database",
            database_entity(database_id),
            before=before,
            after=before | changes,
            at=self.clock(),
        )
        return self.databases.change(found, changes, entry)

    def delete_database(
        self, caller: Identity, database_id: str, *, expected_revision: int | None = None
    ) -> None:
        """Put a database without active assets away; its archived assets stay archived.

        Raises:
            DatabaseDefinitionsError: it has active pipelines or workflows.
            DatabaseNotEmptyError: it has active assets.
            DatabaseNotFoundError: it does not exist, or not for the caller.
            DatabaseRevisionError: its revision is not the expected one, or others change it all
                the time.
        """
        for _ in range(_ATTEMPTS):
            found = self.get_database(caller, database_id)
            require(self.authorization, caller, "DELETE", secured(database_id))
            _demand_revision(found, expected_revision)
            now = self.clock()
            changes = {"deleted_at": iso(now), "deleted_by": caller.user_id}
            deleted = found.model_copy(update=changes)
            entry = self.audit.entry(
                caller,
                "delete_database",
                database_entity(database_id),
                before=attributes(found),
                after=attributes(deleted),
                at=now,
            )
            try:
                name = self.names.deleted("databaseId", database_id)
                return self.databases.put_away(found, deleted, entry, name)
            except DatabaseRevisionError:
                continue
            except DatabaseNotEmptyError as error:
                if error.assets:
                    raise
        raise DatabaseRevisionError(database_id)

    def purgeable(
        self, caller: Identity, database_id: str, *, expected_revision: int | None = None
    ) -> Database:
        """The deleted database, for a caller who may purge it.

        Raises:
            DatabaseActiveError: a database of the id is active.
            DatabaseNotFoundError: there is none, or the caller may not see it.
            DatabaseRevisionError: its revision is not the expected one.
            PermissionDeniedError: the caller may see it, and not purge it.
        """
        self.demand_known(caller, database_id)
        require(self.authorization, caller, "DELETE", secured(database_id))
        # A right of its own, which covers every asset in the database: deny rules for single
        # assets do not stop a purge.
        purge = Secured("databasePurge", {"databaseId": database_id})
        require(self.authorization, caller, "DELETE", purge)
        if self.databases.get(database_id) is not None:
            raise DatabaseActiveError(database_id)
        found = self.databases.get_deleted(database_id)
        if found is None:
            raise DatabaseNotFoundError(database_id)
        _demand_revision(found, expected_revision)
        return found

    def hold_writes(self, deleted: Database, job_id: str) -> list[Write]:
        """The writes that hold a deleted database's id for the job that purges it.

        Refused with DatabaseActiveError or DatabaseRevisionError.
        """
        return self.databases.hold_writes(deleted, job_id)

    def require_held(self, database_id: str, job_id: str) -> Write:
        """Refuses a transaction with PurgeEndedError unless the job still holds the id."""
        return self.databases.require_held(database_id, job_id)

    def is_held_by(self, database_id: str, job_id: str) -> bool:
        """Whether this job has still to remove what the deleted database left."""
        found = self.databases.get_deleted(database_id)
        return found is not None and found.purge_job_id == job_id

    def release(self, database_id: str, job_id: str) -> None:
        """Remove the row of a purged database, so that its id can be taken again.

        Raises:
            PurgeEndedError: the job does not hold the id any more.
        """
        self.databases.release(database_id, job_id)

    def bucket_of(self, database: Database) -> AssetBucket:
        """The bucket that new assets of the database get."""
        return self.buckets.get_bucket(database.default_bucket_id)

    def count_assets(self, database_id: str, asset_id: str, by: int) -> Write:
        """The write that counts an asset in or out, for the transaction that changes its state.

        It is refused with DatabaseNotFoundError where the database is absent or deleted: of a
        deletion of the database and this transaction, one wins.
        """
        return self.databases.count_assets(database_id, asset_id, by)

    def count_definition(self, database_id: str, kind: Definition, by: int) -> list[Write]:
        """The writes that count a pipeline or workflow in or out, for its own transaction.

        They are refused with DatabaseNotFoundError where the database is absent or deleted: of a
        deletion of the database and the transaction, one is refused.
        """
        return self.databases.count_definition(database_id, kind, by)

    def _demand_bucket(self, bucket_id: str) -> None:
        if self.buckets.find_bucket(bucket_id) is None:
            raise InvalidInputError.of("defaultBucketId", f"bucket {bucket_id} does not exist")


def _demand_revision(found: Database, expected: int | None) -> None:
    if expected is not None and expected != found.revision:
        raise DatabaseRevisionError(found.database_id)


def attributes(database: Database) -> dict[str, Any]:
    """A database as its audit entries hold it."""
    return database.model_dump(by_alias=True, exclude_none=True)


def secured(database_id: str) -> Secured:
    """A database as permissions see it."""
    return Secured("database", {"databaseId": database_id})
