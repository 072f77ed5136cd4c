"""MLflow's methods for users' own permissions, one set for each type of resource."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from mlflow.server.auth import entities
from mlflow.server.auth import permissions as types

from vitrine_mlflow.auth.grants import Grants
from vitrine_mlflow.mlflow_api import validate_grant


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
