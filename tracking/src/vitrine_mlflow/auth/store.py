"""The store of MLflow's basic-auth app: the methods of MLflow 3.17's SqlAlchemyStore for auth."""

from collections.abc import Iterable
from typing import Any

from mlflow.environment_variables import MLFLOW_ENABLE_WORKSPACES
from mlflow.server.auth.entities import Role, RolePermission, User, UserRoleAssignment
from mlflow.server.auth.permissions import RESOURCE_TYPE_WORKSPACE

from vitrine_mlflow.auth.grants import Grants
from vitrine_mlflow.auth.items import AuthItems, grant_entity, user_entity
from vitrine_mlflow.auth.resolution import ResolutionMethods
from vitrine_mlflow.auth.resources import ResourceMethods, ResourcePermissions, scorer_pattern
from vitrine_mlflow.auth.roles import Roles
from vitrine_mlflow.auth.users import Users
from vitrine_mlflow.context import DEFAULT_WORKSPACE
from vitrine_mlflow.database import Database
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.isolation import RequestWorkspaces
from vitrine_mlflow.mlflow_api import validate_grant
from vitrine_mlflow.uri import StoreAddress


def _active_workspace() -> str:
    if not MLFLOW_ENABLE_WORKSPACES.get():
        return DEFAULT_WORKSPACE
    return RequestWorkspaces("").active()


