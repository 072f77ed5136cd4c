"""Permissions of single users, for resources of one workspace."""

from collections.abc import Iterator

from vitrine_mlflow.auth.items import (
    AuthItems,
    grant_removals,
    grant_update,
    grant_writes,
    own_grant_attributes,
    own_grant_key,
    resource_partition,
)
from vitrine_mlflow.auth.roles import Roles
from vitrine_mlflow.errors import ConflictError, exists, missing_error
from vitrine_mlflow.expressions import ABSENT, Check, Item, key_of, with_key
from vitrine_mlflow.mlflow_api import validate_grant
from vitrine_mlflow.table import GSI4, PARTITION_KEY, SORT_KEY


class Grants:
    """A permission is an item of its user's partition; GSI4 finds those for a resource."""

    def __init__(self, items: AuthItems, roles: Roles) -> None:
        self._items = items
        self._database = items.database
        self._roles = roles

    def create(
        self, username: str, workspace: str, resource_type: str, pattern: str, permission: str,
        duplicate: str,
    ) -> int:  # fmt: skip
        """Grant a permission that the user does not have; returns the id of the user.

        Raises:
            MlflowException: there is one, or there is no such user.
        """
        return self._database.retry(
            lambda: self._create(username, workspace, resource_type, pattern, permission, duplicate)
        )

    def _create(
        self, username: str, workspace: str, resource_type: str, pattern: str, permission: str,
        duplicate: str,
    ) -> int:  # fmt: skip
        user = self._items.whole_user(username)
        role_id = self._roles.own(user, workspace)
        key = own_grant_key(username, workspace, resource_type, pattern)
        attributes = {
            "id": self._items.new_id(),
            "role_id": role_id,
            "user_id": user.user_id,
            "username": username,
            "workspace": workspace,
            "resource_type": resource_type,
            "pattern": pattern,
            "permission": permission,
            **own_grant_attributes(username, workspace, resource_type, pattern),
        }
        item = with_key(key, attributes)
        try:
            self._database.write(
                [
                    *grant_writes(item, {PARTITION_KEY: ABSENT}),
                    Check(key_of(user.meta), {"id": user.user_id}),
                ]
            )
        except ConflictError as error:
            if 0 in error.failed:
                raise exists(duplicate) from error
            raise
        return user.user_id

    def find(self, username: str, workspace: str, resource_type: str, pattern: str) -> Item | None:
        return self._database.get(own_grant_key(username, workspace, resource_type, pattern))

    def require(
        self, username: str, workspace: str, resource_type: str, pattern: str, message: str
    ) -> Item:
        """A user's own permission.

        Raises:
            MlflowException: there is none, or there is no such user.
        """
        self._items.user(username)
        item = self.find(username, workspace, resource_type, pattern)
        if item is None:
            raise missing_error(message)
        return item

    def put(
        self, username: str, workspace: str, resource_type: str, pattern: str, permission: str
    ) -> int:
        """Create or change a permission; returns the id of the user."""
        item = self.find(username, workspace, resource_type, pattern)
        if item is not None:
            self._items.user(username)
            self.change(item, permission)
            return item["user_id"]
        return self.create(
            username, workspace, resource_type, pattern, permission,
            f"Permission for user={username} on resource_type={resource_type}, "
            f"resource_id={pattern} already exists.",
        )  # fmt: skip

    def change(self, item: Item, permission: str) -> None:
        validate_grant(permission, item["resource_type"])
        self._database.write([grant_update(item, permission)])

    def remove(self, item: Item) -> None:
        self._database.write(list(grant_removals(item)))

    def of_user(
        self, username: str, resource_type: str, workspace: str | None = None
    ) -> tuple[int, list[Item]]:
        """The id of a user, and the user's own permissions of a type."""
        user = self._items.whole_user(username)
        grants = [
            item
            for item in user.grants
            if item["resource_type"] == resource_type
            and (workspace is None or item["workspace"] == workspace)
        ]
        return user.user_id, grants

    def for_resource(self, workspace: str, resource_type: str, pattern: str) -> list[Item]:
        """The users' own permissions for a resource, found by the index, which may lag."""
        pk = resource_partition(workspace, resource_type, pattern)
        grant_keys = [key_of(item) for item in self._database.query(pk, index=GSI4)]
        return list(self._database.get_many(grant_keys).values())

    def workspaces(self) -> set[str]:
        """All workspaces in which anything was granted."""
        return {workspace for _, workspace in self._items.role_ids()}

    def rename(self, items: Iterator[Item] | list[Item], pattern: str) -> None:
        """Give permissions to the new name of their resource, each with its id."""
        for item in items:
            username, workspace = item["username"], item["workspace"]
            kind: str = item["resource_type"]
            key = own_grant_key(username, workspace, kind, pattern)
            attributes = {
                **item, "pattern": pattern,
                **own_grant_attributes(username, workspace, kind, pattern),
                PARTITION_KEY: key.pk, SORT_KEY: key.sk,
            }  # fmt: skip
            self._database.write([grant_removals(item)[0], *grant_writes(attributes, {})])
