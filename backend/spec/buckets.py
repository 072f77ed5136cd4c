"""The S3 buckets and the prefixes of their access logs; `key_layouts` declares their keys."""

from backend.spec.key_layouts import (
    EXPORTS_DAYS,
    EXPORTS_PREFIX,
    RUNS_DAYS,
    RUNS_PREFIX,
    TEMP_UPLOADS_PREFIX,
)
from backend.spec.tables.model import Origin
from backend.values import frozen


@frozen
class Bucket:
    """An S3 bucket; `name` is the logical id, CloudFormation names the physical bucket.

    `expire_days` empties the bucket after that many days; `expire_prefixes` does so for keys below
    a prefix only. `events` sends object events to EventBridge. `cors` lets browsers use presigned
    URLs. `log_prefix` is the prefix of its access logs in the access-log bucket.
    """

    name: str
    description: str
    versioned: bool = False
    events: bool = False
    cors: bool = False
    log_prefix: str | None = None
    expire_days: int | None = None
    expire_prefixes: tuple[tuple[str, int], ...] = ()
    origin: Origin = "data model"


CHECKSUM_METADATA = "vitrine-sha256"
"""Object metadata: the base64 SHA-256 of the bytes, as the uploader sent it."""
CHECKSUM_VERIFIED_METADATA = "vitrine-sha256-verified"
"""Object metadata: `true` if the server read the bytes and the checksum matched."""
UPLOAD_METADATA = "vitrine-upload"
"""Object metadata: the id of the upload that created this version."""
# Object metadata: the id of the change that copied this version. A repeated change finds its own
# copy by this id.
CHANGE_METADATA = "vitrine-change"
WORKFLOWS_METADATA = "vitrine-workflows"
"""Object metadata: the workflows, comma-separated, whose executions led to this version."""
PREVIEW_METADATA = "vitrine-preview"
"""Object metadata: `generated` on previews that the product created; previews of users do not have
it."""
GENERATED = "generated"
# Object metadata: the primary type. VAMS defines the name.
PRIMARY_TYPE_METADATA = "vams-primarytype"

# Object tag: the result of the malware scan of this version. GuardDuty defines the name.
SCAN_TAG = "GuardDutyMalwareScanStatus"
THREATS_FOUND = "THREATS_FOUND"
NO_THREATS_FOUND = "NO_THREATS_FOUND"
"""Values of that tag, and of the result in a scan's event."""

ACCESS_LOG_DAYS = 90
# An upload can be completed for seven days, and its large files are copied after that.
ABORT_MULTIPART_DAYS = 8
# S3 counts from the start of the upload, also for objects assembled on its seventh day. The worker
# then has another seven days.
TEMP_UPLOADS_DAYS = 15

ASSET_BUCKET = Bucket(
    "AssetBucket",
    "All files of assets; every version is kept.",
    versioned=True,
    events=True,
    cors=True,
    log_prefix="asset-bucket-logs/",
    expire_prefixes=((TEMP_UPLOADS_PREFIX, TEMP_UPLOADS_DAYS),),
)
AUXILIARY_BUCKET = Bucket(
    "AssetAuxiliaryBucket",
    "Working files and viewer data, such as octrees, that can be generated again.",
    cors=True,
    log_prefix="assetAuxiliary-bucket-logs/",
    expire_prefixes=((RUNS_PREFIX, RUNS_DAYS), (EXPORTS_PREFIX, EXPORTS_DAYS)),
)
WEB_APP_BUCKET = Bucket(
    "WebAppBucket",
    "The built web application.",
    log_prefix="webApp-bucket-logs/",
)
ARTEFACTS_BUCKET = Bucket(
    "ArtefactsBucket",
    "Template notebooks and deployment artefacts.",
    log_prefix="artefacts-bucket-logs/",
)
ACCESS_LOGS_BUCKET = Bucket(
    "AccessLogsBucket",
    "Server access logs of the other buckets.",
    expire_days=ACCESS_LOG_DAYS,
)
FAILURE_BUCKET = Bucket(
    "FailureBucket",
    (
        "Changes that could not be indexed, with their message and the reason, until they are "
        "replayed."
    ),
    log_prefix="failure-bucket-logs/",
    origin="ours",
)

AUDIT_ARCHIVE_BUCKET = Bucket(
    "AuditArchiveBucket",
    "Expired audit entries, and values that are too large for an entry, by hash.",
    log_prefix="audit-archive-bucket-logs/",
    origin="ours",
)

BUCKETS = (
    ASSET_BUCKET,
    AUXILIARY_BUCKET,
    WEB_APP_BUCKET,
    ARTEFACTS_BUCKET,
    ACCESS_LOGS_BUCKET,
    FAILURE_BUCKET,
    AUDIT_ARCHIVE_BUCKET,
)
