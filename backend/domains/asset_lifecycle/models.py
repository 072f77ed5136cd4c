"""The bodies and replies of the routes, and the cursors of the jobs."""

from typing import Literal

from backend.core.models import Confirmation, OptionalBody, SentModel, WireModel
from backend.core.names import Reason
from backend.domains.assets.models import Location
from backend.domains.jobs.models import JobState

# A deletion sweeps at least twice: the second sweep removes what running requests wrote, and what
# indexes did not contain yet.
MIN_SWEEPS = 2
# Each waits for the settle delay, which is longer than any request: after ten, something else keeps
# writing there, and the id must become free.
MAX_SWEEPS = 10

Operation = Literal["archive", "unarchive", "delete"]


class ArchiveBody(OptionalBody):
    """The request itself confirms the archiving, which can be undone; `false` is rejected."""

    confirm_archive: Confirmation = True
    reason: Reason | None = None


class UnarchiveBody(SentModel):
    """Without `unarchiveFiles`, the files archived with the asset return too, as in VAMS 2.5.

    In VAMS 2.6 they then remain archived: its page sends the field always, its command line only if
    it is true.
    """

    confirm_unarchive: Confirmation
    reason: Reason | None = None
    unarchive_files: bool = True


class DeleteBody(WireModel):
    confirm_permanent_delete: Confirmation
    reason: Reason | None = None


class ArchiveVersionBody(OptionalBody):
    """`confirm_archive_asset` is required for the current version: its asset is archived too."""

    confirm_archive_asset: bool = False
    reason: Reason | None = None


class UnarchiveVersionBody(OptionalBody):
    reason: Reason | None = None


class LifecycleReply(WireModel):
    """The operation reply of the contract, with the id of the job that does the remaining work."""

    success: bool = True
    message: str
    asset_id: str
    operation: Operation
    timestamp: str
    job_id: str
    job_state: JobState


class ArchivedPage(WireModel):
    """Archived files, by their paths without a leading slash; `page` is the key of the page."""

    page: str
    paths: list[str]


class ArchiveCursor(WireModel):
    """The progress of an archiving.

    `page` counts the stored pages of files, `after` is the last key of the listing that was
    processed, `taken` counts the files of this pass through the listing.
    """

    page: int = 0
    after: str | None = None
    passes: int = 0
    taken: int = 0


class DeletedAsset(WireModel):
    """The asset of a deletion job, whose row no longer exists."""

    bucket_id: str
    asset_location: Location


class DeleteCursor(WireModel):
    """The progress of a deletion: sweep, part of the sweep, and position.

    `found` counts what this sweep has removed.
    """

    sweep: int = 0
    part: int = 0
    after: dict[str, str] | None = None
    found: int = 0
