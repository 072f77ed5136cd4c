"""The last import of each bucket: one item per bucket in the table of reservations."""

from dataclasses import dataclass

from backend.core.tables import Tables
from backend.core.transactions import Update, Write, absent, equals
from backend.domains.bucket_sync.errors import ImportRunningError
from backend.spec.tables.operations import RESERVATIONS

_KEY = RESERVATIONS.partition_key.name
_JOB = "jobId"


@dataclass(eq=False, repr=False)
class ImportRepository:
    tables: Tables

    def last_job(self, bucket_id: str) -> str | None:
        """Return the job of the last import of a bucket, in any state."""
        item = self.tables.get(RESERVATIONS, _key(bucket_id))
        return None if item is None else str(item[_JOB])

    def begin(self, bucket_id: str, job_id: str, *, last: str | None, others: list[Write]) -> None:
        """Make this job the last one if `last` still is, with other writes, all or nothing.

        Raises:
            ImportRunningError: another import was started meanwhile.
        """
        mine = Update(
            table=RESERVATIONS,
            key=_key(bucket_id),
            set={_JOB: job_id},
            conditions=(absent(_KEY) if last is None else equals(_JOB, last),),
            refused=ImportRunningError(bucket_id),
        )
        self.tables.transact([mine, *others])


def _key(bucket_id: str) -> dict[str, str]:
    return {_KEY: f"BucketImport#{bucket_id}"}
