"""Our own tables, in addition to the data model: search state, reservations, jobs, audit."""

from backend.spec.attributes import Attribute
from backend.spec.tables.model import Index, Table

SEARCH_STATE = Table(
    "SearchState",
    Attribute("stateKey"),
    "The ticket counter and the search indexes that are written and read (one item).",
    ("take a ticket: one atomic update that answers with the write targets", "read the pointer"),
    origin="ours",
)

RESERVATIONS = Table(
    "Reservations",
    Attribute("reservationKey"),
    "What must be unique in a deployment (asset ids, prefixes), the count of each database's "
    "assets in four parts, the last number drawn for a version of each asset "
    "(`Versions#<database>:<asset>`, which expires a year after the asset is deleted), names of "
    "deleted databases, tag types and roles (`DeletedName#<field>#<name>`), short-lived counters "
    "of rate, the open search cursors of each user (`Cursors#<user>`, which expires after an "
    "hour), the last result of each object version in which a malware scan found a threat "
    "(`Quarantine#<bucket>#<S3 version id>#<key>`), the place of each execution's row "
    "(`Execution#<id>`), the active execution of each workflow on a file (`Run#<hash>`), "
    "the count of executions that run at once (`Executions#admitted`), and when an execution of "
    "each user last ended (`LastPlace#<user>`, which expires after a day), and the address of "
    "the page with the client of its sign-in (`Page`). With events: the last number drawn for an "
    "event of each asset (`Events#<database>:<asset>`), and the number of each event "
    "(`Event#<id>`, which expires after 400 days).",
    (
        "reserve in the transaction that creates",
        "resolve a prefix to its asset",
        "count an asset in or out in the transaction that changes its state",
        "add up the count of a database",
        "record the name of a deleted object, and check whether a name was deleted",
        "note a user's open cursors on the condition that their revision is unchanged",
        "count the versions of an asset: one atomic update draws the next number",
        "count the events of an asset: a transaction draws the next numbers and stores them",
        "read which of some object versions are quarantined",
        "note a verdict on an object version on the condition that the last one is unchanged",
        "read the record of the page",
    ),
    ttl="expiresAt",
    origin="ours",
)

JOB_ID = Attribute("jobId")
JOBS_BY_DATABASE = Index(
    "databaseIdIndex",
    Attribute("databaseId"),
    JOB_ID,
    "KEYS_ONLY",
    origin="ours",
    access_patterns=("list the jobs of a database that is purged",),
)
JOB_USER_ID = Attribute("userId")
JOBS_BY_USER = Index(
    "userIdIndex",
    JOB_USER_ID,
    Attribute("createdAt"),
    "KEYS_ONLY",
    origin="ours",
    access_patterns=(
        (
            "list the jobs that a user started, newest first; jobs started before this index was "
            "deployed are not in it, and jobs of the product itself never are"
        ),
    ),
)
JOBS = Table(
    "Jobs",
    JOB_ID,
    "Jobs: state, cursor, progress and errors.",
    (
        "create once by a conditional put",
        "get one job",
        "advance the cursor on a condition",
    ),
    indexes=(JOBS_BY_DATABASE, JOBS_BY_USER),
    stream="NEW_IMAGE",
    ttl="expiresAt",
    origin="ours",
)

AUDIT_ENTITY = Attribute("entity")
AUDIT_USER_ID = Attribute("userId")
AUDIT_AT = Attribute("at")
AUDIT_BY_USER = Index(
    "userIdIndex",
    AUDIT_USER_ID,
    AUDIT_AT,
    "ALL",
    origin="ours",
    access_patterns=("list the entries of a user by time",),
)
AUDIT = Table(
    "Audit",
    AUDIT_ENTITY,
    "The audit log.",
    ("list the entries of an entity by time",),
    sort_key=AUDIT_AT,
    indexes=(AUDIT_BY_USER,),
    stream="NEW_AND_OLD_IMAGES",
    ttl="expiresAt",
    origin="ours",
)

TABLES = (SEARCH_STATE, RESERVATIONS, JOBS, AUDIT)
