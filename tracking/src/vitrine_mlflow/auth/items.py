"""Users, roles and permissions as they are stored."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from mlflow.exceptions import MlflowException
from mlflow.server.auth.entities import Role, RolePermission, User
from mlflow.server.auth.permissions import RESOURCE_TYPE_EXPERIMENT, RESOURCE_TYPE_REGISTERED_MODEL
from sqlalchemy.exc import IntegrityError

from vitrine_mlflow import keys
from vitrine_mlflow.database import Database
from vitrine_mlflow.errors import ConflictError, missing_error
from vitrine_mlflow.expressions import Condition, Delete, Item, Put, Update, Write, key_of, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.table import SORT_KEY

_LARGEST_ID = 1 << 53  # ids are numbers in JSON, which JavaScript reads as doubles


def random_id() -> int:
    # random rather than counted: a counter would be one item that all creations write to
    return random.SystemRandom().randrange(1, _LARGEST_ID)


@dataclass
class StoredUser:
    """A user with all items of the user's partition."""

    meta: Item
    grants: list[Item] = field(default_factory=list[Item])  # of the user's own roles
    roles: list[Item] = field(default_factory=list[Item])

    @property
    def user_id(self) -> int:
        return self.meta["id"]

    def own_role(self, workspace: str) -> int | None:
        """The role that holds the user's own permissions in a workspace."""
        for item in self.roles:
            if item["own"] and item["workspace"] == workspace:
                return item["role_id"]
        return None


@dataclass
class StoredRole:
    """A role with its permissions and users."""

    meta: Item
    grants: list[Item] = field(default_factory=list[Item])
    users: list[Item] = field(default_factory=list[Item])

    @property
    def workspace(self) -> str:
        return self.meta["workspace"]

    def entity(self) -> Role:
        meta = self.meta
        grants = sorted(self.grants, key=lambda item: item["id"])
        return Role(
            meta["id"],
            meta["name"],
            meta["workspace"],
            meta["description"],
            [grant_entity(item) for item in grants],
        )


def user_entity(item: Item) -> User:
    return User(item["id"], item["username"], item["password_hash"], item["is_admin"])


def grant_entity(item: Item) -> RolePermission:
    return RolePermission(
        item["id"], item["role_id"], item["resource_type"], item["pattern"], item["permission"]
    )


def own_grant_key(username: str, workspace: str, resource_type: str, pattern: str) -> Key:
    """Return the key of one user's own permission."""
    return _own_grant(resource_type, pattern).key(
        **_fields(username, workspace, resource_type, pattern)
    )


def own_grant_attributes(
    username: str, workspace: str, resource_type: str, pattern: str
) -> dict[str, str]:
    """Places a permission of one user in the index of its resource."""
    return _own_grant(resource_type, pattern).index_keys(
        **_fields(username, workspace, resource_type, pattern)
    )


def resource_partition(workspace: str, resource_type: str, pattern: str) -> str:
    """The partition of GSI4 with the users' own permissions for a resource."""
    return own_grant_attributes("", workspace, resource_type, pattern)["gsi4pk"]


def _own_grant(resource_type: str, pattern: str) -> keys.Entity:
    if pattern != "*" and resource_type == RESOURCE_TYPE_EXPERIMENT:
        return keys.EXPERIMENT_PERMISSION
    if pattern != "*" and resource_type == RESOURCE_TYPE_REGISTERED_MODEL:
        return keys.MODEL_PERMISSION
    return keys.USER_GRANT


def _fields(username: str, workspace: str, resource_type: str, pattern: str) -> dict[str, str]:
    return {
        "username": username,
        "workspace": workspace,
        "resource_type": resource_type,
        "pattern": pattern,
        "experiment_id": pattern,
        "model_name": pattern,
    }


