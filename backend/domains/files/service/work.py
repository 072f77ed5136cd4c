"""One step's view of a change of files, and how a change ends."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.rebuild_requests import RebuildRequests
from backend.core.transactions import Check
from backend.core.wired import wired
from backend.domains.assets.models import Asset
from backend.domains.assets.service import AssetService
from backend.domains.files.models import ChangeCursor, FileChange
from backend.domains.files.repository import FileChangeRepository
from backend.domains.files.service.queries import FileService
from backend.domains.files.service.target import FileTarget
from backend.domains.jobs.models import Job, Progress

CHANGE, PINNED = "change", "pinned"
"""Parameters of the job: what was asked for, and the S3 version that it is about."""


class Work(NamedTuple):
    """A job, its parameters and cursor, and the file or folder that it names in its asset."""

    job: Job
    change: FileChange
    cursor: ChangeCursor
    target: FileTarget

    @property
    def asset(self) -> Asset:
        return self.target.asset

    @property
    def caller(self) -> Identity:
        return Identity(self.job.created_by)

    @property
    def version_id(self) -> str | None:
        """The version that is copied."""
        return self.cursor.version_id or self.job.parameters.get(PINNED)

    @property
    def mark(self) -> str:
        """What the versions bear that this change writes."""
        return f"{self.job.job_id.rpartition('.')[2]}.{self.cursor.turn}"


def goes_on(cursor: ChangeCursor, *, items: int = 0) -> Progress:
    """A step after which there is another one."""
    return Progress(_dumped(cursor), items=items)


def _dumped(cursor: ChangeCursor) -> dict[str, Any]:
    return cursor.model_dump(by_alias=True, exclude_none=True)


@wired
class Endings:
    """What follows from a change of files, and that others may change them again.

    A worker may sleep for longer than it has the job, which others end meanwhile: before it writes
    over what it has read, it looks whether that is still the change's.
    """

    changes: FileChangeRepository
    files: FileService
    assets: AssetService
    reindexing: RebuildRequests

    def finished(
        self,
        work: Work,
        paths: Iterable[str],
        *,
        items: int = 0,
        made: str | None = None,
        retyped: bool = True,
    ) -> Progress:
        """The last step; `retyped` says that the asset's type may be another one now."""
        self.build_again(work, paths)
        if retyped:
            self._follow(work.asset)
        self.changes.release(work.asset.asset_id, work.job.job_id)
        cursor = work.cursor.model_copy(update={"made": made or work.cursor.made})
        return Progress(_dumped(cursor), items=items, finished=True)

    def demand_under_way(self, work: Work) -> None:
        """Go on only if the change has not ended.

        Raises:
            ChangeEndedError: another worker has ended it.
        """
        self.changes.demand_unfinished(work.job.job_id, work.asset.asset_id)

    def under_way(self, work: Work) -> Check:
        """Demands the same of a transaction."""
        return self.changes.under_way(work.job.job_id, work.asset.asset_id)

    def build_again(self, work: Work, paths: Iterable[str]) -> None:
        """Ask for the documents: object events bring them too, but none may be lost."""
        wanted = sorted(set(paths))
        if wanted:
            self.reindexing.files(work.asset.database_id, work.asset.asset_id, wanted)

    def _follow(self, asset: Asset) -> None:
        """Write the asset's type until it stays: uploads may end at the same time."""
        with suppress(NotFoundError):  # archived or deleted meanwhile: the type does not matter
            while (asset_type := self.files.asset_type(asset)) != asset.asset_type:
                asset = self.assets.set_content(asset, asset_type=asset_type)
