"""Routes of search, jobs, the audit log, failures and queues."""

from backend.spec.routes.model import Route

LIST_JOBS = Route(
    "GET", "/jobs", "jobs", "list_jobs", "List the jobs that you started, newest first", ours=True
)
GET_JOB = Route("GET", "/jobs/{jobId}", "jobs", "get_job", "Get the state of a job", ours=True)
CANCEL_JOB = Route("POST", "/jobs/{jobId}/cancel", "jobs", "cancel_job", "Cancel a job", ours=True)
RESUME_JOB = Route(
    "POST", "/jobs/{jobId}/resume", "jobs", "resume_job",
    "Resume a job that failed, or that was cancelled and is resumable", ours=True,
)  # fmt: skip
LIST_AUDIT_ENTRIES = Route(
    "GET", "/audit", "audit", "list_audit_entries",
    "List audit entries by object or by user", "audit", ours=True,
)  # fmt: skip
GET_AUDIT_VALUE = Route(
    "GET", "/audit/values/{valueHash}", "audit", "get_audit_value",
    "Get a value that is stored outside its audit entry", "audit", ours=True,
)  # fmt: skip
GET_SEARCH_MAPPINGS = Route(
    "GET", "/search", "search", "get_mappings", "Get the field mappings of both search indexes",
    statuses=(404,), throttle="search",
)  # fmt: skip
SEARCH = Route(
    "POST", "/search", "search", "search", "Search assets and files", tier2="GET",
    statuses=(202, 409, 410), awaits=True, throttle="search",
)  # fmt: skip
SUGGEST = Route(
    "GET", "/search/suggest", "search", "suggest",
    "Suggest names, tags, metadata keys and values by prefix", ours=True,
    statuses=(404,), throttle="search",
)  # fmt: skip
LIST_PREVIEWS = Route(
    "POST", "/previews", "search", "list_previews",
    "Get URLs of the previews of files and assets", tier2="GET", ours=True,
    statuses=(404,), throttle="search",
)  # fmt: skip
SEARCH_SIMPLE = Route(
    "POST", "/search/simple", "search", "search_simple", "Search by field values", tier2="GET",
    statuses=(409,), throttle="search",
)  # fmt: skip
GET_SEARCH_CONSISTENCY = Route(
    "GET", "/admin/search/consistency", "search_indexes", "get_consistency",
    "Get the state of the search indexes and the last consistency report", "searchIndex", ours=True,
    statuses=(404,),
)  # fmt: skip
CHECK_SEARCH_CONSISTENCY = Route(
    "POST", "/admin/search/consistency", "search_indexes", "check_consistency",
    "Start a consistency check of the search indexes", "searchIndex", ours=True,
    statuses=(404,),
)  # fmt: skip
REPAIR_SEARCH = Route(
    "POST", "/admin/search/repair", "search_indexes", "repair",
    "Rebuild search documents that differ, or named ones", "searchIndex", ours=True,
    statuses=(404,),
)  # fmt: skip
REINDEX_SEARCH = Route(
    "POST", "/admin/search/reindex", "search_indexes", "reindex",
    "Rebuild the search indexes; searches keep working meanwhile", "searchIndex", ours=True,
    statuses=(404, 409),
)  # fmt: skip
RENEW_FACTS = Route(
    "POST", "/admin/facts/renew", "search_indexes", "renew_facts",
    "Inspect files again whose facts an older version of the readers stored", "searchIndex",
    ours=True, statuses=(404,),
)  # fmt: skip
LIST_FAILURES = Route(
    "GET", "/admin/failures", "operations", "list_failures",
    "List changes that could not be indexed or processed", "failure", ours=True,
)  # fmt: skip
GET_FAILURE = Route(
    "GET", "/admin/failures/entry", "operations", "get_failure",
    "Get a failure with its stored message", "failure", ours=True, statuses=(404,),
)  # fmt: skip
REPLAY_FAILURES = Route(
    "POST", "/admin/failures/replay", "operations", "replay_failures",
    "Replay failures: by key, all of one consumer, or all", "failure", ours=True,
)  # fmt: skip
LIST_QUEUES = Route(
    "GET", "/admin/queues", "queues", "list_queues",
    "List the queues with their depths and dead letters", "queue", ours=True,
)  # fmt: skip
REDRIVE_QUEUE = Route(
    "POST", "/admin/queues/{queueName}/redrive", "queues", "redrive_queue",
    "Move the dead letters of a queue back into the queue", "queue", ours=True,
)  # fmt: skip
