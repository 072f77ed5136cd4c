"""The effective permissions of a user: those of all roles, and those for workspaces."""

from collections.abc import Collection
from typing import NamedTuple

from mlflow.server.auth import permissions as types
from mlflow.server.auth.entities import WorkspacePermission
from mlflow.server.auth.permissions import Permission, get_permission, max_permission

from vitrine_mlflow.auth.items import AuthItems, StoredRole
from vitrine_mlflow.auth.roles import Grants
from vitrine_mlflow.expressions import Item
from vitrine_mlflow.mlflow_api import validate_grant, validate_resource_type

_WORKSPACE = types.RESOURCE_TYPE_WORKSPACE
_MANAGE, _DENY = types.MANAGE.name, types.DENY.name


class RoleGrantRow(NamedTuple):
    """One permission, in the form in which MLflow's app combines them."""

    resource_type: str
    resource_pattern: str
    permission: str


class ResolutionMethods:
    """Questions of MLflow's app before it serves a request."""

    items: AuthItems
    grants: Grants

    def roles_of_id(self, user_id: int, workspace: str | None = None) -> list[StoredRole]:
        user = self.items.user_by_id(user_id)
        return [] if user is None else self.items.roles_of(user, workspace)

    # Workspaces

    def list_workspace_permissions(self, workspace_name: str) -> list[WorkspacePermission]:
        grants = self.grants.for_resource(workspace_name, _WORKSPACE, "*")
        return [_workspace_permission(item) for item in grants]

    def list_user_workspace_permissions(self, username: str) -> list[WorkspacePermission]:
        _, items = self.grants.of_user(username, _WORKSPACE)
        return [_workspace_permission(item) for item in items]

    def set_workspace_permission(
        self, workspace_name: str, username: str, permission: str
    ) -> WorkspacePermission:
        validate_grant(permission, _WORKSPACE)
        self.items.user(username)
        user_id = self.grants.put(username, workspace_name, _WORKSPACE, "*", permission)
        return WorkspacePermission(workspace_name, user_id, permission)

    def delete_workspace_permission(self, workspace_name: str, username: str) -> None:
        message = (
            f"Workspace permission does not exist for workspace='{workspace_name}', "
            f"username='{username}'"
        )
        self.grants.remove(self.grants.require(username, workspace_name, _WORKSPACE, "*", message))

    def get_workspace_permission(self, workspace_name: str, username: str) -> Permission | None:
        """The user's own permission for a workspace."""
        self.items.user(username)
        item = self.grants.find(username, workspace_name, _WORKSPACE, "*")
        return None if item is None else get_permission(item["permission"])

    def get_role_workspace_permission(
        self, workspace_name: str, username: str
    ) -> Permission | None:
        """The highest permission for a workspace by any role."""
        user = self.items.whole_user(username)
        best: str | None = None
        for role in self.items.roles_of(user, workspace_name):
            for item in _of_workspace(role):
                best = _higher(best, item["permission"])
        return None if best is None else get_permission(best)

    def list_accessible_workspace_names(self, username: str | None) -> set[str]:
        if username is None:
            return set()
        user = self.items.whole_user(username)
        names: set[str] = {item["workspace"] for item in user.roles if not item["own"]}
        for item in user.grants:
            of_workspace = item["resource_type"] == _WORKSPACE and item["pattern"] == "*"
            if of_workspace and get_permission(item["permission"]).can_read:
                names.add(item["workspace"])
        return names

    def user_has_any_role_in_workspace(self, user_id: int, workspace: str) -> bool:
        return workspace in self.list_user_present_workspaces(user_id)

    def list_user_present_workspaces(self, user_id: int) -> set[str]:
        return {role.workspace for role in self.roles_of_id(user_id)}

    def list_workspace_admin_workspaces(self, user_id: int) -> set[str]:
        return {
            role.workspace
            for role in self.roles_of_id(user_id)
            if any(item["permission"] == _MANAGE for item in _of_workspace(role))
        }

    def is_workspace_admin(self, user_id: int, workspace: str) -> bool:
        return workspace in self.list_workspace_admin_workspaces(user_id)

    def is_workspace_admin_of_any_of_users_workspaces(
        self, admin_user_id: int, target_user_id: int
    ) -> bool:
        administered = self.list_workspace_admin_workspaces(admin_user_id)
        return bool(administered & self.list_user_present_workspaces(target_user_id))

    # Resources

    def list_grants(
        self, user_id: int, workspace: str, resource_types: Collection[str]
    ) -> list[RoleGrantRow]:
        wanted = set(resource_types)
        for resource_type in wanted:
            validate_resource_type(resource_type)
        wanted.add(_WORKSPACE)
        return [
            RoleGrantRow(item["resource_type"], item["pattern"], item["permission"])
            for role in self.roles_of_id(user_id, workspace)
            for item in role.grants
            if item["resource_type"] in wanted
        ]

    def list_role_grants_for_user_in_workspace(
        self, user_id: int, workspace: str, resource_type: str
    ) -> list[tuple[str, str]]:
        return [
            (row.resource_pattern, row.permission)
            for row in self.list_grants(user_id, workspace, [resource_type])
        ]

    def get_role_permission_for_resource(
        self, user_id: int, resource_type: str, resource_id: str, workspace: str
    ) -> Permission | None:
        """The highest permission by any role; a denial counts unless the user manages all."""
        best: str | None = None
        denied = manages = False
        for role in self.roles_of_id(user_id, workspace):
            for item in role.grants:
                permission: str = item["permission"]
                if item["resource_type"] == _WORKSPACE and item["pattern"] == "*":
                    manages = manages or permission == _MANAGE
                    if resource_type == _WORKSPACE or permission == _MANAGE:
                        best = _higher(best, permission)
                elif item["resource_type"] == resource_type and item["pattern"] in {
                    "*",
                    resource_id,
                }:
                    denied = denied or permission == _DENY
                    best = best if permission == _DENY else _higher(best, permission)
        if denied and not manages:
            return types.DENY
        return None if best is None else get_permission(best)


def _higher(permission: str | None, other: str) -> str:
    return other if permission is None else max_permission(permission, other)


def _of_workspace(role: StoredRole) -> list[Item]:
    return [
        item
        for item in role.grants
        if item["resource_type"] == _WORKSPACE and item["pattern"] == "*"
    ]


def _workspace_permission(item: Item) -> WorkspacePermission:
    return WorkspacePermission(item["workspace"], item["user_id"], item["permission"])
