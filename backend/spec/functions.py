"""Every deployed function: its handler, what it reads, writes and sends, its size.

Grants and environment derive from these; a function has nothing that it does not use.
"""

from dataclasses import dataclass, replace
from typing import Literal

from backend.spec import buckets, queues, secrets, settings
from backend.spec.buckets import Bucket
from backend.spec.queues import Queue
from backend.spec.secrets import Secret
from backend.spec.settings import Setting
from backend.spec.tables import access, assets, metadata, operations, registry, workflows
from backend.spec.tables.model import Table

Kind = Literal["api", "consumer", "authorizer", "bootstrap", "scheduled"]
SearchAccess = Literal["none", "read", "write"]


@dataclass(frozen=True, slots=True)
class Function:
    """One Lambda function; `writes` (tables and buckets) includes reading them.

    `appends` are tables and buckets to which it adds what it may neither read nor change.
    `rewrites` are those of its `secrets` whose values it may change. `loops` says that it sends
    messages to itself: Lambda stops loops that are not allowed after 16 rounds. `redrives` are
    queues whose dead letters it may move back.
    """

    name: str
    kind: Kind
    handler: str
    description: str
    reads: tuple[Table | Bucket, ...] = ()
    writes: tuple[Table | Bucket, ...] = ()
    appends: tuple[Table | Bucket, ...] = ()
    sends: tuple[Queue, ...] = ()
    redrives: tuple[Queue, ...] = ()
    secrets: tuple[Secret, ...] = ()
    rewrites: tuple[Secret, ...] = ()
    settings: tuple[Setting, ...] = ()
    search: SearchAccess = "none"
    domain: str | None = None
    memory_mb: int = 512
    timeout_seconds: int = 29
    loops: bool = False

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(r for r in self._used if isinstance(r, Table))

    @property
    def receives(self) -> tuple[Queue, ...]:
        """The queues that wake it."""
        return tuple(s.source for s in queues.QUEUE_SUBSCRIPTIONS if s.consumer == self.name)

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        return tuple(r for r in self._used if isinstance(r, Bucket))

    @property
    def _used(self) -> tuple[Table | Bucket, ...]:
        return (*self.reads, *self.writes, *self.appends)


def _api(
    name: str,
    domain: str,
    description: str,
    *,
    reads: tuple[Table | Bucket, ...] = (),
    writes: tuple[Table | Bucket, ...] = (),
    secrets: tuple[Secret, ...] = (),
    settings: tuple[Setting, ...] = (),
    search: SearchAccess = "none",
) -> Function:
    """A function behind the HTTP API; each one reads the caller's roles."""
    return Function(
        name,
        "api",
        f"backend.entrypoints.http.{domain}.handler",
        description,
        reads=(*reads, access.USER_ROLES),
        writes=writes,
        secrets=secrets,
        settings=settings,
        search=search,
        domain=domain,
        memory_mb=1024,
    )


def _audited(function: Function) -> Function:
    """The function, which also makes entries of what it writes."""
    return replace(
        function,
        appends=(*function.appends, operations.AUDIT, buckets.AUDIT_ARCHIVE_BUCKET),
        settings=(*function.settings, settings.AUDIT_DAYS),
    )


