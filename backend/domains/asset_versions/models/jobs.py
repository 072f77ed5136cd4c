"""The parameters, the progress and the result of jobs that create versions."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field

from backend.core.models import WireModel

# With their sizes below, a part of the job's item, of at most 400 KB.
MAX_SKIPPED = 500
# Maximum size of the skipped files in a job's row; further ones are only counted.
MAX_SKIPPED_BYTES = 64 * 1024

Source = Literal["latest", "named", "version"]


class VersionPlan(WireModel):
    """The parameters of a job that creates a version.

    `request_id` identifies data of this job alone: the list of the requested files, and the copies
    of a revert. `after` is the job that was started before this one for the same asset: versions
    are made in the order in which they were requested.
    """

    # Jobs that an earlier release started have it under its old name.
    request_id: Annotated[str, Field(validation_alias=AliasChoices("requestId", "snapshotId"))]
    asset_created_at: str
    operation: Literal["create", "revert"] = "create"
    source: Source
    comment: str
    version_alias: str = ""
    pages: int = 0
    """Number of pages of files that the request named."""
    of_version: str | None = None
    of_snapshot: str | None = None
    revert_metadata: bool = False
    after: str | None = None


class Capture(WireModel):
    """The progress of a version's creation: the cursor of the job.

    `number` is the version's id, which is drawn before the first step; all rows are written under
    it. A resumed job draws another one.
    `problem` is why the creation was aborted, while its rows are removed. `records` counts the live
    metadata that was read, `looks` how often the job waited for its index. `copy_id` identifies the
    unfinished copy of a large file, the one after `after`. `attempted`: the files after `after` may
    have been copied already; `again`: any file may, because the job was resumed. `files` counts
    those of the snapshot; `skipped` names files that were skipped, as many as fit, and
    `skipped_count` counts them all.
    """

    part: Literal[
        "files", "records", "restore", "clear", "metadata", "attribute", "count", "commit", "sweep"
    ] = "files"
    number: str = ""
    problem: str = ""
    after: dict[str, Any] | None = None
    copy_id: str | None = None
    attempted: bool = False
    again: bool = False
    records: int = 0
    looks: int = 0
    files: int = 0
    skipped: list[str] = Field(default_factory=list)
    skipped_count: int = 0

    @property
    def is_new(self) -> bool:
        """Whether nothing was written yet."""
        return self.part == "files" and not (self.after or self.files or self.attempted)

    def with_skipped(self, paths: Sequence[str]) -> "Capture":
        """Return the cursor with more skipped files."""
        named = list(self.skipped)
        room = MAX_SKIPPED_BYTES - sum(len(path.encode()) for path in named)
        for path in paths:
            room -= len(path.encode())
            if len(named) == MAX_SKIPPED or room < 0:
                break
            named.append(path)
        count = self.skipped_count + len(paths)
        return self.model_copy(update={"skipped": named, "skipped_count": count})


class CreatedVersion(WireModel):
    """The created version: the result of the job."""

    asset_version_id: str
    at: str
    skipped: list[str] = Field(default_factory=list)
    skipped_count: int = 0
