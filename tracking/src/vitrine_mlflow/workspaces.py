"""MLflow's workspace provider on the table: metadata of workspaces, and their deletion."""

# MLflow's base class declares no types of its parameters.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Iterable
from typing import Any, NamedTuple

from mlflow.entities import ViewType
from mlflow.entities.workspace import TraceArchivalConfig, Workspace, WorkspaceDeletionMode
from mlflow.store.workspace.abstract_store import (
    AbstractStore,
    ResolvedTraceArchivalConfig,
    WorkspaceNameValidator,
)

from vitrine_mlflow import keys
from vitrine_mlflow.addresses import require_folder
from vitrine_mlflow.context import DEFAULT_WORKSPACE, Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.errors import ConflictError, exists, invalid, missing_error, wrong_state
from vitrine_mlflow.evaluation import EvaluationDatasets
from vitrine_mlflow.experiment_items import StoredExperiment
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import ABSENT, Delete, Item, Put, Update, key_of, with_key
from vitrine_mlflow.logged_models import LoggedModels
from vitrine_mlflow.mlflow_api import validated_archival_location, validated_archival_retention
from vitrine_mlflow.registry.models import Models
from vitrine_mlflow.removal import Removal
from vitrine_mlflow.runs import Runs
from vitrine_mlflow.table import INFO, PARTITION_KEY
from vitrine_mlflow.traces.traces import Traces
from vitrine_mlflow.uri import StoreAddress

_DEFAULT_DESCRIPTION = "Default workspace for legacy resources"
_FIELDS = (
    "description", "default_artifact_root", "trace_archival_location", "trace_archival_retention",
)  # fmt: skip


class _Fixed(NamedTuple):
    """The workspace that is deleted, whichever one the request has."""

    workspace: str

    def active(self) -> str:
        return self.workspace

    def artifact_root(self, default: str, workspace: str) -> str:  # noqa: ARG002
        return default


class _Resources:
    """The experiments and models of one workspace, by indexes, which may lag."""

    def __init__(self, database: Database, workspace: str) -> None:
        self.workspace = workspace
        self._database = database
        context = Context(database, "", isolation=_Fixed(workspace))
        self._experiments = Experiments(context)
        traces = Traces(context, self._experiments)
        runs = Runs(context, self._experiments)
        logged = LoggedModels(context, self._experiments)
        self._removal = Removal(context, self._experiments, runs, traces.items, logged)
        self._models = Models(context)
        self._evaluation = EvaluationDatasets(context, self._experiments)

    def experiments(self) -> list[StoredExperiment]:
        ids = self._experiments.ids_in_workspace()
        return [self._experiments.find(experiment_id, ViewType.ALL) for experiment_id in ids]

    def names(self) -> dict[str, list[str]]:
        """Names by the name of the table in which MLflow's own store keeps them."""
        return {
            "registered_models": list(self._models.listed_by_name()),
            "experiments": [experiment.name for experiment in self.experiments()],
            "evaluation_datasets": [item[INFO]["name"] for item in self._evaluation_datasets()],
        }

    def webhooks(self) -> list[Item]:
        return list(self._database.query(keys.WEBHOOK.pk.build({"workspace": self.workspace})))

    def _evaluation_datasets(self) -> list[Item]:
        pk = keys.EVALUATION_DATASET.pk.build({"workspace": self.workspace})
        return list(self._database.query(pk))

    def remove(self) -> None:
        for name in list(self._models.listed_by_name()):
            self._models.delete(name)
        for stored in self.experiments():
            self._removal.remove_stored(stored)
        for dataset in list(self._evaluation.all()):
            self._evaluation.delete(dataset.dataset_id)
        self._database.write_in_batches(Delete(key_of(item)) for item in self.webhooks())

    def move(self, target: "_Resources") -> None:
        for name in list(self._models.listed_by_name()):
            self._models.move(name, target._models)
        for stored in self.experiments():
            self._experiments.move(stored, DEFAULT_WORKSPACE)
        for item in [*self._evaluation_datasets(), *self.webhooks()]:
            kind = keys.WEBHOOK if keys.WEBHOOK.parse(key_of(item)) else keys.EVALUATION_DATASET
            placed = {**item, PARTITION_KEY: kind.pk.build({"workspace": target.workspace})}
            self._database.write([Put(placed), Delete(key_of(item))])


