"""The step of the job that has files inspected again.

These are files whose facts an older version of the readers stored, or whose inspection failed, and
then, if formats are chosen, their files without facts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from backend.core.paging import PageRequest
from backend.core.queues import Queues
from backend.core.references import FileKeyRef, FileRef
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
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

Place = Sequence[str]
"""Database, asset and key of the file after which a walk continues; empty at its beginning."""
WalkFiles = Callable[[Place, str | None], tuple[Sequence[FileKeyRef], Place] | None]
"""Returns the next files, all or of a database, and the place after them; None at the end."""


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
    walk: WalkFiles

    def __call__(self, job: Job) -> Progress:
        """Request the inspections of one page of files.

        Raises:
            UnavailableError: a service does not respond; the step is repeated.
        """
        if self.waiting(MOST_WAITING) >= MOST_WAITING:
            return Progress(job.cursor, wait_seconds=_LONG_PAUSE)
        formats = frozenset[str](job.parameters.get("formats") or ())
        if "walked" in job.cursor:
            return self.request_unread(job, formats)
        request = PageRequest(PAGE, job.cursor.get("after"))
        page = self.facts.list_inspected(job.parameters.get("databaseId"), request)
        wanted = [
            item.ref
            for item in page.items
            if item.is_old and (not formats or extension_of(item.ref.path) in formats)
        ]
        assets = self.assets.find_many_active(file.asset for file in wanted)
        targets = [(assets[file.asset], file.path) for file in wanted if file.asset in assets]
        messages = self._send(job, targets)
        finished = page.after is None and not formats
        return Progress(
            {"walked": []} if page.after is None else {"after": dict(page.after)},
            items=len(messages),
            finished=finished,
            wait_seconds=_PAUSE if messages and not finished else 0,
        )

    def request_unread(self, job: Job, formats: frozenset[str]) -> Progress:
        """Request the inspections of some files of these formats that no reader read."""
        walked = self.walk(job.cursor["walked"], job.parameters.get("databaseId"))
        if walked is None:
            return Progress(finished=True)
        files, after = walked
        files = [file for file in files if extension_of(file.key) in formats]
        if len(files) > PAGE:
            files = files[:PAGE]
            last = files[-1]
            after = (last.database_id, last.asset_id, last.key)
        assets = self.assets.find_many_active(file.asset for file in files)
        targets = [
            (asset, "/" + file.key.removeprefix(asset.asset_location.key))
            for file in files
            if (asset := assets.get(file.asset)) is not None
        ]
        known = self.facts.sources_of(targets)
        unread = [
            target for target in targets if FileRef(*target[0].ref.ids, target[1]) not in known
        ]
        messages = self._send(job, unread)
        wait = _PAUSE if messages else 0
        return Progress({"walked": list(after)}, items=len(messages), wait_seconds=wait)

    def _send(self, job: Job, targets: Iterable[tuple[Asset, str]]) -> list[dict[str, Any]]:
        """Request the inspections of files by their paths. Return the messages."""
        messages: list[dict[str, Any]] = []
        renewal = {"jobId": job.job_id, "createdAt": job.created_at}
        for asset, path in targets:
            bucket, prefix = self.assets.location(asset)
            key = {"key": prefix + path.removeprefix("/")}
            detail = {"bucket": {"name": bucket}, "object": key, "renewal": renewal}
            messages.append({"detail": detail})
        if messages:
            self.queues.send(UPLOAD_TRIGGERS, messages)
        return messages
