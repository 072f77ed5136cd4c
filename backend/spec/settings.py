"""Settings of a deployment that functions read from their environment.

The stage gives the values (cdk.json); the defaults here are those of production.
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
    "How long after a rebuild that read a global secondary index its documents are built again.",
)
SEARCH_GRACE_SECONDS = Setting(
    "SEARCH_GRACE_SECONDS",
    30,
    "How long a check waits before it looks again at documents that differ: twice the usual lag.",
)
SEARCH_KEEP_SECONDS = Setting(
    "SEARCH_KEEP_SECONDS",
    86_400,
    "How long after a reindex the old indexes are kept up to date, so that it can be taken back.",
)
UPLOAD_RATE_PER_MINUTE = Setting(
    "UPLOAD_RATE_PER_MINUTE", 20, "Upload initialisations per user and minute."
)
SUBSCRIBERS_PER_MINUTE = Setting(
    "SUBSCRIBERS_PER_MINUTE", 60, "Users whom one caller may subscribe to assets in a minute."
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
AUDIT_READS = Setting(
    "AUDIT_READS",
    1,
    "1: downloads, streams, exports, presigned URLs and uploads begun are entered into the audit "
    "trail, and refused while that is not possible. 0: they are not.",
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
NAME_HIDDEN_ASSETS = Setting(
    "NAME_HIDDEN_ASSETS",
    0,
    "1: exports contain the ids of linked assets that the caller may not see, and of the links to "
    "them, as in VAMS. 0: only how many there are.",
)
MALWARE_SCAN = Setting(
    "MALWARE_SCAN",
    0,
    "1: GuardDuty scans what is uploaded to the asset bucket, and versions of files in which it "
    "finds malware are quarantined.",
)
OIDC_ISSUER = Setting(
    "OIDC_ISSUER",
    "",
    "The identity provider whose tokens are accepted beside the user pool's, as its tokens name it "
    "in `iss`; empty: none.",
)
OIDC_AUDIENCES = Setting(
    "OIDC_AUDIENCES", "", "For whom a token of the provider may be made: `aud`, joined by commas."
)
OIDC_USER_CLAIM = Setting("OIDC_USER_CLAIM", "sub", "The claim that names the user.")
OIDC_USER_PREFIX = Setting(
    "OIDC_USER_PREFIX", "", "Stands before what that claim says in the user id."
)
OIDC_EMAIL_CLAIM = Setting("OIDC_EMAIL_CLAIM", "email", "The claim that holds the address.")
OIDC_MFA_CLAIM = Setting("OIDC_MFA_CLAIM", "amr", "The claim that states how the user signed in.")
OIDC_MFA_VALUES = Setting(
    "OIDC_MFA_VALUES", "mfa", "What of it is a second factor, joined by commas."
)
OIDC_CLIENT_ID = Setting(
    "OIDC_CLIENT_ID", "", "The application as which web clients sign in at the provider."
)
OIDC_SCOPE = Setting("OIDC_SCOPE", "openid email", "The scopes that they request.")
OIDC_SCOPE_MFA = Setting(
    "OIDC_SCOPE_MFA", "", "The scope that they request beside these for a second factor, if any."
)
ALLOWED_ADDRESSES = Setting(
    "ALLOWED_ADDRESSES",
    "",
    "From where requests with credentials may come: ranges such as 192.0.2.0-192.0.2.255, joined "
    "by commas; empty: from anywhere.",
)
EXECUTIONS_AT_ONCE = Setting(
    "EXECUTIONS_AT_ONCE", 50, "How many executions run at once; further ones wait."
)
EXECUTION_SILENCE_SECONDS = Setting(
    "EXECUTION_SILENCE_SECONDS",
    300,
    "How long after its start Step Functions is asked about an execution whose end no event "
    "reports.",
)
WEB_URL = Setting("WEB_URL", "", "Where the web application is served, if it is.")

ALLOWED_PIPELINES = Setting(
    "ALLOWED_PIPELINES",
    "",
    "What pipelines may call beside the product's own functions: ARNs of Lambda functions, SQS "
    "queues and EventBridge buses, comma-separated.",
)
PROCESSING = Setting(
    "PROCESSING",
    1,
    "1: the workflows that ship with the product exist and run on uploads, unless a database "
    "switches them off. 0: they are not created, and do not run.",
)

TURNTABLES = Setting(
    "TURNTABLES",
    0,
    "1: the workflows that ship with the product also make pictures of a model from eight sides.",
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
)