class DynamoWorkspaceStore(AbstractStore):
    """Workspaces in the table of experiments and models."""

    def __init__(self, workspace_uri: str) -> None:
        self._build(StoreAddress.parse(workspace_uri).connect())

    @classmethod
    def of_database(cls, database: Database) -> "DynamoWorkspaceStore":
        """A store of a given table, for tests and tools."""
        store = cls.__new__(cls)
        store._build(database)
        return store

    def _build(self, database: Database) -> None:
        self._database = database
        if self.find(DEFAULT_WORKSPACE) is None:
            try:
                self._put({"name": DEFAULT_WORKSPACE, "description": _DEFAULT_DESCRIPTION})
            except ConflictError:
                return  # another store created it

    def find(self, workspace_name: str) -> Item | None:
        """The item of a workspace, read consistently."""
        return self._database.get(keys.WORKSPACE.key(workspace=workspace_name))

    def _require(self, workspace_name: str) -> Item:
        item = self.find(workspace_name)
        if item is None:
            raise missing_error(f"Workspace '{workspace_name}' not found")
        return item

    def _put(self, attributes: dict[str, Any]) -> None:
        name: str = attributes["name"]
        new = {PARTITION_KEY: ABSENT}
        listed = with_key(keys.WORKSPACE_NAME.key(workspace=name), {"name": name})
        item = with_key(keys.WORKSPACE.key(workspace=name), attributes)
        self._database.write([Put(item, new), Put(listed)])

    def list_workspaces(self) -> Iterable[Workspace]:
        prefix = keys.WORKSPACE_NAME.prefix()
        pk = keys.WORKSPACE_NAME.pk.text
        names = [item["name"] for item in self._database.query_prefix(pk, prefix)]
        items = self._database.get_many(keys.WORKSPACE.key(workspace=name) for name in names)
        return [_entity(item) for item in sorted(items.values(), key=lambda item: item["name"])]

    def get_workspace(self, workspace_name: str) -> Workspace:
        return _entity(self._require(workspace_name))

    def get_default_workspace(self) -> Workspace:
        return self.get_workspace(DEFAULT_WORKSPACE)

    def create_workspace(self, workspace: Workspace) -> Workspace:
        WorkspaceNameValidator.validate(workspace.name)
        attributes = {"name": workspace.name, **_given_fields(workspace)}
        try:
            self._put(attributes)
        except ConflictError as error:
            raise exists(
                f"Workspace '{workspace.name}' already exists. Error: the name is reserved"
            ) from error
        return _entity(attributes)

    def update_workspace(self, workspace: Workspace) -> Workspace:
        changes = _given_fields(workspace)

        def attempt() -> Workspace:
            item = self._require(workspace.name)
            changed = {**item, **changes}
            key = keys.WORKSPACE.key(workspace=workspace.name)
            if changes:
                self._database.write([Update(key, changes, condition={"name": workspace.name})])
            return _entity(changed)

        return self._database.retry(attempt)

    def delete_workspace(
        self,
        workspace_name: str,
        mode: WorkspaceDeletionMode = WorkspaceDeletionMode.RESTRICT,
    ) -> None:
        if workspace_name == DEFAULT_WORKSPACE:
            raise wrong_state(f"Cannot delete the reserved '{DEFAULT_WORKSPACE}' workspace")
        self._require(workspace_name)
        resources = _Resources(self._database, workspace_name)
        match mode:
            case WorkspaceDeletionMode.RESTRICT:
                contents = {**resources.names(), "webhooks": resources.webhooks()}
                if kind := next((kind for kind, names in contents.items() if names), None):
                    raise wrong_state(
                        f"Cannot delete workspace '{workspace_name}': table '{kind}' still "
                        f"contains {len(contents[kind])} resource(s). Remove or reassign them "
                        "before deleting the workspace."
                    )
            case WorkspaceDeletionMode.CASCADE:
                resources.remove()
            case WorkspaceDeletionMode.SET_DEFAULT:
                target = _Resources(self._database, DEFAULT_WORKSPACE)
                _require_other_names(workspace_name, resources, target)
                resources.move(target)
            case _:
                raise invalid(
                    f"Invalid workspace deletion mode {mode!r}. "
                    "Expected one of: RESTRICT, CASCADE, SET_DEFAULT."
                )
        self._database.write(
            [
                Delete(keys.WORKSPACE.key(workspace=workspace_name)),
                Delete(keys.WORKSPACE_NAME.key(workspace=workspace_name)),
            ]
        )

    def resolve_artifact_root(
        self, default_artifact_root: str | None, workspace_name: str
    ) -> tuple[str | None, bool]:
        own = (self.find(workspace_name) or {}).get("default_artifact_root")
        return (own, False) if own else (default_artifact_root, True)

    def resolve_trace_archival_config(
        self, default_trace_archival_root: str, default_retention: str, workspace_name: str
    ) -> ResolvedTraceArchivalConfig:
        item = self.find(workspace_name) or {}
        own = item.get("trace_archival_location")
        return ResolvedTraceArchivalConfig(
            config=TraceArchivalConfig(
                location=own or default_trace_archival_root,
                retention=item.get("trace_archival_retention") or default_retention,
            ),
            append_workspace_prefix=not own,
        )


def _given_fields(workspace: Workspace) -> dict[str, str | None]:
    """The fields that a request sets; an empty text removes one, except a description."""
    location, retention = workspace.trace_archival_location, workspace.trace_archival_retention
    for field in ("default_artifact_root", "trace_archival_location"):
        require_folder(getattr(workspace, field), field, "", workspace.name)
    values = {
        "description": workspace.description,
        "default_artifact_root": workspace.default_artifact_root,
        "trace_archival_location": validated_archival_location(location) if location else location,
        "trace_archival_retention": (
            validated_archival_retention(retention) if retention else retention
        ),
    }
    return {
        name: value if value or name == "description" else None
        for name, value in values.items()
        if value is not None
    }


def _entity(item: Item) -> Workspace:
    return Workspace(item["name"], *(item.get(name) for name in _FIELDS))


def _require_other_names(workspace_name: str, own: _Resources, default: _Resources) -> None:
    taken = default.names()
    conflicts = [
        f"  - {kind}: {name!r}"
        for kind, names in own.names().items()
        for name in names
        if name in taken[kind]
    ]
    if conflicts:
        details = "\n".join(conflicts)
        raise wrong_state(
            f"Cannot reassign resources from workspace '{workspace_name}' to "
            f"'{DEFAULT_WORKSPACE}': the following names already exist in the default workspace "
            f"and would cause conflicts:\n{details}\n"
            "Rename or remove the conflicting resources before retrying."
        )