class DynamoAuthStore(ResolutionMethods, ResourceMethods):
    """Users, roles and permissions in the table of experiments and models."""

    def init_db(self, db_uri: str, read_db_uri: str | None = None) -> None:  # noqa: ARG002
        """Connect; MLflow calls it before anything else. One table serves all reads."""
        self.build(StoreAddress.parse(db_uri).connect())

    def build(self, database: Database) -> None:
        """Use a given table."""
        self.items = AuthItems(database)
        self.users = Users(self.items)
        self.roles = Roles(self.items)
        self.grants = Grants(self.items, self.roles)
        self.resources = ResourcePermissions(self.grants, _active_workspace)

    # Users

    def authenticate_user(
        self, username: str, password: str, *, use_primary: bool = False  # noqa: ARG002
    ) -> bool:  # fmt: skip
        return self.users.authenticate(username, password)

    def create_user(self, username: str, password: str, is_admin: bool = False) -> User:  # noqa: FBT001, FBT002, RUF100 - MLflow's signature
        return self.users.create(username, password, is_admin=is_admin)

    def has_user(self, username: str, *, use_primary: bool = False) -> bool:  # noqa: ARG002
        return self.users.exists(username)

    def get_user(self, username: str) -> User:
        return user_entity(self.items.user(username))

    def list_users(self) -> list[User]:
        return [user_entity(item) for item in self.users.all()]

    def list_users_with_roles(self) -> list[tuple[User, list[Role]]]:
        users = (self.items.whole_user(item["username"]) for item in self.users.all())
        return [
            (user_entity(user.meta), [role.entity() for role in self.items.roles_of(user)])
            for user in users
        ]

    def update_user(
        self, username: str, password: str | None = None, is_admin: bool | None = None
    ) -> User:
        return self.users.update(username, password, is_admin=is_admin)

    def delete_user(self, username: str) -> None:
        self.users.delete(username)

    # Permissions of users

    def grant_user_permission(
        self, username: str, resource_type: str, resource_pattern: str, permission: str
    ) -> None:
        validate_grant(permission, resource_type, resource_pattern)
        self.items.user(username)
        workspace = _active_workspace()
        self.grants.put(username, workspace, resource_type, resource_pattern, permission)

    def grant_user_resource_permission(
        self, username: str, resource_type: str, resource_pattern: str, permission: str
    ) -> None:
        _refuse_workspace(resource_type)
        validate_grant(permission, resource_type, resource_pattern)
        self.grants.create(
            username, _active_workspace(), resource_type, resource_pattern, permission,
            f"Permission for user={username} on resource_type={resource_type}, "
            f"resource_id={resource_pattern} already exists.",
        )  # fmt: skip

    def revoke_user_resource_permission(
        self, username: str, resource_type: str, resource_pattern: str
    ) -> None:
        _refuse_workspace(resource_type)
        item = self.grants.require(
            username, _active_workspace(), resource_type, resource_pattern,
            f"Permission for user={username} on resource_type={resource_type}, "
            f"resource_id={resource_pattern} not found.",
        )  # fmt: skip
        self.grants.remove(item)

    def delete_grants_for_resource(
        self, resource_type: str, resource_pattern: str, *, workspace_scoped: bool = False
    ) -> None:
        for item in self._for_resource(resource_type, resource_pattern, scoped=workspace_scoped):
            self.grants.remove(item)

    def rename_grants_for_resource(
        self, resource_type: str, old_pattern: str, new_pattern: str, *,
        workspace_scoped: bool = False,
    ) -> None:  # fmt: skip
        grants = self._for_resource(resource_type, old_pattern, scoped=workspace_scoped)
        self.grants.rename(grants, new_pattern)

    def _for_resource(self, kind: str, pattern: str, *, scoped: bool) -> list[Any]:
        active = _active_workspace() if scoped else None
        workspaces = [active] if active else self.grants.workspaces()
        return [
            item
            for workspace in workspaces
            for item in self.grants.for_resource(workspace, kind, pattern)
        ]

    # Permissions for workspaces

    def delete_workspace_permissions_for_workspace(self, workspace_name: str) -> None:
        for item in self.grants.for_resource(workspace_name, RESOURCE_TYPE_WORKSPACE, "*"):
            self.grants.remove(item)

    # Roles

    def create_role(self, name: str, workspace: str, description: str | None = None) -> Role:
        return self.roles.create(name, workspace, description)

    def get_role(self, role_id: int) -> Role:
        return self.items.role(role_id).entity()

    def get_role_by_name(self, workspace: str, name: str) -> Role:
        return self.roles.by_name(workspace, name)

    def list_roles(self, workspaces: Iterable[str] | None = None) -> list[Role]:
        wanted = None if workspaces is None else set(workspaces)
        roles = (
            self.items.found_role(role_id)
            for role_id, workspace in self.items.role_ids()
            if wanted is None or workspace in wanted
        )
        return [role.entity() for role in roles if role is not None]

    def update_role(
        self, role_id: int, name: str | None = None, description: str | None = None
    ) -> Role:
        return self.roles.update(role_id, name, description)

    def delete_role(self, role_id: int) -> None:
        self.roles.delete(role_id)

    def delete_roles_for_workspace(self, workspace_name: str) -> None:
        for role_id, workspace in self.items.role_ids():
            if workspace == workspace_name and self.items.found_role(role_id) is not None:
                self.roles.delete(role_id)

    def add_role_permission(
        self, role_id: int, resource_type: str, resource_pattern: str, permission: str
    ) -> RolePermission:
        return self.roles.add_grant(role_id, resource_type, resource_pattern, permission)

    def get_role_permission(self, role_permission_id: int) -> RolePermission:
        return grant_entity(self.roles.grant(role_permission_id))

    def remove_role_permission(self, role_permission_id: int) -> None:
        self.roles.remove_grant(role_permission_id)

    def list_role_permissions(self, role_id: int) -> list[RolePermission]:
        return [grant_entity(item) for item in self.items.role(role_id).grants]

    def update_role_permission(self, role_permission_id: int, permission: str) -> RolePermission:
        return self.roles.update_grant(role_permission_id, permission)

    def assign_role_to_user(self, user_id: int, role_id: int) -> UserRoleAssignment:
        return self.roles.assign(user_id, role_id)

    def unassign_role_from_user(self, user_id: int, role_id: int) -> None:
        self.roles.unassign(user_id, role_id)

    def list_user_roles(self, user_id: int) -> list[Role]:
        return [role.entity() for role in self.roles_of_id(user_id)]

    def list_user_roles_for_workspace(self, user_id: int, workspace: str) -> list[Role]:
        return [role.entity() for role in self.roles_of_id(user_id, workspace)]

    def list_role_users(self, role_id: int) -> list[UserRoleAssignment]:
        users = self.items.role(role_id).users
        return [UserRoleAssignment(item["id"], item["user_id"], role_id) for item in users]

    def _scorer_pattern(self, experiment_id: str, scorer_name: str) -> str:
        return scorer_pattern(experiment_id, scorer_name)  # MLflow's app calls it


def _refuse_workspace(resource_type: str) -> None:
    if resource_type == RESOURCE_TYPE_WORKSPACE:
        raise invalid(
            "resource_type 'workspace' is not supported by the per-user permission convenience "
            "APIs. Use set_workspace_permission / delete_workspace_permission for workspace-wide "
            "grants."
        )
