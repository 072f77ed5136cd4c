"""The functions that operate a deployment: authorization, bootstrap, replays and checks."""

from dataclasses import replace

from backend.spec import buckets, queues, secrets, settings
from backend.spec.functions.model import Function, api, audited
from backend.spec.functions.workers import DOCUMENT_SOURCES, JOB_STARTER
from backend.spec.tables import access, assets, operations, registry, workflows

AUTHORIZER = Function(
    "Authorizer",
    "authorizer",
    "backend.entrypoints.authorizer.handler",
    "Authenticates callers. Permissions are checked by the other functions.",
    reads=(access.USERS,),  # whether a key belongs to a user of the pool
    writes=(access.API_KEYS,),  # the time of a key's last use
    secrets=(secrets.API_KEY_PEPPER,),
    settings=(
        settings.OIDC_ISSUER,
        settings.OIDC_AUDIENCES,
        settings.OIDC_USER_CLAIM,
        settings.OIDC_USER_PREFIX,
        settings.OIDC_EMAIL_CLAIM,
        settings.OIDC_MFA_CLAIM,
        settings.OIDC_MFA_VALUES,
        settings.ALLOWED_ADDRESSES,
    ),
    user_pool="read",
    memory_mb=512,
    timeout_seconds=10,
)

BOOTSTRAP = Function(
    "Bootstrap",
    "bootstrap",
    "backend.entrypoints.bootstrap.handler",
    "Sets up a new deployment before its first request; can be repeated safely.",
    reads=(buckets.ASSET_BUCKET,),
    writes=(
        operations.SEARCH_STATE,
        registry.ASSET_BUCKETS,
        registry.FEATURES,
        access.CONSTRAINTS,
        access.POLICIES,
        access.ROLES,
        access.USERS,
        access.USER_ROLES,
        access.API_KEYS,
        workflows.PIPELINES,
        workflows.WORKFLOWS,
    ),
    secrets=(secrets.API_KEY_PEPPER, secrets.ADMIN_API_KEY),
    rewrites=(secrets.ADMIN_API_KEY,),
    settings=(settings.ADMIN_USER_ID, settings.OIDC_ISSUER, settings.PROCESSING),
    search="manage",
    user_pool="known",
    reads_quotas=True,
    timeout_seconds=300,
)


ADMIN_API = replace(
    audited(
        api(
            "AdminApi",
            "operations",
            "Lists and replays changes that could not be indexed.",
            reads=DOCUMENT_SOURCES,
            writes=(operations.SEARCH_STATE, operations.JOBS, buckets.FAILURE_BUCKET),
            secrets=(secrets.PAGE_TOKEN_KEY,),
            settings=(settings.SETTLE_DELAY_SECONDS,),
            search="write",
        )
    ),
    # Poison of a queue goes back into it; object events are read at once.
    sends=tuple(queue for queue in queues.QUEUES if queue is not queues.OBJECT_EVENTS),
)
QUEUES_API = replace(
    audited(
        api("QueuesApi", "queues", "Reports the depth of queues, and moves dead letters back.")
    ),
    redrives=queues.QUEUES,
)
REPLAY_FAILURES = audited(
    Function(
        "ReplayFailures",
        "scheduled",
        "backend.entrypoints.scheduled.replays.handler",
        "Replays batches abandoned by event source mappings of streams, with growing pauses.",
        reads=DOCUMENT_SOURCES,
        writes=(operations.SEARCH_STATE, operations.JOBS, buckets.FAILURE_BUCKET),
        sends=(queues.SETTLE, *JOB_STARTER.sends),
        settings=(settings.SETTLE_DELAY_SECONDS,),
        search="write",
        memory_mb=1024,
        timeout_seconds=120,
    )
)
SEARCH_INDEXES_API = audited(
    api(
        "SearchIndexesApi",
        "search_indexes",
        "Reports the state of the search indexes, and starts jobs on them and on facts.",
        reads=(assets.ASSETS, assets.DATABASES),  # whether what a request names exists
        writes=(operations.SEARCH_STATE, operations.JOBS),
        search="inspect",
    )
)
CHECK_SEARCH = audited(
    Function(
        "CheckSearch",
        "scheduled",
        "backend.entrypoints.scheduled.search_checks.handler",
        "Starts the scheduled consistency check of the search indexes.",
        writes=(operations.SEARCH_STATE, operations.JOBS),
        timeout_seconds=30,
    )
)
SWEEP_TOMBSTONES = Function(
    "SweepTombstones",
    "scheduled",
    "backend.entrypoints.scheduled.tombstones.handler",
    "Removes tombstones of deleted documents after a day.",
    reads=(operations.SEARCH_STATE,),
    search="sweep",
    timeout_seconds=120,
)
