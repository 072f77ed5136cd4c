"""Settings of a deployment that functions read from their environment.

cdk.json sets the values of each stage. This is the only declaration of these settings: the model
that checks cdk.json takes defaults, bounds and descriptions from here. Defaults are production's.
"""

from backend.values import frozen


@frozen
class Form:
    """The form that a string must have: a pattern, and the same rule in words, after "must be"."""

    pattern: str
    words: str


@frozen
class Setting:
    """A named whole number or text; `variable` is its environment variable."""

    name: str
    default: int | str
    description: str
    least: int | None = None
    most: int | None = None
    form: Form | None = None
    """The format of a text, or of each element of a comma-separated list."""

    @property
    def variable(self) -> str:
        return f"SETTING_{self.name}"


# The lag of global indexes has no bound, so the default is the longest delay.
SETTLE_DELAY_SECONDS = Setting(
    "SETTLE_DELAY_SECONDS",
    900,
    "Delay after which documents are rebuilt again if a global secondary index was read.",
    least=0,
    most=900,  # the longest delay of a message in SQS
)
SEARCH_GRACE_SECONDS = Setting(
    "SEARCH_GRACE_SECONDS",
    30,
    "Delay after which a check compares differing documents again: twice the usual lag.",
    least=1,
    most=900,  # the longest delay of a message in SQS
)
# Both pairs of indexes take their space, and each rebuild writes to both, until it ends.
SEARCH_KEEP_SECONDS = Setting(
    "SEARCH_KEEP_SECONDS",
    86_400,
    (
        "Period after a reindex in which the old indexes are kept up to date, so that it can "
        "be undone."
    ),
    least=0,
    most=30 * 86_400,
)
# The contract's default. An upload has up to 1,000 files.
UPLOAD_RATE_PER_MINUTE = Setting(
    "UPLOAD_RATE_PER_MINUTE", 20, "Maximum uploads that a user can start in a minute.", least=1
)
# SNS sends each new address a mail that requests a confirmation.
SUBSCRIBERS_PER_MINUTE = Setting(
    "SUBSCRIBERS_PER_MINUTE",
    60,
    "Maximum users that a caller can subscribe to assets in a minute.",
    least=1,
)
# Maximum lifetime of a presigned URL, in every stage: it expires with the role session that signed
# it anyway, and cannot be revoked (decisions 10, 15).
MAX_URL_SECONDS = 3600
PRESIGNED_URL_SECONDS = Setting(
    "PRESIGNED_URL_SECONDS",
    3600,
    (
        "Validity of presigned URLs, at most 3600 seconds. They end earlier with the credentials "
        "of the function's role that signed them."
    ),
    least=1,
    most=MAX_URL_SECONDS,
)
# The contract's limit: a request has only 24 seconds for its copies (decision 39).
LARGE_FILE_BYTES = Setting(
    "LARGE_FILE_BYTES",
    1024**3,
    "Larger files are completed by a worker after the reply.",
    least=5 * 1024**2,  # the largest file that may become a preview
    most=5 * 1024**3,  # the largest object that S3 copies in one request
)
ADMIN_USER_ID = Setting(
    "ADMIN_USER_ID",
    "admin",
    "User id of the administrator.",
    form=Form(
        r"^[A-Za-z0-9._@+-]{3,255}$", "3 to 255 letters, digits and the characters . _ @ + -"
    ),
)
DEFAULT_USER_ROLE = Setting(
    "DEFAULT_USER_ROLE",
    "",
    (
        "Role of users who have no role and never lost one, also of those of an identity provider. "
        "It counts for requests only, and never allows changes of roles or users."
    ),
    form=Form(
        r"^[A-Za-z0-9._ -]{0,256}$",
        "at most 256 letters, digits, blanks and the characters . _ -",
    ),
)
AUDIT_DAYS = Setting(
    "AUDIT_DAYS",
    400,
    "Period in which audit entries can be read before they are archived.",
    least=1,
)
AUDIT_READS = Setting(
    "AUDIT_READS",
    1,
    (
        "Whether downloads, streams, exports, presigned URLs and started uploads are recorded in "
        "the audit log, and refused with 503 if that is not possible. "
        "Costs a request to SQS and two write units of DynamoDB for each read; for streams at "
        "most once an hour for each user and file, by each process of the function."
    ),
)
SYNC_DATABASE_ID = Setting(
    "SYNC_DATABASE_ID",
    "imported",
    (
        "Database for assets found in a bucket without a default database; created if it does "
        "not exist."
    ),
    form=Form(r"^[-_a-zA-Z0-9]{3,63}$", "3 to 63 letters, digits, - and _"),
)
IMPORTED_BUCKETS = Setting(
    "IMPORTED_BUCKETS",
    "",
    (
        "Further buckets that may be registered as asset storage. Each must send its events to "
        "EventBridge, which is a setting of the bucket."
    ),
    form=Form(
        r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$",
        "the name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens",
    ),
)
NAME_HIDDEN_ASSETS = Setting(
    "NAME_HIDDEN_ASSETS",
    0,
    (
        "Whether exports contain the ids of linked assets that the caller may not see, and of "
        "the links to them, as in VAMS; otherwise only their number."
    ),
)
MALWARE_SCAN = Setting(
    "MALWARE_SCAN",
    0,
    (
        "Whether GuardDuty scans each new object of the asset bucket for malware. Versions in "
        "which it finds any are quarantined: listed and deleted, but not read or copied. Charged "
        "by the gigabyte and object; not in every region."
    ),
)
_NAME = Form(r"^[^\s,]+$", "a string without spaces and commas, which is not empty")
_SCOPES = Form(r"^[^,\x00-\x1f]*$", "scopes, separated by spaces")
OIDC_ISSUER = Setting(
    "OIDC_ISSUER",
    "",
    (
        "Issuer (`iss`) of the identity provider whose tokens are accepted in addition to the "
        "user pool's; empty: none. Without TLS only on this machine."
    ),
    form=Form(
        r"^(https://[A-Za-z0-9.-]+(:\d+)?(/[^\s,?#@]*)?|http://(127\.0\.0\.1|localhost)(:\d+)?(/[^\s,?#@]*)?)?$",
        "an https address of a host, without query, fragment and user (http only of localhost "
        "or 127.0.0.1)",
    ),
)
OIDC_AUDIENCES = Setting(
    "OIDC_AUDIENCES",
    "",
    "Accepted audiences (`aud`) of the provider's tokens; default: `oidcClientId`.",
    form=_NAME,
)
OIDC_USER_CLAIM = Setting(
    "OIDC_USER_CLAIM", "sub", "Claim that contains the user's name.", form=_NAME
)
OIDC_USER_PREFIX = Setting(
    "OIDC_USER_PREFIX",
    "",
    (
        "Prefix of the user's name in the user id, so that it differs from those of the user pool "
        "and the administrator."
    ),
    form=Form(
        r"^[A-Za-z0-9._@+-]{0,32}$", "at most 32 letters, digits and the characters . _ @ + -"
    ),
)
OIDC_EMAIL_CLAIM = Setting(
    "OIDC_EMAIL_CLAIM", "email", "Claim that contains the email address.", form=_NAME
)
OIDC_MFA_CLAIM = Setting(
    "OIDC_MFA_CLAIM", "amr", "The claim that states how the user signed in.", form=_NAME
)
OIDC_MFA_VALUES = Setting(
    "OIDC_MFA_VALUES", "mfa", "Values of that claim that mean MFA.", form=_NAME
)
OIDC_CLIENT_ID = Setting(
    "OIDC_CLIENT_ID",
    "",
    "Client id with which web clients sign in at the provider.",
    form=Form(r"^[^\s,]*$", "a string without spaces and commas"),
)
OIDC_SCOPE = Setting("OIDC_SCOPE", "openid email", "Scopes that web clients request.", form=_SCOPES)
OIDC_SCOPE_MFA = Setting(
    "OIDC_SCOPE_MFA", "", "Additional scope that web clients request for MFA, if any.", form=_SCOPES
)
ALLOWED_ADDRESSES = Setting(
    "ALLOWED_ADDRESSES",
    "",
    (
        "Addresses from which requests with credentials are accepted: networks such as "
        "192.0.2.0/24, or ranges such as 192.0.2.0-192.0.2.255; empty: all."
    ),
)
SESSION_HOURS = Setting(
    "SESSION_HOURS",
    12,
    "Hours after a sign-in at which a session of the page ends.",
    least=1,
    most=400 * 24,  # browsers keep no cookie longer
)
# With readers, an execution takes two instances: these are a tenth of an account's 1,000 (decision
# 79).
EXECUTIONS_AT_ONCE = Setting(
    "EXECUTIONS_AT_ONCE",
    50,
    (
        "Maximum number of concurrent executions of workflows. Further ones wait, and start as "
        "others end. An execution takes two instances of functions where a pipeline waits for a "
        "reader, so that at most a quarter of `accountConcurrency` run at once."
    ),
    least=1,
    most=10_000,
)
# Step Functions sends an event at each end; this finds executions whose event was lost.
EXECUTION_SILENCE_SECONDS = Setting(
    "EXECUTION_SILENCE_SECONDS",
    300,
    "Delay after which Step Functions is queried about an execution without an end event.",
    least=1,
)
WEB_URL = Setting(
    "WEB_URL",
    "",
    (
        "An origin without a trailing slash. Only its pages may call the API and use presigned "
        "URLs (CORS); without one, no page of another origin may."
    ),
    form=Form(
        r"^(https?://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?)?$",
        "an origin such as https://museum.example.org, in lower case and without a path",
    ),
)

