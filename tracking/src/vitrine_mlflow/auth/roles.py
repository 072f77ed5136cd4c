"""Roles, their permissions, and the users that have them."""

from collections.abc import Iterator
from typing import Any

from mlflow.server.auth.entities import Role, RolePermission, UserRoleAssignment

from vitrine_mlflow import keys
from vitrine_mlflow.auth.items import (
    AuthItems,
    StoredRole,
    StoredUser,
    grant_entity,
    grant_removals,
    grant_update,
    grant_writes,
    own_grant_attributes,
    own_grant_key,
    resource_partition,
    write_new,
)
from vitrine_mlflow.errors import ConflictError, exists, invalid, missing_error
from vitrine_mlflow.expressions import (
    ABSENT,
    PRESENT,
    Check,
    Delete,
    Item,
    Put,
    Update,
    Write,
    key_of,
    with_key,
)
from vitrine_mlflow.invisible import check_visible
from vitrine_mlflow.mlflow_api import validate_grant
from vitrine_mlflow.table import GSI4, PARTITION_KEY, SORT_KEY

_RESERVED = "__user_"
_NEW = {PARTITION_KEY: ABSENT}


class Roles:
    """Creates, changes, assigns and deletes roles."""

    def __init__(self, items: AuthItems) -> None:
        self._items = items
        self._database = items.database

    def create(self, name: str, workspace: str, description: str | None) -> Role:
        _check_name(name)
        meta = self._meta(name, workspace, description)
        taken = f"Role (name={name}, workspace={workspace}) already exists. Error: it is taken"
        write_new(self._database, _creation(meta), exists(taken))
        return StoredRole(meta).entity()

    def _meta(self, name: str, workspace: str, description: str | None) -> Item:
        role_id = self._items.new_id()
        attributes = {
            "id": role_id, "name": name, "workspace": workspace, "description": description,
        }  # fmt: skip
        return with_key(keys.ROLE.key(role_id=str(role_id)), attributes)

    def own(self, user: StoredUser, workspace: str) -> int:
        """The role that holds a user's own permissions, created if it does not exist."""
        known = user.own_role(workspace)
        if known is not None:
            return known
        username: str = user.meta["username"]
        name = f"{_RESERVED}{user.user_id}__"
        meta: Item = {**self._meta(name, workspace, None), "owner": username}
        writes = [*_creation(meta), *self._assignment(user, meta, own=True)]
        try:
            self._database.write(writes)
        except ConflictError:
            again = self._items.whole_user(username).own_role(workspace)
            if again is None:
                raise
            return again  # another process created it
        created: int = meta["id"]
        return created

    def _assignment(self, user: StoredUser, meta: Item, *, own: bool) -> list[Write]:
        role_id: int = meta["id"]
        username: str = user.meta["username"]
        attributes = {
            "id": self._items.new_id(),
            "role_id": role_id,
            "workspace": meta["workspace"],
            "name": meta["name"],
            "own": own,
        }
        key = keys.USER_ROLE.key(username=username, role_id=str(role_id))
        member = {"id": attributes["id"], "user_id": user.user_id, "username": username}
        return [
            Put(with_key(key, attributes), _NEW),
            Put(with_key(keys.ROLE_USER.key(role_id=str(role_id), username=username), member)),
            Check(key_of(user.meta), {"id": user.user_id}),
        ]

    def by_name(self, workspace: str, name: str) -> Role:
        reserved = self._database.get(keys.ROLE_NAME.key(workspace=workspace, name=name))
        role = None if reserved is None else self._items.found_role(reserved["role_id"])
        if role is None:
            raise missing_error(f"Role with name={name} in workspace={workspace} not found")
        return role.entity()

    def update(self, role_id: int, name: str | None, description: str | None) -> Role:
        if name is not None:
            _check_name(name)
        role = self._items.role(role_id)
        meta = role.meta
        changes: dict[str, Any] = {}
        writes: list[Write] = []
        if name is not None and name != meta["name"]:
            changes["name"] = name
            reservation = keys.ROLE_NAME.key(workspace=role.workspace, name=name)
            writes = [
                Put(with_key(reservation, {"role_id": role_id}), _NEW),
                Delete(keys.ROLE_NAME.key(workspace=role.workspace, name=meta["name"])),
            ]
        if description is not None:
            changes["description"] = description
        if changes:
            update = Update(key_of(meta), changes, condition={"name": meta["name"]})
            try:
                self._database.write([update, *writes])
            except ConflictError as error:
                raise exists(
                    f"Role with name={name} already exists in workspace={role.workspace}"
                ) from error
        return StoredRole({**meta, **changes}, role.grants).entity()

    def delete(self, role_id: int) -> None:
        """Delete a role."""
        role = self._items.role(role_id)
        # First: without its item the role grants nothing.
        self._database.write(
            [
                Delete(key_of(role.meta)),
                Delete(keys.ROLE_NAME.key(workspace=role.workspace, name=role.meta["name"])),
            ]
        )
        removals = [removal for item in role.grants for removal in grant_removals(item)]
        for item in role.users:
            removals.append(Delete(key_of(item)))
            user_role = keys.USER_ROLE.key(username=item["username"], role_id=str(role_id))
            removals.append(Delete(user_role))
        self._database.write_in_batches(removals)
        # the entry in the list is last: an interrupted deletion can be found
        self._database.write([Delete(keys.ROLE_LISTED.key(role_id=str(role_id)))])

    def add_grant(
        self, role_id: int, resource_type: str, pattern: str, permission: str
    ) -> RolePermission:
        validate_grant(permission, resource_type, pattern)
        role = self._items.role(role_id)
        key = keys.ROLE_GRANT.key(
            role_id=str(role_id), resource_type=resource_type, pattern=pattern
        )
        taken = exists(
            f"Role permission (role_id={role_id}, resource_type={resource_type}, "
            f"resource_pattern={pattern}) already exists. Error: there is one"
        )
        if "owner" in role.meta:
            raise invalid(
                "The permissions of a user's own role are changed by the user's permissions."
            )
        item = with_key(
            key,
            {
                "id": self._items.new_id(),
                "role_id": role_id,
                "resource_type": resource_type,
                "pattern": pattern,
                "permission": permission,
            },
        )
        existing = Check(key_of(role.meta), {PARTITION_KEY: PRESENT})
        write_new(self._database, [*grant_writes(item, _NEW), existing], taken)
        return grant_entity(item)

    def grant(self, grant_id: int) -> Item:
        item = self._items.grant(grant_id)
        if item is None:
            raise missing_error(f"Role permission with id={grant_id} not found")
        return item

    def remove_grant(self, grant_id: int) -> None:
        self._database.write(list(grant_removals(self.grant(grant_id))))

    def update_grant(self, grant_id: int, permission: str) -> RolePermission:
        item = self.grant(grant_id)
        validate_grant(permission, item["resource_type"])
        self._database.write([grant_update(item, permission)])
        return grant_entity({**item, "permission": permission})

    def assign(self, user_id: int, role_id: int) -> UserRoleAssignment:
        user = self._items.user_by_id(user_id)
        if user is None:
            raise missing_error(f"User with id={user_id} not found")
        role = self._items.role(role_id)
        assignment = self._assignment(user, role.meta, own=False)
        existing = Check(key_of(role.meta), {PARTITION_KEY: PRESENT})
        taken = f"User role assignment (user_id={user_id}, role_id={role_id}) already exists"
        write_new(self._database, [*assignment, existing], exists(taken))
        key = keys.USER_ROLE.key(username=user.meta["username"], role_id=str(role_id))
        written = self._database.get(key) or {}
        return UserRoleAssignment(written.get("id"), user_id, role_id)

    def unassign(self, user_id: int, role_id: int) -> None:
        username = self._items.username(user_id) or ""
        key = keys.USER_ROLE.key(username=username, role_id=str(role_id))
        member = keys.ROLE_USER.key(role_id=str(role_id), username=username)
        try:
            self._database.write([Delete(key, {PARTITION_KEY: PRESENT}), Delete(member)])
        except ConflictError as error:
            raise missing_error(
                f"User role assignment (user_id={user_id}, role_id={role_id}) not found"
            ) from error


def _creation(meta: Item) -> list[Write]:
    role_id, workspace = meta["id"], meta["workspace"]
    name = keys.ROLE_NAME.key(workspace=workspace, name=meta["name"])
    listed = keys.ROLE_LISTED.key(role_id=str(role_id))
    return [
        Put(meta, _NEW),
        Put(with_key(name, {"role_id": role_id}), _NEW),
        Put(with_key(listed, {"role_id": role_id, "workspace": workspace})),
    ]


def _check_name(name: str) -> None:
    check_visible(name, "Role name")
    if name.startswith(_RESERVED):
        raise invalid(
            f"Role name {name!r} uses the reserved '{_RESERVED}' prefix, which is held for the "
            "per-user permission representation. Choose a different name."
        )


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
