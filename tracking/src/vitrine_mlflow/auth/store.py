"""MLflow's store of users, roles and permissions, on the table."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from mlflow.environment_variables import MLFLOW_ENABLE_WORKSPACES
from mlflow.server.auth import entities
from mlflow.server.auth import permissions as types
from mlflow.server.auth.entities import Role, RolePermission, User, UserRoleAssignment
from mlflow.server.auth.permissions import RESOURCE_TYPE_WORKSPACE

from vitrine_mlflow.auth.items import AuthItems, grant_entity, user_entity
from vitrine_mlflow.auth.resolution import ResolutionMethods
from vitrine_mlflow.auth.roles import Grants, Roles
from vitrine_mlflow.auth.users import Users
from vitrine_mlflow.context import DEFAULT_WORKSPACE
from vitrine_mlflow.database import Database
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.isolation import RequestWorkspaces
from vitrine_mlflow.mlflow_api import validate_grant
from vitrine_mlflow.uri import StoreAddress


class Resource(NamedTuple):
    """A resource of the request: what errors call it, and MLflow's entity of a permission."""

    kind: str
    pattern: str
    workspace: str
    duplicate: str
    missing: str
    entity: Callable[[int, str], Any]


class ResourcePermissions:
    """The five operations on the permission of a user, for each type of resource."""

    def __init__(self, grants: Grants, active_workspace: Callable[[], str]) -> None:
        self.grants = grants
        self.workspace = active_workspace

    def resource(self, kind: str, username: str, **ids: str) -> Resource:
        """A resource of the request's workspace by its type and ids."""
        workspace = self.workspace()
        label, entity = _KINDS[kind]
        fields = {**ids, "username": username}
        if kind == types.RESOURCE_TYPE_REGISTERED_MODEL:
            named = f"with workspace={workspace}, name={ids['name']} and username={username}"
            duplicate, missing = (f"{label} {named} {ending}" for ending in _ENDS)
            extra = {"workspace": workspace}
        else:
            pairs = [f"{key}={value}" for key, value in fields.items()]
            comma = "," if len(pairs) > 2 else ""
            duplicate = f"{label} ({', '.join(pairs)}) {_ENDS[0]}"
            missing = f"{label} with {', '.join(pairs[:-1])}{comma} and {pairs[-1]} {_ENDS[1]}"
            extra = {}

        def build_permission(user_id: int, permission: str) -> Any:
            return entity(**ids, **extra, user_id=user_id, permission=permission)

        return Resource(kind, pattern_of(ids), workspace, duplicate, missing, build_permission)

    def create(self, kind: str, username: str, permission: str, **ids: str) -> Any:
        validate_grant(permission, kind)
        resource = self.resource(kind, username, **ids)
        user_id = self.grants.create(
            username, resource.workspace, kind, resource.pattern, permission, resource.duplicate
        )
        return resource.entity(user_id, permission)

    def get(self, kind: str, username: str, **ids: str) -> Any:
        resource = self.resource(kind, username, **ids)
        item = self.grants.require(
            username, resource.workspace, kind, resource.pattern, resource.missing
        )
        return resource.entity(item["user_id"], item["permission"])

    def update(self, kind: str, username: str, permission: str, **ids: str) -> Any:
        validate_grant(permission, kind)
        resource = self.resource(kind, username, **ids)
        item = self.grants.require(
            username, resource.workspace, kind, resource.pattern, resource.missing
        )
        self.grants.change(item, permission)
        return resource.entity(item["user_id"], permission)

    def delete(self, kind: str, username: str, **ids: str) -> None:
        resource = self.resource(kind, username, **ids)
        item = self.grants.require(
            username, resource.workspace, kind, resource.pattern, resource.missing
        )
        self.grants.remove(item)

    def list_permissions(self, kind: str, username: str, *, everywhere: bool = False) -> list[Any]:
        workspace = None if everywhere else self.workspace()
        user_id, items = self.grants.of_user(username, kind, workspace)
        _, entity = _KINDS[kind]
        return [
            entity(**_ids_of(kind, item), user_id=user_id, permission=item["permission"])
            for item in items
        ]


_ENDS = ("already exists.", "not found")
_KINDS: dict[str, tuple[str, Callable[..., Any]]] = {
    types.RESOURCE_TYPE_EXPERIMENT: ("Experiment permission", entities.ExperimentPermission),
    types.RESOURCE_TYPE_REGISTERED_MODEL: (
        "Registered model permission", entities.RegisteredModelPermission,
    ),
    types.RESOURCE_TYPE_SCORER: ("Scorer permission", entities.ScorerPermission),
}  # fmt: skip
_ID_NAMES = {
    types.RESOURCE_TYPE_EXPERIMENT: "experiment_id",
    types.RESOURCE_TYPE_REGISTERED_MODEL: "name",
}