PAGE = Setting(
    "PAGE",
    0,
    (
        "Whether to deploy the page with CloudFront in front of it and of the API. Clients may go "
        "on using the API's own address."
    ),
)

API_ONLY_THROUGH_PAGE = Setting(
    "API_ONLY_THROUGH_PAGE",
    0,
    (
        "Whether the API refuses requests (403) that do not come through the page's distribution. "
        "Stock clients no longer work: they use the API's own address and send `GET` with a body, "
        "which CloudFront refuses. `vitrine` needs the page's address with `/api`."
    ),
)

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
        "Whether uploads of supported formats run the product's own workflows, unless a database "
        "switches that off: facts, thumbnails and GLBs. Otherwise these are not created."
    ),
)

EVENTS = Setting(
    "EVENTS",
    "off",
    (
        "Where changes of assets are published as events. `bus`: on a bus of EventBridge. `queue`: "
        "in an SQS queue, for one program. `off`: nowhere, and nothing is created for it."
    ),
)
READERS = Setting(
    "READERS",
    "fallback",
    (
        "Where files are read. `fallback`: in the pipeline, in a confined process, or where the "
        "kernel of Lambda refuses to confine it, in a function without permissions that serves one "
        "file. `always`: in that function, so that the pipeline is small. `off`: such functions "
        "are not created, and files that cannot be read in a confined process are not read. Not "
        "every region has the tenant isolation of Lambda that these functions need."
    ),
)
TURNTABLES = Setting(
    "TURNTABLES",
    0,
    (
        "Whether the built-in workflows also generate an animated PNG of each model, from eight "
        "sides, beside its GLB, and of ten frames of each film: a fifth of a second more for a "
        "small model."
    ),
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
    DEFAULT_USER_ROLE,
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
    PAGE,
    API_ONLY_THROUGH_PAGE,
    SESSION_HOURS,
    ALLOWED_PIPELINES,
    PROCESSING,
    TURNTABLES,
    READERS,
    EVENTS,
)
