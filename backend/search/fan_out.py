"""Rebuilds all files of an asset when something that they inherit from it has changed.

Durable and bounded: a job row says that the fan-out was started, queue messages carry a cursor,
and each message rebuilds one page of files.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from backend.core.clock import Clock, epoch_seconds, iso
from backend.core.errors import AlreadyExistsError
from backend.core.models import WireModel
from backend.core.objects import Objects
from backend.core.queues import Queues
from backend.core.tables import Tables
from backend.core.transactions import Item, Update, put_new
from backend.search.changes import FanOut
from backend.search.object_states import is_file
from backend.search.owners import BucketRegistry
from backend.search.rebuild import Rebuilder
from backend.search.references import AssetRef, FileRef, MalformedReferenceError, Reference
from backend.search.sources import asset_rows, prefix_of
from backend.spec.queues import FAN_OUT
from backend.spec.tables.operations import JOBS

PAGE_VERSIONS = 500
JOB_DAYS = 365
"""How long a job's row says that its fan-out was done; after that an edit of the asset may repeat
it, which costs time and does no harm."""


class Page(WireModel):
    """A message: the files of an asset, from a position in the listing of its objects on."""

    database_id: str
    asset_id: str
    inherited_revision: int
    after_key: str | None = None
    after_version_id: str | None = None
    files_done: int = 0


@dataclass(frozen=True, slots=True)
class FanOuts:
    """Starts fan-outs, once for each change."""

    tables: Tables
    queues: Queues
    clock: Clock

    def start(self, fan_outs: Iterable[FanOut]) -> None:
        """See to it that each of these has been queued.

        The row is put before the message is sent and marked after it, so that a writer that dies
        in between leaves a row which makes the next one send again.
        """
        for fan_out in sorted(fan_outs):
            key = {"jobId": job_id(fan_out)}
            row = self.tables.get(JOBS, key) or self._put(fan_out)
            if row["state"] == "created":
                self.queues.send(FAN_OUT, [_message(_first_page(fan_out))])
                _mark(self.tables, self.clock, fan_out, {"state": "queued"})

    def _put(self, fan_out: FanOut) -> Item:
        now = self.clock()
        row: Item = {
            "jobId": job_id(fan_out),
            "kind": "fanOut",
            "state": "created",
            "databaseId": fan_out.database_id,
            "assetId": fan_out.asset_id,
            "inheritedRevision": fan_out.inherited_revision,
            "filesDone": 0,
            "createdAt": iso(now),
            "updatedAt": iso(now),
            "expiresAt": epoch_seconds(now + timedelta(days=JOB_DAYS)),
        }
        try:
            self.tables.write(put_new(JOBS, row, AlreadyExistsError("the job is there already")))
        except AlreadyExistsError:
            return self.tables.get(JOBS, {"jobId": row["jobId"]}) or row
        return row


@dataclass(frozen=True, slots=True)
class FanOutWorker:
    """Works off one page of a fan-out a message."""

    tables: Tables
    objects: Objects
    registry: BucketRegistry
    queues: Queues
    rebuilder: Rebuilder
    clock: Clock

    def work(self, body: str) -> None:
        """Rebuild the page's files, then queue the next page.

        In this order, because a page that fails is delivered again: had it queued its successor
        first, each delivery would start a chain of its own.

        Raises:
            MalformedReferenceError: the message is not one of a fan-out.
        """
        try:
            page = Page.model_validate_json(body)
        except ValidationError as error:
            raise MalformedReferenceError(f"not a page of a fan-out: {error}") from error
        files, following = self._read(page)
        self.rebuilder.rebuild(files)
        fan_out = FanOut(page.database_id, page.asset_id, page.inherited_revision)
        done = page.files_done + len(files)
        if following is None:
            _mark(self.tables, self.clock, fan_out, {"state": "done", "filesDone": done})
            return
        self.queues.send(FAN_OUT, [_message(following.model_copy(update={"files_done": done}))])
        _mark(self.tables, self.clock, fan_out, {"state": "running", "filesDone": done})

    def _read(self, page: Page) -> tuple[set[Reference], Page | None]:
        asset = AssetRef(page.database_id, page.asset_id)
        row = asset_rows(self.tables, [asset]).get(asset)
        bucket_id = "" if row is None else str(row.get("bucketId"))
        bucket = self.registry.by_id([bucket_id]).get(bucket_id) if row else None
        prefix = "" if row is None else prefix_of(row)
        if bucket is None or not prefix:
            return set(), None  # the asset is gone, or nobody knows where its files are
        found = self.objects.list_versions(
            bucket.bucket_name,
            prefix,
            limit=PAGE_VERSIONS,
            after_key=page.after_key,
            after_version_id=page.after_version_id,
        )
        files: set[Reference] = {
            FileRef(page.database_id, page.asset_id, "/" + version.key.removeprefix(prefix))
            for version in found.versions
            if is_file(version.key)
        }
        if found.next_key is None:
            return files, None
        position = {"after_key": found.next_key, "after_version_id": found.next_version_id}
        return files, page.model_copy(update=position)


def job_id(fan_out: FanOut) -> str:
    """The key of a fan-out's job: one for each change of inherited attributes."""
    return f"fanout#{fan_out.database_id}#{fan_out.asset_id}#{fan_out.inherited_revision}"


def _first_page(fan_out: FanOut) -> Page:
    return Page(
        database_id=fan_out.database_id,
        asset_id=fan_out.asset_id,
        inherited_revision=fan_out.inherited_revision,
    )


def _message(page: Page) -> dict[str, Any]:
    return page.model_dump(by_alias=True)


def _mark(tables: Tables, clock: Clock, fan_out: FanOut, changes: Mapping[str, Any]) -> None:
    tables.write(
        Update(
            table=JOBS,
            key={"jobId": job_id(fan_out)},
            set={**changes, "updatedAt": iso(clock())},
        )
    )
