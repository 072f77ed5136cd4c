"""The step of the job that has files inspected again.

These are files whose facts an older version of the readers stored, and files without facts whose
inspection failed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from backend.core.objects import Objects
from backend.core.paging import Page, PageRequest, Position
from backend.core.queues import Queues
from backend.core.references import AssetRef
from backend.domains.assets.service.commands import AssetService
from backend.domains.facts.models import FailedInspection, InspectedFile
from backend.domains.facts.repository import FactRepository
from backend.domains.jobs.models import Job, Progress
from backend.spec.formats import extension_of
from backend.spec.queues import UPLOAD_TRIGGERS
from backend.spec.shipped import SHIPPED

PAGE = 100
"""Files that one step checks."""
# Each execution that ends reads all waiting ones.
MOST_WAITING = 200
"""Waiting executions up to which a step requests more."""
_PAUSE, _LONG_PAUSE = 2, 15  # seconds until what a step requested waits, and until it is admitted


Failed = Callable[[str, PageRequest], Page[FailedInspection]]
_Files = tuple[Position | None, list[InspectedFile]]


@dataclass(eq=False, repr=False)
class FactRenewalStep:
    """`waiting` returns how many executions wait, up to the given number; `failed` those of a page
    of the executions of a shipped workflow that failed.

    Only the message is sent here: the consumer of uploads decides whether a file is inspected, and
    starts it once for each job.
    """

    facts: FactRepository
    assets: AssetService
    objects: Objects
    queues: Queues
    waiting: Callable[[int], int]
    failed: Failed

    def __call__(self, job: Job) -> Progress:
        """Request the inspections of one page of files.

        Raises:
            UnavailableError: a service does not respond; the step is repeated.
        """
        if self.waiting(MOST_WAITING) >= MOST_WAITING:
            return Progress(job.cursor, wait_seconds=_LONG_PAUSE)
        phase = int(job.cursor.get("workflow", 0))
        request = PageRequest(PAGE, job.cursor.get("after"))
        after, files = (
            self._failed(job, SHIPPED[phase - 1].id, request) if phase else self._old(job, request)
        )
        formats = frozenset[str](job.parameters.get("formats") or ())
        wanted = [one for one in files if not formats or extension_of(one.path) in formats]
        messages = self._messages(job, wanted)
        if messages:
            self.queues.send(UPLOAD_TRIGGERS, messages)
        finished = after is None and phase == len(SHIPPED)
        cursor = {"workflow": phase + (after is None)} | ({"after": dict(after)} if after else {})
        return Progress(
            {} if finished else cursor,
            items=len(messages),
            finished=finished,
            wait_seconds=_PAUSE if messages and not finished else 0,
        )

    def _old(self, job: Job, request: PageRequest) -> _Files:
        """Return the files of a page that an older version of the readers read."""
        page = self.facts.inspected(job.parameters.get("databaseId"), request)
        return page.after, [one for one in page.items if one.is_old]

    def _failed(self, job: Job, workflow: str, request: PageRequest) -> _Files:
        """Return the files whose current version has no facts because its inspection failed."""
        page = self.failed(workflow, request)
        wanted = job.parameters.get("databaseId")
        files: list[InspectedFile] = []
        for one in dict.fromkeys(page.items):
            asset = self.assets.find_asset(one.database_id, one.asset_id)
            if asset is None or wanted not in {None, one.database_id}:
                continue
            bucket, prefix = self.assets.location(asset)
            # The list of versions names the current one to a function that may read no object.
            newest = next(iter(self.objects.list_versions(bucket, one.key, limit=1).versions), None)
            if newest is None or (newest.key, newest.version_id) != (one.key, one.version_id):
                continue
            path = f"/{one.key.removeprefix(prefix)}"
            if self.facts.source_of(asset, path)[0] != one.version_id:
                files.append(InspectedFile(one.database_id, one.asset_id, path, is_old=True))
        return page.after, files

    def _messages(self, job: Job, old: Iterable[InspectedFile]) -> list[dict[str, Any]]:
        """Return a message for each file; those of missing or archived assets are left out."""
        files: dict[AssetRef, list[str]] = {}
        for one in old:
            files.setdefault(AssetRef(one.database_id, one.asset_id), []).append(one.path)
        found: list[dict[str, Any]] = []
        renewal = {"jobId": job.job_id, "createdAt": job.created_at}
        for ref, paths in files.items():
            asset = self.assets.find_asset(*ref.ids)
            if asset is None or asset.is_archived:
                continue
            bucket, prefix = self.assets.location(asset)
            for path in paths:
                key = {"key": prefix + path.removeprefix("/")}
                detail = {"bucket": {"name": bucket}, "object": key, "renewal": renewal}
                found.append({"detail": detail})
        return found