def scorer_pattern(experiment_id: str, scorer_name: str) -> str:
    # a scorer's name may contain "/", so it is encoded
    return f"{experiment_id}/{quote(scorer_name, safe='')}"


def pattern_of(ids: dict[str, str]) -> str:
    if "scorer_name" in ids:
        return scorer_pattern(ids["experiment_id"], ids["scorer_name"])
    return next(iter(ids.values()))


def _ids_of(kind: str, item: dict[str, Any]) -> dict[str, str]:
    pattern: str = item["pattern"]
    if kind == types.RESOURCE_TYPE_SCORER:
        experiment_id, _, name = pattern.partition("/")
        return {"experiment_id": experiment_id, "scorer_name": unquote(name)}
    ids = {_ID_NAMES[kind]: pattern}
    if kind == types.RESOURCE_TYPE_REGISTERED_MODEL:
        ids["workspace"] = item["workspace"]
    return ids


class ResourceMethods:
    """The methods by the names that MLflow calls."""

    resources: ResourcePermissions

    def create_experiment_permission(
        self, experiment_id: str, username: str, permission: str
    ) -> Any:
        kind = types.RESOURCE_TYPE_EXPERIMENT
        return self.resources.create(kind, username, permission, experiment_id=experiment_id)

    def get_experiment_permission(self, experiment_id: str, username: str) -> Any:
        kind = types.RESOURCE_TYPE_EXPERIMENT
        return self.resources.get(kind, username, experiment_id=experiment_id)

    def list_experiment_permissions(self, username: str) -> list[Any]:
        return self.resources.list_permissions(
            types.RESOURCE_TYPE_EXPERIMENT, username, everywhere=True
        )

    def update_experiment_permission(
        self, experiment_id: str, username: str, permission: str
    ) -> Any:
        kind = types.RESOURCE_TYPE_EXPERIMENT
        return self.resources.update(kind, username, permission, experiment_id=experiment_id)

    def delete_experiment_permission(self, experiment_id: str, username: str) -> None:
        kind = types.RESOURCE_TYPE_EXPERIMENT
        self.resources.delete(kind, username, experiment_id=experiment_id)

    def create_registered_model_permission(self, name: str, username: str, permission: str) -> Any:
        kind = types.RESOURCE_TYPE_REGISTERED_MODEL
        return self.resources.create(kind, username, permission, name=name)

    def get_registered_model_permission(self, name: str, username: str) -> Any:
        return self.resources.get(types.RESOURCE_TYPE_REGISTERED_MODEL, username, name=name)

    def list_registered_model_permissions(self, username: str) -> list[Any]:
        return self.resources.list_permissions(types.RESOURCE_TYPE_REGISTERED_MODEL, username)

    def list_all_registered_model_permissions(self, username: str) -> list[Any]:
        kind = types.RESOURCE_TYPE_REGISTERED_MODEL
        return self.resources.list_permissions(kind, username, everywhere=True)

    def update_registered_model_permission(self, name: str, username: str, permission: str) -> Any:
        kind = types.RESOURCE_TYPE_REGISTERED_MODEL
        return self.resources.update(kind, username, permission, name=name)

    def delete_registered_model_permission(self, name: str, username: str) -> None:
        self.resources.delete(types.RESOURCE_TYPE_REGISTERED_MODEL, username, name=name)

    def create_scorer_permission(
        self, experiment_id: str, scorer_name: str, username: str, permission: str
    ) -> Any:
        return self.resources.create(
            types.RESOURCE_TYPE_SCORER, username, permission,
            experiment_id=experiment_id, scorer_name=scorer_name,
        )  # fmt: skip

    def get_scorer_permission(self, experiment_id: str, scorer_name: str, username: str) -> Any:
        return self.resources.get(
            types.RESOURCE_TYPE_SCORER, username,
            experiment_id=experiment_id, scorer_name=scorer_name,
        )  # fmt: skip

    def list_scorer_permissions(self, username: str) -> list[Any]:
        return self.resources.list_permissions(
            types.RESOURCE_TYPE_SCORER, username, everywhere=True
        )

    def update_scorer_permission(
        self, experiment_id: str, scorer_name: str, username: str, permission: str
    ) -> Any:
        return self.resources.update(
            types.RESOURCE_TYPE_SCORER, username, permission,
            experiment_id=experiment_id, scorer_name=scorer_name,
        )  # fmt: skip

    def delete_scorer_permission(self, experiment_id: str, scorer_name: str, username: str) -> None:
        self.resources.delete(
            types.RESOURCE_TYPE_SCORER, username,
            experiment_id=experiment_id, scorer_name=scorer_name,
        )  # fmt: skip


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
