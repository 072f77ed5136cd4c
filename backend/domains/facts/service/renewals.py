"""The step of the job that has files inspected again.

These are files whose facts an older version of the readers stored, or whose inspection failed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from backend.core.paging import PageRequest
from backend.core.queues import Queues
from backend.core.references import AssetRef
from backend.domains.assets.service.commands import AssetService
from backend.domains.facts.models import InspectedFile
from backend.domains.facts.repository import FactRepository
from backend.domains.jobs.models import Job, Progress
from backend.spec.formats import extension_of
from backend.spec.queues import UPLOAD_TRIGGERS

# Files that one step checks: one batch read returns their versions (decision 88).
PAGE = 100
# Waiting executions up to which a step requests more. Each execution that ends reads all waiting
# ones.
MOST_WAITING = 200
_PAUSE, _LONG_PAUSE = 2, 15  # seconds until what a step requested waits, and until it is admitted


@dataclass(eq=False, repr=False)
class FactRenewalStep:
    """`waiting` returns how many executions wait, up to the given number.

    Only the message is sent here: the consumer of uploads decides whether a file is inspected, and
    starts it once for each job.
    """

    facts: FactRepository
    assets: AssetService
    queues: Queues
    waiting: Callable[[int], int]

    def __call__(self, job: Job) -> Progress:
        """Request the inspections of one page of files.

        Raises:
            UnavailableError: a service does not respond; the step is repeated.
        """
        if self.waiting(MOST_WAITING) >= MOST_WAITING:
            return Progress(job.cursor, wait_seconds=_LONG_PAUSE)
        request = PageRequest(PAGE, job.cursor.get("after"))
        page = self.facts.list_inspected(job.parameters.get("databaseId"), request)
        formats = frozenset[str](job.parameters.get("formats") or ())
        wanted = [
            item
            for item in page.items
            if item.is_old and (not formats or extension_of(item.path) in formats)
        ]
        messages = self._messages(job, wanted)
        if messages:
            self.queues.send(UPLOAD_TRIGGERS, messages)
        finished = page.after is None
        return Progress(
            {} if page.after is None else {"after": dict(page.after)},
            items=len(messages),
            finished=finished,
            wait_seconds=_PAUSE if messages and not finished else 0,
        )

    def _messages(self, job: Job, old: Iterable[InspectedFile]) -> list[dict[str, Any]]:
        """Return a message for each file; those of missing or archived assets are left out."""
        files: dict[AssetRef, list[str]] = {}
        for file in old:
            files.setdefault(AssetRef(file.database_id, file.asset_id), []).append(file.path)
        messages: list[dict[str, Any]] = []
        renewal = {"jobId": job.job_id, "createdAt": job.created_at}
        for ref, paths in files.items():
            asset = self.assets.find_asset(*ref.ids)
            if asset is None or asset.is_archived:
                continue
            bucket, prefix = self.assets.location(asset)
            for path in paths:
                key = {"key": prefix + path.removeprefix("/")}
                detail = {"bucket": {"name": bucket}, "object": key, "renewal": renewal}
                messages.append({"detail": detail})
        return messages