class AuthItems:
    """Reads of users and roles; all are consistent, except lists by resource."""

    def __init__(self, database: Database, new_id: Callable[[], int] = random_id) -> None:
        self.database = database
        self.new_id = new_id

    def user(self, username: str) -> Item:
        """The item of a user.

        Raises:
            MlflowException: there is no such user.
        """
        item = self.database.get(keys.USER.key(username=username)) if username else None
        if item is None:
            raise missing_error(f"User with username={username} not found")
        return item

    def username(self, user_id: int) -> str | None:
        item = self.database.get(keys.USER_LOOKUP.key(user_id=str(user_id)))
        return None if item is None else item["username"]

    def whole_user(self, username: str) -> StoredUser:
        """A user with permissions and roles.

        Raises:
            MlflowException: there is no such user.
        """
        items = list(self.partition(username)) if username else []
        metas = [item for item in items if item[SORT_KEY] == "U#META"]
        if not metas:
            raise missing_error(f"User with username={username} not found")
        roles = [item for item in items if item[SORT_KEY].startswith("U#ROLE#")]
        grants = [item for item in items if "resource_type" in item]
        return StoredUser(metas[0], grants, roles)

    def user_by_id(self, user_id: int) -> StoredUser | None:
        username = self.username(user_id)
        try:
            return None if username is None else self.whole_user(username)
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            return None  # deleted since the id was read

    def partition(self, username: str) -> Iterable[Item]:
        return self.database.query(keys.USER.key(username=username).pk)

    def usernames(self) -> list[str]:
        listed = self.database.query(keys.USER_LISTED.pk.text)
        return [item["username"] for item in listed]

    def role(self, role_id: int) -> StoredRole:
        """A role with permissions and users.

        Raises:
            MlflowException: there is no such role.
        """
        role = self.found_role(role_id)
        if role is None:
            raise missing_error(f"Role with id={role_id} not found")
        return role

    def found_role(self, role_id: int) -> StoredRole | None:
        items = list(self.database.query(keys.ROLE.key(role_id=str(role_id)).pk))
        metas = [item for item in items if item[SORT_KEY] == "ROLE#META"]
        if not metas:
            return None
        meta = metas[0]
        users = [item for item in items if item[SORT_KEY].startswith("U#")]
        if "owner" not in meta:
            return StoredRole(meta, [item for item in items if "resource_type" in item], users)
        grants = [item for item in self.partition(meta["owner"]) if "resource_type" in item]
        return StoredRole(meta, [item for item in grants if item["role_id"] == role_id], users)

    def role_ids(self) -> list[tuple[int, str]]:
        """Ids and workspaces of all roles."""
        listed = self.database.query(keys.ROLE_LISTED.pk.text)
        return [(item["role_id"], item["workspace"]) for item in listed]

    def roles_of(self, user: StoredUser, workspace: str | None = None) -> list[StoredRole]:
        """The roles of a user, in one workspace or all."""
        roles: list[StoredRole] = []
        for item in user.roles:
            if workspace is not None and item["workspace"] != workspace:
                continue
            role = self.found_role(item["role_id"])
            if role is not None:  # otherwise it is being deleted
                roles.append(role)
        return roles

    def grant(self, grant_id: int) -> Item | None:
        lookup = self.database.get(keys.GRANT_LOOKUP.key(grant_id=str(grant_id)))
        return None if lookup is None else self.database.get(Key(lookup["pk"], lookup["sk"]))


def write_new(database: Database, writes: Sequence[Write], taken: Exception) -> None:
    """Create items of which the first two are new, repeated while other transactions run.

    Raises:
        Exception: `taken`, if they exist.
    """

    def attempt() -> None:
        try:
            database.write(writes)
        except ConflictError as error:
            if error.failed & {0, 1}:
                # By this cause MLflow recognizes an administrator that another server created.
                raise taken from IntegrityError(str(error), None, error)
            raise

    database.retry(attempt)


def grant_writes(item: Item, condition: Condition) -> list[Write]:
    """A new permission with the item that finds it by its id."""
    key = key_of(item)
    lookup = with_key(keys.GRANT_LOOKUP.key(grant_id=str(item["id"])), {"pk": key.pk, "sk": key.sk})
    return [Put(item, condition), Put(lookup)]


def grant_removals(item: Item) -> list[Delete]:
    return [Delete(key_of(item)), Delete(keys.GRANT_LOOKUP.key(grant_id=str(item["id"])))]


def grant_update(item: Item, permission: str) -> Update:
    return Update(key_of(item), {"permission": permission}, condition={"id": item["id"]})
