"""Tables of constraints, roles, users, API keys and compiled policies."""

from backend.spec.attributes import Attribute
from backend.spec.tables.model import Index, Table

CONSTRAINT_ID = Attribute("constraintId")
GROUP_ID = Attribute("groupId")
USER_ID = Attribute("userId")
OBJECT_TYPE = Attribute("objectType")
ROLE_NAME = Attribute("roleName")
API_KEY_ID = Attribute("apiKeyId")
API_KEY_HASH = Attribute("apiKeyHash")

CONSTRAINTS = Table(
    "ConstraintsStorageTable",
    CONSTRAINT_ID,
    "Constraints: rules that allow or deny, one row for each role or user.",
    (
        "list constraints (a registry: scanned by page)",
        "list constraints that mention the name of a deleted object (scanned by page)",
    ),
    indexes=(
        Index("GroupPermissionsIndex", GROUP_ID, OBJECT_TYPE, "ALL"),
        Index("UserPermissionsIndex", USER_ID, OBJECT_TYPE, "ALL"),
        Index("ObjectTypeIndex", OBJECT_TYPE, CONSTRAINT_ID, "ALL"),
    ),
)

AUTH_ENTITIES = Table(
    "AuthEntitiesStorageTable",
    Attribute("entityType"),
    "Further entities of authorization, by type.",
    (),
    sort_key=Attribute("sk"),
)

ROLES = Table(
    "RolesStorageTable",
    ROLE_NAME,
    "Roles.",
    ("get one role", "list roles (a registry: scanned by page)"),
)

USER_ROLES = Table(
    "UserRolesStorageTable",
    USER_ID,
    "The roles of each user.",
    ("list the roles of a user", "list users with their roles (a registry: scanned by page)"),
    sort_key=ROLE_NAME,
)

USERS = Table(
    "UserStorageTable",
    USER_ID,
    "The profile of each user.",
    ("get one profile",),
)

API_KEYS_BY_HASH = Index(
    "apiKeyHashIndex",
    API_KEY_HASH,
    None,
    "ALL",
    origin="chosen",
    access_patterns=("find a key by its hash",),
)
API_KEYS_BY_USER = Index(
    "userIdIndex",
    USER_ID,
    API_KEY_ID,
    "ALL",
    origin="chosen",
    access_patterns=("list the keys of a user",),
)
API_KEYS = Table(
    "ApiKeyStorageTable",
    API_KEY_ID,
    "API keys, stored as keyed hashes.",
    ("get one key", "list keys (a registry: scanned by page)"),
    indexes=(API_KEYS_BY_HASH, API_KEYS_BY_USER),
    ttl="removeAt",
)

POLICIES = Table(
    "Policies",
    Attribute("policyKey"),
    (
        "The complete rule list of each role and user, written with the constraint that "
        "changed it; each constraint as a whole; what constraints require of tags; the epoch, "
        "which counts the changes."
    ),
    (
        "get the rules of a role or user with a consistent read",
        "get one constraint with a consistent read",
        "get what constraints say of tags with a consistent read",
        "get the epoch with a consistent read",
    ),
    origin="ours",
)

TABLES = (CONSTRAINTS, AUTH_ENTITIES, ROLES, USER_ROLES, USERS, API_KEYS, POLICIES)