CONFIGURATION_API = _api(
    "ConfigurationApi",
    "configuration",
    "Version, client configuration, features.",
    reads=(registry.FEATURES,),
    settings=(settings.WEB_URL,),
)
ACCESS_API = _audited(
    _api(
        "AccessApi",
        "access",
        "API keys.",
        writes=(access.API_KEYS,),
        secrets=(secrets.API_KEY_PEPPER, secrets.PAGE_TOKEN_KEY),
    )
)
BUCKETS_API = _api(
    "BucketsApi",
    "buckets",
    "The asset buckets.",
    reads=(registry.ASSET_BUCKETS,),
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
DATABASES_API = _audited(
    _api(
        "DatabasesApi",
        "databases",
        "Databases.",
        reads=(registry.ASSET_BUCKETS,),
        writes=(assets.DATABASES, operations.RESERVATIONS),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
TAGS_API = _audited(
    _api(
        "TagsApi",
        "tags",
        "Tags and tag types.",
        writes=(registry.TAGS, registry.TAG_TYPES, operations.JOBS),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
ASSETS_API = _audited(
    _api(
        "AssetsApi",
        "assets",
        "Assets.",
        reads=(
            assets.DATABASES,
            registry.ASSET_BUCKETS,
            registry.TAGS,
            registry.TAG_TYPES,
            buckets.ASSET_BUCKET,
        ),
        writes=(assets.ASSETS, assets.ASSET_VERSIONS, operations.RESERVATIONS),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
FILES_API = _api(
    "FilesApi",
    "files",
    "Files of assets.",
    reads=(
        assets.ASSETS,
        assets.DATABASES,
        assets.ASSET_VERSIONS,
        assets.ASSET_FILE_VERSIONS,
        registry.ASSET_BUCKETS,
        buckets.ASSET_BUCKET,
    ),
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
UPLOADS_API = _audited(
    _api(
        "UploadsApi",
        "uploads",
        "Uploads by presigned multipart.",
        reads=(assets.DATABASES, registry.ASSET_BUCKETS),
        writes=(
            assets.ASSET_UPLOADS,
            assets.ASSETS,
            operations.JOBS,
            operations.RESERVATIONS,
            buckets.ASSET_BUCKET,
        ),
        settings=(
            settings.UPLOAD_RATE_PER_MINUTE,
            settings.PRESIGNED_URL_SECONDS,
            settings.LARGE_FILE_BYTES,
        ),
    )
)
DOWNLOADS_API = _api(
    "DownloadsApi",
    "downloads",
    "Presigned URLs of files and previews.",
    reads=(
        assets.ASSETS,
        assets.DATABASES,
        registry.ASSET_BUCKETS,
        assets.ASSET_VERSIONS,
        assets.ASSET_FILE_VERSIONS,
        buckets.ASSET_BUCKET,
    ),
    settings=(settings.PRESIGNED_URL_SECONDS,),
)
METADATA_API = _audited(
    _api(
        "MetadataApi",
        "metadata",
        "Metadata of assets and files, attributes of files.",
        reads=(
            assets.ASSETS,
            assets.DATABASES,
            assets.ASSET_VERSIONS,
            assets.ASSET_FILE_METADATA_VERSIONS,
            registry.ASSET_BUCKETS,
            buckets.ASSET_BUCKET,
        ),
        writes=(metadata.ASSET_FILE_METADATA, metadata.FILE_ATTRIBUTES),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
SEARCH_API = _api(
    "SearchApi",
    "search",
    "Search over assets and files.",
    reads=(operations.SEARCH_STATE,),
    search="read",
)

LIFECYCLE_API = replace(
    _audited(
        _api(
            "LifecycleApi",
            "asset_lifecycle",
            "Archives assets, brings them back and deletes them; jobs do the rest.",
            reads=(registry.ASSET_BUCKETS,),
            writes=(
                assets.ASSETS,
                assets.ARCHIVED_FILES,
                operations.JOBS,
                operations.RESERVATIONS,
                buckets.ASSET_BUCKET,
            ),
        )
    ),
    sends=(queues.SETTLE,),
    settings=(settings.AUDIT_DAYS, settings.SETTLE_DELAY_SECONDS),
)
JOBS_API = _api(
    "JobsApi",
    "jobs",
    "Long work: its state, cancelling and resuming it.",
    reads=(assets.ASSETS,),
    writes=(operations.JOBS,),
)

AUDIT_API = _api(
    "AuditApi",
    "audit",
    "Who changed what, and when.",
    reads=(operations.AUDIT, buckets.AUDIT_ARCHIVE_BUCKET),
    secrets=(secrets.PAGE_TOKEN_KEY,),
)

AUTHORIZER = Function(
    "Authorizer",
    "authorizer",
    "backend.entrypoints.authorizer.handler",
    "Says who the caller is; never what the caller may do.",
    writes=(access.API_KEYS,),  # the time of a key's last use
    secrets=(secrets.API_KEY_PEPPER,),
    memory_mb=512,
    timeout_seconds=10,
)

BOOTSTRAP = Function(
    "Bootstrap",
    "bootstrap",
    "backend.entrypoints.bootstrap.handler",
    "Makes what a new deployment needs before its first request; safe to run again.",
    reads=(buckets.ASSET_BUCKET,),
    writes=(
        operations.SEARCH_STATE,
        registry.ASSET_BUCKETS,
        registry.FEATURES,
        access.ROLES,
        access.USERS,
        access.USER_ROLES,
        access.API_KEYS,
    ),
    secrets=(secrets.API_KEY_PEPPER, secrets.ADMIN_API_KEY),
    rewrites=(secrets.ADMIN_API_KEY,),
    settings=(settings.ADMIN_USER_ID,),
    search="write",
    timeout_seconds=300,
)


DOCUMENT_SOURCES: tuple[Table | Bucket, ...] = (
    assets.ASSETS,
    metadata.ASSET_FILE_METADATA,
    metadata.FILE_ATTRIBUTES,
    registry.ASSET_BUCKETS,
    operations.RESERVATIONS,
    buckets.ASSET_BUCKET,
)
"""What a rebuild of documents reads."""


def _indexer(
    name: str,
    handler: str,
    description: str,
    *,
    writes: tuple[Table, ...] = (),
    sends: tuple[Queue, ...] = (queues.SETTLE,),
    loops: bool = False,
) -> Function:
    """A consumer on the indexing path: all of them end in the same rebuild."""
    return Function(
        name,
        "consumer",
        handler,
        description,
        reads=DOCUMENT_SOURCES,
        writes=(operations.SEARCH_STATE, *writes, buckets.FAILURE_BUCKET),
        sends=sends,
        settings=(settings.SETTLE_DELAY_SECONDS,),
        search="write",
        memory_mb=1024,
        timeout_seconds=120,
        loops=loops,
    )


INDEX_CHANGES = _indexer(
    "IndexChanges",
    "backend.entrypoints.streams.changes.handler",
    "Rebuilds the documents that changes of tables touch.",
    writes=(operations.JOBS,),
)
INDEX_OBJECTS = _indexer(
    "IndexObjects",
    "backend.entrypoints.streams.objects.handler",
    "Rebuilds the documents that object events touch.",
)
INDEX_SETTLE = _indexer(
    "IndexSettle",
    "backend.entrypoints.streams.settle.handler",
    "Rebuilds documents again once the table indexes they were read from have caught up.",
)
INDEX_FAN_OUT = _indexer(
    "IndexFanOut",
    "backend.entrypoints.streams.fan_out.handler",
    "Rebuilds the files of assets whose name, tags or state they inherit, page by page.",
    writes=(operations.JOBS,),
    sends=(queues.SETTLE, queues.FAN_OUT),
    loops=True,
)

AUDIT_CREATIONS = _audited(
    Function(
        "AuditCreations",
        "consumer",
        "backend.entrypoints.streams.creations.handler",
        "Makes the audit entries of new assets.",
        writes=(buckets.FAILURE_BUCKET,),
        timeout_seconds=60,
    )
)
AUDIT_ARCHIVER = Function(
    "AuditArchiver",
    "consumer",
    "backend.entrypoints.streams.expired_entries.handler",
    "Archives audit entries that expired.",
    writes=(buckets.FAILURE_BUCKET,),
    appends=(buckets.AUDIT_ARCHIVE_BUCKET,),
    timeout_seconds=60,
)
JOB_STARTER = Function(
    "JobStarter",
    "consumer",
    "backend.entrypoints.jobs.starter.handler",
    "Sends the first message of each job to the queue of its kind.",
    writes=(buckets.FAILURE_BUCKET,),  # the mapping's destination for what was never taken
    sends=(queues.FAN_OUT, queues.LIFECYCLE, queues.LARGE_FILES),
    timeout_seconds=30,
)
LEFT_BY_ASSETS: tuple[Table, ...] = (
    assets.ASSET_VERSIONS,
    assets.ASSET_FILE_VERSIONS,
    assets.ASSET_FILE_METADATA_VERSIONS,
    assets.ASSET_UPLOADS,
    assets.ASSET_LINKS,
    assets.ASSET_LINKS_METADATA,
    metadata.ASSET_FILE_METADATA,
    metadata.FILE_ATTRIBUTES,
    registry.COMMENTS,
    registry.SUBSCRIPTIONS,
    workflows.WORKFLOW_EXECUTIONS,
)
"""Tables from which a deletion removes the rows of an asset."""

LIFECYCLE_WORKER = _audited(
    Function(
        "LifecycleWorker",
        "consumer",
        "backend.entrypoints.jobs.lifecycle.handler",
        "Does the jobs that archive, bring back, delete and clean up, step by step.",
        reads=(assets.DATABASES, registry.TAGS, registry.ASSET_BUCKETS),
        writes=(
            assets.ASSETS,
            assets.ARCHIVED_FILES,
            *LEFT_BY_ASSETS,
            operations.JOBS,
            operations.RESERVATIONS,
            buckets.ASSET_BUCKET,
            buckets.AUXILIARY_BUCKET,
            buckets.FAILURE_BUCKET,
        ),
        sends=(queues.LIFECYCLE, queues.SETTLE),
        settings=(settings.SETTLE_DELAY_SECONDS,),
        memory_mb=1024,
        timeout_seconds=120,
        loops=True,
    )
)

LARGE_FILE_WORKER = _audited(
    Function(
        "LargeFileWorker",
        "consumer",
        "backend.entrypoints.jobs.large_files.handler",
        "Puts large files together, checks them and copies them to their place, part by part.",
        reads=(assets.DATABASES, registry.ASSET_BUCKETS),
        writes=(
            assets.ASSET_UPLOADS,
            assets.ASSETS,
            operations.JOBS,
            buckets.ASSET_BUCKET,
            buckets.FAILURE_BUCKET,
        ),
        sends=(queues.LARGE_FILES,),
        settings=(settings.LARGE_FILE_BYTES,),
        memory_mb=1024,
        timeout_seconds=120,
        loops=True,
    )
)

ADMIN_API = replace(
    _api(
        "AdminApi",
        "operations",
        "What keeps a deployment right: failures and dead letters.",
        reads=DOCUMENT_SOURCES,
        writes=(operations.SEARCH_STATE, operations.JOBS, buckets.FAILURE_BUCKET),
        secrets=(secrets.PAGE_TOKEN_KEY,),
        settings=(settings.SETTLE_DELAY_SECONDS,),
        search="write",
    ),
    # Poison of a queue goes back into it; object events are read at once.
    sends=tuple(queue for queue in queues.QUEUES if queue is not queues.OBJECT_EVENTS),
    redrives=queues.QUEUES,
)
REPLAY_FAILURES = Function(
    "ReplayFailures",
    "scheduled",
    "backend.entrypoints.scheduled.replays.handler",
    "Replays what the mappings of streams gave up, with pauses that grow.",
    reads=DOCUMENT_SOURCES,
    writes=(operations.SEARCH_STATE, operations.JOBS, buckets.FAILURE_BUCKET),
    sends=(queues.SETTLE, *JOB_STARTER.sends),
    settings=(settings.SETTLE_DELAY_SECONDS,),
    search="write",
    memory_mb=1024,
    timeout_seconds=120,
)
SWEEP_TOMBSTONES = Function(
    "SweepTombstones",
    "scheduled",
    "backend.entrypoints.scheduled.tombstones.handler",
    "Removes tombstones of deleted documents after a day.",
    reads=(operations.SEARCH_STATE,),
    search="write",
    timeout_seconds=120,
)

FUNCTIONS: tuple[Function, ...] = (
    CONFIGURATION_API,
    ACCESS_API,
    BUCKETS_API,
    DATABASES_API,
    TAGS_API,
    ASSETS_API,
    FILES_API,
    UPLOADS_API,
    DOWNLOADS_API,
    METADATA_API,
    SEARCH_API,
    LIFECYCLE_API,
    JOBS_API,
    AUDIT_API,
    ADMIN_API,
    AUTHORIZER,
    BOOTSTRAP,
    INDEX_CHANGES,
    INDEX_OBJECTS,
    INDEX_SETTLE,
    INDEX_FAN_OUT,
    AUDIT_CREATIONS,
    AUDIT_ARCHIVER,
    JOB_STARTER,
    LIFECYCLE_WORKER,
    LARGE_FILE_WORKER,
    REPLAY_FAILURES,
    SWEEP_TOMBSTONES,
)
