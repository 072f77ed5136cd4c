"""The request that purges a deleted database: one transaction, then a job.

The transaction reserves the id: until the job has ended, no database with it can be created.
"""

from dataclasses import dataclass

from backend.core.identity import Identity
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.database_purges import rules
from backend.domains.database_purges.repository import PurgeRepository
from backend.domains.databases.errors import DatabasePurgingError, DatabaseRevisionError
from backend.domains.databases.models import Database
from backend.domains.databases.service import DatabaseService, StartedPurge, attributes
from backend.domains.jobs.service.commands import JobService
from backend.spec.jobs import PURGE_DATABASE

_ATTEMPTS = 8  # of a request that conflicts with another purge, or a creation and deletion


@dataclass(eq=False, repr=False)
class PurgeCommands:
    """Implements the port `databases.service.Purges`."""

    repository: PurgeRepository
    databases: DatabaseService
    jobs: JobService
    audit: AuditService

    def purge_database(
        self,
        caller: Identity,
        database_id: str,
        *,
        reason: str | None = None,
        expected_revision: int | None = None,
    ) -> StartedPurge:
        """Start the job that removes the remains of a deleted database, including archived assets.

        Raises:
            DatabaseActiveError: a database with the id is active.
            DatabaseNotFoundError: it does not exist, or the caller may not see it.
            DatabasePurgingError: it is already being purged.
            DatabaseRevisionError: its revision is not the expected one.
            PermissionDeniedError: the caller may see it, but not purge it.
        """
        # By hand: a revision other than the expected one is refused at once.
        for _ in range(_ATTEMPTS):
            database = self.databases.purgeable(
                caller, database_id, expected_revision=expected_revision
            )
            # Refuse while a job reserves the id; a job whose row has expired has ended.
            running = database.purge_job_id
            if running is not None and self.jobs.find(running) is not None:
                raise DatabasePurgingError(database.database_id, running)
            try:
                return self._start(caller, database, reason)
            except DatabaseRevisionError:
                continue
        raise DatabaseRevisionError(database_id)

    def _start(self, caller: Identity, database: Database, reason: str | None) -> StartedPurge:
        job = self.jobs.new(
            PURGE_DATABASE,
            rules.job_id(database),
            caller=caller,
            database_id=database.database_id,
        )
        after = {"purgeJobId": job.job_id}
        entry = self.audit.entry(
            caller,
            "purge_database",
            audit_entity("database", database.database_id),
            before=attributes(database),
            after=after if reason is None else {**after, "purgedReason": reason},
        )
        held = self.databases.reservation_writes(database, job.job_id)
        self.repository.commit([*held, self.jobs.put(job), entry])
        return StartedPurge(job.job_id, job.state)
