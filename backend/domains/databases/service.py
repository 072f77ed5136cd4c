"""Operations on databases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.names import GLOBAL
from backend.core.paging import Page, PageRequest, Position, fill
from backend.core.transactions import Write
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.buckets.models import AssetBucket
from backend.domains.buckets.service import BucketService
from backend.domains.databases.errors import (
    DatabaseActiveError,
    DatabaseDefinitionsError,
    DatabaseNotEmptyError,
    DatabaseNotFoundError,
    DatabasePurgingError,
    DatabaseRevisionError,
    PurgeEndedError,
)
from backend.domains.databases.models import (
    CountedDatabase,
    CreateDatabaseBody,
    Database,
    UpdateDatabaseBody,
)
from backend.domains.databases.repository import DatabaseRepository
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

_ATTEMPTS = 8  # of a deletion that conflicts with edits, or with new or deleted assets


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


@dataclass(eq=False, repr=False)
class DatabaseService:
    databases: DatabaseRepository
    buckets: BucketService
    names: DeletedNames
    authorization: Authorization
    audit: AuditService
    clock: Clock

    def create_database(self, caller: Identity, body: CreateDatabaseBody) -> Database:
        """Create a database whose assets are stored in the default bucket.

        The id of a deleted database may be used again; its archived assets then belong to the new
        one.

        Raises:
            DatabaseExistsError: the id is in use.
            DatabasePurgingError: a deleted database with the id is being purged.
            InvalidInputError: the bucket does not exist.
            PermissionDeniedError: the caller may not create it, or rules use a deleted database
                with the id and the caller is not an administrator.
        """
        require(self.authorization, caller, "POST", secured(body.database_id))
        self.names.require_unruled(caller, "databaseId", body.database_id)
        self._check_bucket(body.default_bucket_id)
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
            audit_entity("database", body.database_id),
            after=attributes(database),
            at=now,
        )
        self.databases.put_new(database, entry)
        return database

    def get_database(self, caller: Identity, database_id: str) -> Database:
        """Return the database.

        Raises:
            DatabaseNotFoundError: it does not exist, or the caller may not see it.
        """
        if not self.may_see(caller, database_id):
            raise DatabaseNotFoundError(database_id)
        database = self.databases.get(database_id)
        if database is None:
            raise DatabaseNotFoundError(database_id)
        return database

    def describe_database(
        self, caller: Identity, database_id: str, *, show_deleted: bool = False
    ) -> CountedDatabase:
        """Return the database with its count; with `show_deleted` the last deleted one.

        Raises:
            DatabaseNotFoundError: it does not exist, or the caller may not see it.
        """
        if not self.may_see(caller, database_id):
            raise DatabaseNotFoundError(database_id)
        counted = self.databases.get_counted(database_id, deleted=show_deleted)
        if counted is None:
            raise DatabaseNotFoundError(database_id)
        return counted

    def may_see(self, caller: Identity, database_id: str) -> bool:
        """Return whether the caller may see a database with this id; nothing is read of it."""
        return self.authorization.may(caller, "GET", secured(database_id))

    def is_listed(self, caller: Identity, partition: str) -> bool:
        """Return whether such a row, active or deleted, exists and is visible to the caller."""
        return self.may_see(caller, active(partition)) and self.databases.get(partition) is not None

    def check_known(self, caller: Identity, database_id: str) -> None:
        """Require that a database with that id is active, or deleted and not purged.

        Raises:
            DatabaseNotFoundError: it does not exist, or the caller may not see it.
        """
        known = self.may_see(caller, database_id) and (
            self.databases.get(database_id) or self.databases.get_deleted(database_id)
        )
        if not known:
            raise DatabaseNotFoundError(database_id)

    def find_database(self, database_id: str) -> Database | None:
        """Return the active database of an id, for other slices: no permission is checked."""
        return self.databases.get(database_id)

    def is_processed(self, database_id: str) -> bool:
        """Return whether a database lets shipped workflows run on uploads."""
        database = self.find_database(database_id)
        return database is not None and database.processing

    def list_databases(
        self, caller: Identity, page: PageRequest, *, show_deleted: bool = False
    ) -> Page[Database]:
        """List the active, or the deleted, databases that the caller may see, in no order."""

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

    def list_with_assets(self, caller: Identity, page: PageRequest) -> Page[Database]:
        """Return those of a page of active databases that contain active assets."""
        databases = self.list_databases(caller, page)
        return Page(
            tuple(database for database in self.counted(databases.items) if database.asset_count),
            databases.after,
        )

    def list_known(self, caller: Identity, page: PageRequest) -> Page[Database]:
        """List the databases that the caller may see, one row for each id, in no order.

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
        """List databases, active and deleted, in no order: for jobs, no permission is checked."""
        return self.databases.list_registry(page)

    def position_of(self, database: Database) -> Position:
        """Return the position of a database in the registry."""
        return {DATABASES.partition_key.name: database.partition}

    def counted(self, databases: Sequence[Database]) -> list[CountedDatabase]:
        """Return the databases with the numbers of their active assets.

        No permission is checked.
        """
        return self.databases.counted(databases)

    def update_database(
        self,
        caller: Identity,
        database_id: str,
        body: UpdateDatabaseBody,
        *,
        expected_revision: int | None = None,
    ) -> Database:
        """Change the fields of the body.

        Raises:
            DatabaseNotFoundError: it does not exist, or the caller may not see it.
            DatabaseRevisionError: its revision is not the expected one.
            InvalidInputError: the bucket does not exist.
        """
        database = self.get_database(caller, database_id)
        require(self.authorization, caller, "PUT", secured(database_id))
        _check_revision(database, expected_revision)
        if body.default_bucket_id is not None:
            self._check_bucket(body.default_bucket_id)
        changes = body.model_dump(by_alias=True, exclude_none=True)
        before = attributes(database)
        entry = self.audit.entry(
            caller,
            "update_database",
            audit_entity("database", database_id),
            before=before,
            after=before | changes,
        )
        return self.databases.change(database, changes, entry)

    def delete_database(
        self, caller: Identity, database_id: str, *, expected_revision: int | None = None
    ) -> None:
        """Delete a database without active assets (soft); its archived assets remain archived.

        Raises:
            DatabaseDefinitionsError: it has active pipelines, workflows or tag types.
            DatabaseNotEmptyError: it has active assets.
            DatabaseNotFoundError: it does not exist, or the caller may not see it.
            DatabaseRevisionError: its revision is not the expected one, or it is changed
                concurrently at every attempt.
        """
        # By hand: a revision other than the expected one is refused at once.
        for _ in range(_ATTEMPTS):
            database = self.get_database(caller, database_id)
            require(self.authorization, caller, "DELETE", secured(database_id))
            _check_revision(database, expected_revision)
            now = self.clock()
            changes = {"deleted_at": iso(now), "deleted_by": caller.user_id}
            deleted = database.model_copy(update=changes)
            entry = self.audit.entry(
                caller,
                "delete_database",
                audit_entity("database", database_id),
                before=attributes(database),
                after=attributes(deleted),
                at=now,
            )
            try:
                name = self.names.deleted("databaseId", database_id)
                return self.databases.mark_deleted(database, deleted, entry, name)
            except DatabaseRevisionError:
                continue
            except DatabaseNotEmptyError as error:
                if error.assets:
                    raise
        raise DatabaseRevisionError(database_id)

    def purgeable(
        self, caller: Identity, database_id: str, *, expected_revision: int | None = None
    ) -> Database:
        """Return the deleted database, for a caller who may purge it.

        Raises:
            DatabaseActiveError: a database with the id is active.
            DatabaseNotFoundError: it does not exist, or the caller may not see it.
            DatabaseRevisionError: its revision is not the expected one.
            PermissionDeniedError: the caller may see it, but not purge it.
        """
        self.check_known(caller, database_id)
        require(self.authorization, caller, "DELETE", secured(database_id))
        # A separate permission, which covers every asset in the database: deny rules for single
        # assets do not prevent a purge.
        purge = Secured("databasePurge", {"databaseId": database_id})
        require(self.authorization, caller, "DELETE", purge)
        if self.databases.get(database_id) is not None:
            raise DatabaseActiveError(database_id)
        deleted = self.databases.get_deleted(database_id)
        if deleted is None:
            raise DatabaseNotFoundError(database_id)
        _check_revision(deleted, expected_revision)
        return deleted

    def reservation_writes(self, deleted: Database, job_id: str) -> list[Write]:
        """Return the writes that reserve a deleted database's id for the job that purges it.

        Refused with DatabaseActiveError or DatabaseRevisionError.
        """
        return self.databases.reservation_writes(deleted, job_id)

    def require_held(self, database_id: str, job_id: str) -> Write:
        """Refuse a transaction with PurgeEndedError unless the job still reserves the id."""
        return self.databases.require_held(database_id, job_id)

    def is_held_by(self, database_id: str, job_id: str) -> bool:
        """Return whether this job still has to remove the remains of the deleted database."""
        deleted = self.databases.get_deleted(database_id)
        return deleted is not None and deleted.purge_job_id == job_id

    def release(self, database_id: str, job_id: str) -> None:
        """Remove the row of a purged database, so that its id can be used again.

        Raises:
            PurgeEndedError: the job no longer reserves the id.
        """
        self.databases.release(database_id, job_id)

    def bucket_of(self, database: Database) -> AssetBucket:
        """Return the bucket for new assets of the database."""
        return self.buckets.get_bucket(database.default_bucket_id)

    def count_assets(self, database_id: str, asset_id: str, by: int) -> Write:
        """Return the write that counts an asset in or out, for the transaction of its change.

        It is refused with DatabaseNotFoundError if the database does not exist or is deleted, so
        that of this transaction and a deletion of the database only one succeeds.
        """
        return self.databases.count_assets(database_id, asset_id, by)

    def count_definition(self, database_id: str, kind: Definition, by: int) -> list[Write]:
        """Return the writes that count a definition in or out, for its own transaction.

        They are refused with DatabaseNotFoundError if the database does not exist or is deleted, so
        that of the transaction and a deletion of the database only one succeeds. Those of GLOBAL
        are not counted.
        """
        if database_id == GLOBAL:
            return []
        return self.databases.count_definition(database_id, kind, by)

    def _check_bucket(self, bucket_id: str) -> None:
        if self.buckets.find_bucket(bucket_id) is None:
            raise InvalidInputError.of("defaultBucketId", f"bucket {bucket_id} does not exist")


def _check_revision(database: Database, expected: int | None) -> None:
    if expected is not None and expected != database.revision:
        raise DatabaseRevisionError(database.database_id)


def attributes(database: Database) -> dict[str, Any]:
    """Return a database as its audit entries contain it."""
    return database.model_dump(by_alias=True, exclude_none=True)


def secured(database_id: str) -> Secured:
    """Return a database as permissions see it."""
    return Secured("database", {"databaseId": database_id})
