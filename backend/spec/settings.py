"""Settings of a deployment that functions read from their environment.

The stage gives the values (cdk.json); the defaults here are those of production.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """A named whole number or text; `variable` is its environment variable."""

    name: str
    default: int | str
    description: str

    @property
    def variable(self) -> str:
        return f"SETTING_{self.name}"


SETTLE_DELAY_SECONDS = Setting(
    "SETTLE_DELAY_SECONDS",
    900,
    "How long after a rebuild that read a global secondary index its documents are built again.",
)
UPLOAD_RATE_PER_MINUTE = Setting(
    "UPLOAD_RATE_PER_MINUTE", 20, "Upload initialisations per user and minute."
)
MAX_URL_SECONDS = 3600
"""A presigned URL lives no longer, whatever a stage says."""
PRESIGNED_URL_SECONDS = Setting(
    "PRESIGNED_URL_SECONDS", 3600, "How long a presigned URL lives, 3600 at the most."
)
LARGE_FILE_BYTES = Setting(
    "LARGE_FILE_BYTES", 1024**3, "Larger files are put in their place by a worker, not a request."
)
ADMIN_USER_ID = Setting("ADMIN_USER_ID", "admin", "The user who may do everything.")
AUDIT_DAYS = Setting(
    "AUDIT_DAYS", 400, "How long audit entries can be read before they move to the archive."
)
SYNC_DATABASE_ID = Setting(
    "SYNC_DATABASE_ID",
    "imported",
    "The database of assets that are found in a bucket whose record names none; made when missing.",
)
IMPORTED_BUCKETS = Setting(
    "IMPORTED_BUCKETS",
    "",
    "Buckets of others that may be registered to hold assets: their names, joined by commas.",
)
WEB_URL = Setting("WEB_URL", "", "Where the web application is served, if it is.")

SETTINGS = (
    SETTLE_DELAY_SECONDS,
    UPLOAD_RATE_PER_MINUTE,
    PRESIGNED_URL_SECONDS,
    LARGE_FILE_BYTES,
    ADMIN_USER_ID,
    AUDIT_DAYS,
    SYNC_DATABASE_ID,
    IMPORTED_BUCKETS,
    WEB_URL,
)
