"""The functions that operate a deployment: authorization, bootstrap, replays and checks."""

from dataclasses import replace

from backend.spec import queues, secrets, settings
from backend.spec.buckets import ASSET_BUCKET
from backend.spec.functions import workers
from backend.spec.functions.model import Function, api
from backend.spec.functions.request_parts import AUDITED, REPLAYS, SOURCES
from backend.spec.tables import access, assets, operations, registry, workflows

AUTHORIZER = Function(
    "Authorizer",
    "authorizer",
    "backend.entrypoints.authorizer.handler",
    "Authenticates callers. Permissions are checked by the other functions.",
    uses={
        # The update is the time of a key's last use.
        access.API_KEYS: ("BatchGetItem", "QueryIndexes", "UpdateItem"),
        access.USERS: ("BatchGetItem",),  # reads whether the key belongs to a user of the pool
        operations.RESERVATIONS: ("GetItem",),  # the client of the page
    },
    secrets=(secrets.API_KEY_PEPPER, secrets.PAGE_EDGE_KEY),
    settings=(
        settings.PAGE,
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
    # Bounds also an identity provider that sends its reply byte by byte (decision 32).
    timeout_seconds=10,
)

BOOTSTRAP = Function(
    "Bootstrap",
    "bootstrap",
    "backend.entrypoints.bootstrap.handler",
    "Sets up a new deployment before its first request; can be repeated safely.",
    uses={
        operations.SEARCH_STATE: ("GetItem", "UpdateItem"),
        operations.RESERVATIONS: ("DeleteItem", "PutItem"),  # the record of the page
        registry.ASSET_BUCKETS: ("PutItem",),
        registry.FEATURES: ("BatchWriteItem",),
        access.CONSTRAINTS: ("PutItem", "Scan"),
        access.POLICIES: (
            *("BatchGetItem", "ConditionCheckItem", "GetItem"),
            *("PutItem", "UpdateItem"),
        ),
        access.ROLES: ("PutItem",),
        access.USERS: ("PutItem",),
        access.USER_ROLES: ("PutItem",),
        access.API_KEYS: ("GetItem", "PutItem", "UpdateItem"),
        workflows.PIPELINES: (
            *("BatchGetItem", "ConditionCheckItem", "GetItem"),
            *("PutItem", "UpdateItem"),
        ),
        workflows.WORKFLOWS: ("GetItem", "PutItem"),
        ASSET_BUCKET: (),  # only its name is used
    },
    secrets=(secrets.API_KEY_PEPPER, secrets.ADMIN_API_KEY),
    rewrites=(secrets.ADMIN_API_KEY,),
    settings=(settings.ADMIN_USER_ID, settings.OIDC_ISSUER, settings.PROCESSING),
    search="manage",
    user_pool="known",
    reads_quotas=True,
    timeout_seconds=300,
)


ADMIN_API = api(
    "AdminApi",
    "operations",
    "Lists and replays changes that could not be indexed.",
    uses={**AUDITED, **SOURCES, **REPLAYS},
    secrets=(secrets.PAGE_TOKEN_KEY,),
    settings=(settings.SETTLE_DELAY_SECONDS, settings.EVENTS),
    search="write",
    # Poison of a queue goes back into it; object events are read at once, reads are not stored.
    sends=tuple(q for q in queues.QUEUES if q not in {queues.OBJECT_EVENTS, queues.READS}),
)
QUEUES_API = replace(
    api(
        "QueuesApi",
        "queues",
        "Reports the depth of queues, and moves dead letters back.",
        uses=AUDITED,
        settings=(settings.EVENTS,),
    ),
    redrives=queues.QUEUES,
)
REPLAY_FAILURES = Function(
    "ReplayFailures",
    "scheduled",
    "backend.entrypoints.scheduled.replays.handler",
    "Replays batches abandoned by event source mappings of streams, with growing pauses.",
    uses={**AUDITED, **SOURCES, **REPLAYS},
    sends=(queues.SETTLE, queues.OUTGOING_EVENTS, *workers.JOB_STARTER.sends),
    settings=(settings.SETTLE_DELAY_SECONDS, settings.AUDIT_DAYS, settings.EVENTS),
    search="write",
    memory_mb=1024,
    timeout_seconds=120,
)
SEARCH_INDEXES_API = api(
    "SearchIndexesApi",
    "search_indexes",
    "Reports the state of the search indexes, and starts jobs on them and on facts.",
    uses={
        **AUDITED,
        # checks that the database or asset in the request exists
        assets.ASSETS: ("BatchGetItem",),
        assets.DATABASES: ("GetItem",),
        operations.SEARCH_STATE: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem"),
    },
    search="inspect",
)
CHECK_SEARCH = Function(
    "CheckSearch",
    "scheduled",
    "backend.entrypoints.scheduled.search_checks.handler",
    "Starts the scheduled consistency check of the search indexes.",
    uses={
        **AUDITED,
        operations.SEARCH_STATE: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem"),
    },
    timeout_seconds=30,
    settings=(settings.AUDIT_DAYS,),
)
SWEEP_TOMBSTONES = Function(
    "SweepTombstones",
    "scheduled",
    "backend.entrypoints.scheduled.tombstones.handler",
    "Removes tombstones of deleted documents after a day.",
    uses={operations.SEARCH_STATE: ("GetItem",)},
    search="sweep",
    timeout_seconds=120,
)
