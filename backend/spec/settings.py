"""Settings of a deployment that functions read from their environment.

cdk.json sets the values of each stage; the defaults here are those of production.
"""

from backend.values import frozen


@frozen
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
    "Delay after which documents are rebuilt again if a global secondary index was read.",
)
SEARCH_GRACE_SECONDS = Setting(
    "SEARCH_GRACE_SECONDS",
    30,
    "Delay after which a check compares differing documents again: twice the usual lag.",
)
SEARCH_KEEP_SECONDS = Setting(
    "SEARCH_KEEP_SECONDS",
    86_400,
    (
        "Period after a reindex in which the old indexes are kept up to date, so that it can "
        "be undone."
    ),
)
UPLOAD_RATE_PER_MINUTE = Setting(
    "UPLOAD_RATE_PER_MINUTE", 20, "Maximum uploads that a user can start in a minute."
)
SUBSCRIBERS_PER_MINUTE = Setting(
    "SUBSCRIBERS_PER_MINUTE", 60, "Maximum users that a caller can subscribe to assets in a minute."
)
MAX_URL_SECONDS = 3600
"""A presigned URL lives no longer, whatever a stage says."""
PRESIGNED_URL_SECONDS = Setting(
    "PRESIGNED_URL_SECONDS", 3600, "Validity of presigned URLs, at most 3600 seconds."
)
LARGE_FILE_BYTES = Setting(
    "LARGE_FILE_BYTES", 1024**3, "Larger files are completed by a worker after the reply."
)
ADMIN_USER_ID = Setting("ADMIN_USER_ID", "admin", "User id of the administrator.")
AUDIT_DAYS = Setting(
    "AUDIT_DAYS", 400, "Period in which audit entries can be read before they are archived."
)
AUDIT_READS = Setting(
    "AUDIT_READS",
    1,
    (
        "1: downloads, streams, exports, presigned URLs and started uploads are recorded in "
        "the audit log, and refused with 503 if that is not possible. 0: they are not recorded."
    ),
)
SYNC_DATABASE_ID = Setting(
    "SYNC_DATABASE_ID",
    "imported",
    (
        "Database for assets found in a bucket without a default database; created if it does "
        "not exist."
    ),
)
IMPORTED_BUCKETS = Setting(
    "IMPORTED_BUCKETS",
    "",
    "Names of further buckets that may be registered as asset storage, comma-separated.",
)
NAME_HIDDEN_ASSETS = Setting(
    "NAME_HIDDEN_ASSETS",
    0,
    (
        "1: exports contain the ids of linked assets that the caller may not see, and of the "
        "links to them, as in VAMS. 0: only their number."
    ),
)
MALWARE_SCAN = Setting(
    "MALWARE_SCAN",
    0,
    (
        "1: GuardDuty scans files uploaded to the asset bucket; versions in which it finds "
        "malware are quarantined."
    ),
)
OIDC_ISSUER = Setting(
    "OIDC_ISSUER",
    "",
    (
        "Issuer (`iss`) of the identity provider whose tokens are accepted in addition to the "
        "user pool's; empty: none."
    ),
)
OIDC_AUDIENCES = Setting(
    "OIDC_AUDIENCES", "", "Accepted audiences (`aud`) of the provider's tokens, comma-separated."
)
OIDC_USER_CLAIM = Setting("OIDC_USER_CLAIM", "sub", "Claim that contains the user's name.")
OIDC_USER_PREFIX = Setting("OIDC_USER_PREFIX", "", "Prefix of the user's name in the user id.")
OIDC_EMAIL_CLAIM = Setting("OIDC_EMAIL_CLAIM", "email", "Claim that contains the email address.")
OIDC_MFA_CLAIM = Setting("OIDC_MFA_CLAIM", "amr", "The claim that states how the user signed in.")
OIDC_MFA_VALUES = Setting(
    "OIDC_MFA_VALUES", "mfa", "Values of that claim that mean MFA, comma-separated."
)
OIDC_CLIENT_ID = Setting(
    "OIDC_CLIENT_ID", "", "Client id with which web clients sign in at the provider."
)
OIDC_SCOPE = Setting("OIDC_SCOPE", "openid email", "Scopes that web clients request.")
OIDC_SCOPE_MFA = Setting(
    "OIDC_SCOPE_MFA", "", "Additional scope that web clients request for MFA, if any."
)
ALLOWED_ADDRESSES = Setting(
    "ALLOWED_ADDRESSES",
    "",
    (
        "Addresses from which requests with credentials are accepted: ranges such as "
        "192.0.2.0-192.0.2.255, comma-separated; empty: all."
    ),
)
EXECUTIONS_AT_ONCE = Setting(
    "EXECUTIONS_AT_ONCE", 50, "Maximum number of concurrent executions; others wait."
)
EXECUTION_SILENCE_SECONDS = Setting(
    "EXECUTION_SILENCE_SECONDS",
    300,
    "Delay after which Step Functions is queried about an execution without an end event.",
)
WEB_URL = Setting("WEB_URL", "", "URL of the web application, if there is one.")

ALLOWED_PIPELINES = Setting(
    "ALLOWED_PIPELINES",
    "",
    (
        "Resources that pipelines may use in addition to the product's functions: ARNs of "
        "Lambda functions, SQS queues and EventBridge buses, comma-separated."
    ),
)
PROCESSING = Setting(
    "PROCESSING",
    1,
    (
        "1: the built-in workflows exist and run on uploads, unless switched off for a "
        "database. 0: they are not created and do not run."
    ),
)

READERS = Setting(
    "READERS",
    "fallback",
    (
        "Whether files are read in a function of their own, without permissions: `fallback`: "
        "where the kernel does not confine the process that reads a file; `always`; `off`: "
        "never, so that nothing is read there."
    ),
)
TURNTABLES = Setting(
    "TURNTABLES",
    0,
    "1: the built-in workflows also generate pictures of models from eight sides.",
)

SETTINGS = (
    SETTLE_DELAY_SECONDS,
    SEARCH_GRACE_SECONDS,
    SEARCH_KEEP_SECONDS,
    UPLOAD_RATE_PER_MINUTE,
    SUBSCRIBERS_PER_MINUTE,
    PRESIGNED_URL_SECONDS,
    LARGE_FILE_BYTES,
    ADMIN_USER_ID,
    AUDIT_DAYS,
    AUDIT_READS,
    SYNC_DATABASE_ID,
    IMPORTED_BUCKETS,
    NAME_HIDDEN_ASSETS,
    MALWARE_SCAN,
    OIDC_ISSUER,
    OIDC_AUDIENCES,
    OIDC_USER_CLAIM,
    OIDC_USER_PREFIX,
    OIDC_EMAIL_CLAIM,
    OIDC_MFA_CLAIM,
    OIDC_MFA_VALUES,
    OIDC_CLIENT_ID,
    OIDC_SCOPE,
    OIDC_SCOPE_MFA,
    ALLOWED_ADDRESSES,
    EXECUTIONS_AT_ONCE,
    EXECUTION_SILENCE_SECONDS,
    WEB_URL,
    ALLOWED_PIPELINES,
    PROCESSING,
    TURNTABLES,
    READERS,
)
