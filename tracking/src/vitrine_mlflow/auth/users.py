"""Users of MLflow's basic-auth app: passwords are stored as salted hashes only."""

from mlflow.exceptions import MlflowException
from mlflow.server.auth.entities import User
from werkzeug.security import check_password_hash, generate_password_hash

from vitrine_mlflow import keys
from vitrine_mlflow.auth.items import (
    AuthItems,
    StoredUser,
    grant_removals,
    user_entity,
    write_new,
)
from vitrine_mlflow.errors import ConflictError, exists, missing_error
from vitrine_mlflow.expressions import ABSENT, PRESENT, Delete, Item, Put, Update, key_of, with_key
from vitrine_mlflow.invisible import check_visible
from vitrine_mlflow.mlflow_api import validate_password, validate_username
from vitrine_mlflow.table import PARTITION_KEY


class Users:
    """Creates, authenticates, changes and deletes users."""

    def __init__(self, items: AuthItems) -> None:
        self._items = items
        self._database = items.database

    def create(self, username: str, password: str, *, is_admin: bool) -> User:
        validate_username(username)
        check_visible(username, "Username")
        validate_password(password)
        user_id = self._items.new_id()
        attributes = {
            "id": user_id,
            "username": username,
            "password_hash": generate_password_hash(password),
            "is_admin": bool(is_admin),
        }
        key = keys.USER.key(username=username)
        leftovers = list(self._items.partition(username))
        if all(key_of(item) != key for item in leftovers):
            # what an interrupted deletion has left must not become the new user's
            self._database.write_in_batches(
                removal for item in leftovers for removal in _removals(username, item)
            )
        named = {"username": username}
        new = {PARTITION_KEY: ABSENT}
        write_new(
            self._database,
            [
                Put(with_key(key, attributes), new),
                Put(with_key(keys.USER_LOOKUP.key(user_id=str(user_id)), named), new),
                Put(with_key(keys.USER_LISTED.key(username=username), named)),
            ],
            exists(f"User (username={username}) already exists. Error: the name is taken"),
        )
        return user_entity(attributes)

    def authenticate(self, username: str, password: str) -> bool:
        try:
            user = self._items.user(username)
        except MlflowException as error:
            if error.error_code not in {"RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"}:
                raise  # a table that cannot be read is no wrong password
            return False
        return check_password_hash(user["password_hash"], password)

    def exists(self, username: str) -> bool:
        return self._database.get(keys.USER.key(username=username)) is not None

    def all(self) -> list[Item]:
        named = [keys.USER.key(username=name) for name in self._items.usernames()]
        return sorted(self._database.get_many(named).values(), key=lambda item: item["username"])

    def update(self, username: str, password: str | None, *, is_admin: bool | None) -> User:
        item = self._items.user(username)
        changes: dict[str, object] = {}
        if password is not None:
            validate_password(password)
            changes["password_hash"] = generate_password_hash(password)
        if is_admin is not None:
            changes["is_admin"] = bool(is_admin)
        if changes:
            update = Update(key_of(item), changes, condition={"id": item["id"]})
            try:
                self._database.write([update])
            except ConflictError as error:
                raise missing_error(f"User with username={username} not found") from error
        return user_entity({**item, **changes})

    def delete(self, username: str) -> None:
        """Delete a user with the permissions."""
        user = self._items.whole_user(username)
        # Before the user, so that no other user of the name can inherit them.
        self._delete_items(username, user)
        self._database.write(
            [
                Delete(key_of(user.meta), {PARTITION_KEY: PRESENT}),
                Delete(keys.USER_LOOKUP.key(user_id=str(user.user_id))),
                Delete(keys.USER_LISTED.key(username=username)),
            ]
        )

    def _delete_items(self, username: str, user: StoredUser) -> None:
        for item in user.roles:
            if item["own"]:
                name = item["name"]
                self._database.write_in_batches(
                    [
                        Delete(keys.ROLE.key(role_id=str(item["role_id"]))),
                        Delete(keys.ROLE_NAME.key(workspace=item["workspace"], name=name)),
                        Delete(keys.ROLE_LISTED.key(role_id=str(item["role_id"]))),
                    ]
                )
        self._database.write_in_batches(
            removal for item in (*user.grants, *user.roles) for removal in _removals(username, item)
        )


def _removals(username: str, item: Item) -> list[Delete]:
    if "resource_type" in item:
        return grant_removals(item)
    own = [Delete(key_of(item))]
    if "role_id" in item:
        own.append(Delete(keys.ROLE_USER.key(role_id=str(item["role_id"]), username=username)))
    return own
