"""Workspaces: the provider and both stores against MLflow's own, in the same operations."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from mlflow.entities import Metric, RunTag
from mlflow.entities.webhook import WebhookEvent
from mlflow.entities.workspace import Workspace, WorkspaceDeletionMode
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry import sqlalchemy_workspace_store as sql_registry
from mlflow.store.tracking import sqlalchemy_workspace_store as sql_tracking
from mlflow.store.workspace import sqlalchemy_store as sql_workspaces
from mlflow.utils.workspace_context import WorkspaceContext
from vitrine_mlflow import isolation
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.isolation import RequestWorkspaces
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.workspaces import DynamoWorkspaceStore

from tests.integration.tracking.stores import ARTIFACTS, TrackingTables
from tests.integration.tracking.trace_histories import info_of


class Stores:
    """The three stores of one product."""

    def __init__(self, workspaces: Any, tracking: Any, registry: Any) -> None:
        self.workspaces, self.tracking, self.registry = workspaces, tracking, registry
        self.names: dict[str, str] = {}  # of ids, which both products choose for themselves

    def outcome(self, workspace: str, call: Callable[["Stores"], Any]) -> Any:
        """The result of a call in a workspace, or the code of its error."""
        with WorkspaceContext(workspace):
            try:
                return call(self)
            except MlflowException as error:
                return error.error_code, str(error).partition(" Error: ")[0]

    def experiment(self, name: str) -> None:
        self.names[name] = self.tracking.create_experiment(name)

    def run(self, name: str) -> None:
        run = self.tracking.create_run(self.names[name], "ann", 1, [RunTag("t", "v")], name)
        self.names[f"run of {name}"] = run.info.run_id
        self.tracking.log_metric(run.info.run_id, Metric("m", 1.0, 1, 1))

    def location(self, name: str) -> str:
        location: str = self.tracking.get_experiment(self.names[name]).artifact_location
        return location.removesuffix(f"/{self.names[name]}")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with MLflow's tables, whose migrations take seconds."""
    path = tmp_path_factory.mktemp("sql") / "template.db"
    sql_workspaces.SqlAlchemyStore(f"sqlite:///{path}")
    return path


@pytest.fixture
def both(
    table: Database, tmp_path: Path,
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Stores, Stores]]:  # fmt: skip
    monkeypatch.setenv("MLFLOW_ENABLE_WORKSPACES", "true")
    provider = DynamoWorkspaceStore.of_database(table)
    context = Context(table, ARTIFACTS, isolation=RequestWorkspaces("dynamodb://table"))
    with mock.patch.object(isolation.providers, "get_workspace_store", return_value=provider):
        ours = Stores(
            provider,
            DynamoTrackingStore.of_context(context),
            DynamoRegistryStore.of_context(context),
        )
        uri = f"sqlite:///{shutil.copy(template, tmp_path / 'sql.db')}"
        theirs = Stores(
            sql_workspaces.SqlAlchemyStore(uri),
            sql_tracking.WorkspaceAwareSqlAlchemyStore(uri, ARTIFACTS),
            sql_registry.WorkspaceAwareSqlAlchemyStore(uri),
        )
        yield ours, theirs


def _sorted_names(entities: Any) -> Any:
    return sorted(entity.name for entity in entities)


_PLAIN = Workspace("team-a", "first", trace_archival_retention="30d")
_OTHER = Workspace("team-b", default_artifact_root="s3://own/root")
_STEPS: list[tuple[str, Callable[[Stores], Any]]] = [
    ("default", lambda s: s.workspaces.get_default_workspace()),
    ("default", lambda s: s.workspaces.create_workspace(_PLAIN)),
    ("default", lambda s: s.workspaces.create_workspace(_PLAIN)),
    ("default", lambda s: s.workspaces.create_workspace(_OTHER)),
    ("default", lambda s: s.workspaces.create_workspace(Workspace("Bad Name"))),
    ("default", lambda s: s.workspaces.create_workspace(Workspace("api"))),
    ("default", lambda s: s.workspaces.create_workspace(
        Workspace("team-c", trace_archival_retention="soon"))),
    ("default", lambda s: list(s.workspaces.list_workspaces())),
    ("default", lambda s: s.workspaces.get_workspace("absent")),
    ("default", lambda s: s.workspaces.update_workspace(Workspace("absent"))),
    ("default", lambda s: s.workspaces.update_workspace(
        Workspace("team-a", "", trace_archival_retention=""))),
    ("default", lambda s: s.workspaces.get_workspace("team-a")),
    ("default", lambda s: s.workspaces.resolve_artifact_root("s3://r", "team-b")),
    ("default", lambda s: s.workspaces.resolve_artifact_root("s3://r", "absent")),
    ("default", lambda s: s.workspaces.resolve_trace_archival_config("s3://r", "1d", "team-a")),
    ("team-a", lambda s: s.experiment("same")),
    ("team-b", lambda s: s.tracking.create_experiment("same") and None),
    ("team-a", lambda s: s.tracking.create_experiment("same")),
    ("team-a", lambda s: s.tracking.create_experiment("placed", "s3://elsewhere")),
    ("team-a", lambda s: s.location("same")),
    ("team-b", lambda s: s.experiment("of-b")),
    ("team-b", lambda s: s.location("of-b")),
    ("default", lambda s: s.tracking.get_experiment("0").name),
    ("team-a", lambda s: s.tracking.get_experiment("0").name),
    ("team-a", lambda s: _sorted_names(s.tracking.search_experiments())),
    ("team-b", lambda s: _sorted_names(s.tracking.search_experiments())),
    ("default", lambda s: _sorted_names(s.tracking.search_experiments())),
    ("team-b", lambda s: s.tracking.get_experiment_by_name("same").workspace),
    ("default", lambda s: s.tracking.get_experiment_by_name("same")),
    ("team-a", lambda s: s.run("same")),
    ("team-a", lambda s: s.tracking.get_run(s.names["run of same"]).data.metrics),
    ("team-a", lambda s: len(s.tracking.search_runs([s.names["same"]], "", 1, 10))),
    ("team-b", lambda s: len(s.tracking.search_runs([s.names["same"]], "", 1, 10))),
    ("team-a", lambda s: s.tracking.start_trace(
        info_of("tr-a", experiment_id=s.names["same"])).trace_id),
    ("team-b", lambda s: s.tracking.get_trace_info("tr-a")),
    ("team-b", lambda s: s.tracking.search_traces(locations=[s.names["same"]])[0]),
    ("team-a", lambda s: len(s.tracking.search_traces(locations=[s.names["same"]])[0])),
    ("team-a", lambda s: s.registry.create_registered_model("model").workspace),
    ("team-b", lambda s: s.registry.create_registered_model("model").workspace),
    ("default", lambda s: s.registry.create_registered_model("plain").workspace),
    ("team-a", lambda s: s.registry.create_registered_model("model")),
    ("team-a", lambda s: s.registry.create_model_version("model", "s3://a").version),
    ("team-a", lambda s: s.registry.set_registered_model_alias("model", "best", 1)),
    ("team-a", lambda s: s.registry.get_model_version_by_alias("model", "best").source),
    ("team-b", lambda s: s.registry.get_model_version_by_alias("model", "best")),
    ("default", lambda s: s.registry.get_registered_model("model")),
    ("default", lambda s: _sorted_names(s.registry.search_registered_models())),
    ("team-b", lambda s: _sorted_names(s.registry.search_registered_models())),
    ("team-b", lambda s: _sorted_names(s.registry.search_model_versions("name = 'model'"))),
    ("team-b", lambda s: s.registry.rename_registered_model("model", "renamed").workspace),
    ("default", lambda s: s.workspaces.delete_workspace("default")),
    ("default", lambda s: s.workspaces.delete_workspace("absent")),
    ("default", lambda s: s.workspaces.delete_workspace("team-a")),
    ("default", lambda s: s.registry.create_registered_model("renamed").workspace),
    ("default", lambda s: s.workspaces.delete_workspace(
        "team-b", WorkspaceDeletionMode.SET_DEFAULT)),
    ("default", lambda s: s.registry.delete_registered_model("renamed")),
    ("default", lambda s: s.workspaces.delete_workspace(
        "team-b", WorkspaceDeletionMode.SET_DEFAULT)),
    ("default", lambda s: _sorted_names(s.tracking.search_experiments())),
    ("default", lambda s: s.registry.get_registered_model("renamed").workspace),
    ("default", lambda s: s.workspaces.delete_workspace("team-a", WorkspaceDeletionMode.CASCADE)),
    ("default", lambda s: [workspace.name for workspace in s.workspaces.list_workspaces()]),
]  # fmt: skip

# Requests in any other workspace return 404.
_OF_OTHERS: list[Callable[[Stores], Any]] = [
    lambda s: s.tracking.get_run(s.names["run of same"]),
    lambda s: s.tracking.delete_run(s.names["run of same"]),
    lambda s: s.tracking.log_metric(s.names["run of same"], Metric("m", 2.0, 1, 1)),
    lambda s: s.tracking.set_tag(s.names["run of same"], RunTag("t", "w")),
    lambda s: s.tracking.get_experiment(s.names["same"]),
    lambda s: s.tracking.delete_experiment(s.names["same"]),
    lambda s: s.tracking.rename_experiment(s.names["same"], "taken"),
    lambda s: s.tracking.create_run(s.names["same"], "ann", 1, [], None),
    lambda s: s.tracking.get_metric_history(s.names["run of same"], "m"),
    lambda s: s.tracking.get_max_step_for_metric(s.names["run of same"], "m"),
    lambda s: s.tracking.get_metric_history_bulk_interval(
        [s.names["run of same"]], "m", 10, None, None
    ),
]


def test_every_step_returns_what_the_sql_stores_return(both: tuple[Stores, Stores]) -> None:
    for number, (workspace, call) in enumerate(_STEPS):
        ours, theirs = (stores.outcome(workspace, call) for stores in both)
        if "same" in both[0].names:
            ids = [stores.names["same"] for stores in both]
            ours = _text(ours, ids[0])
            theirs = _text(theirs, ids[1])
        assert _text(ours) == _text(theirs), f"step {number}"


def _text(outcome: Any, own_id: str = "") -> str:
    text = outcome if isinstance(outcome, str) else str(outcome)
    return text.replace(f"id={own_id}", "id=ID") if own_id else text


def test_other_workspaces_cannot_use_an_id(both: tuple[Stores, Stores]) -> None:
    for stores in both:
        stores.workspaces.create_workspace(_PLAIN)
        stores.workspaces.create_workspace(_OTHER)
        stores.outcome("team-a", lambda s: s.experiment("same"))
        stores.outcome("team-a", lambda s: s.run("same"))
        for number, call in enumerate(_OF_OTHERS):
            refused = stores.outcome("team-b", call)
            assert refused[0] == "RESOURCE_DOES_NOT_EXIST", (number, refused)
        assert stores.outcome("team-a", lambda s: s.tracking.get_run(s.names["run of same"]))


def test_without_a_workspace_requests_are_refused(both: tuple[Stores, Stores]) -> None:
    for stores in both:
        with pytest.raises(MlflowException, match="Active workspace is required"):
            stores.tracking.create_experiment("x")


def test_workspaces_cannot_be_disabled_while_others_have_resources(
    both: tuple[Stores, Stores], tracking_tables: TrackingTables
) -> None:
    ours = both[0]
    ours.workspaces.create_workspace(_PLAIN)
    plain = Context(ours.tracking._context.database, ARTIFACTS)  # pyright: ignore[reportPrivateUsage]
    DynamoTrackingStore.of_context(plain)
    ours.outcome("team-a", lambda s: s.registry.create_registered_model("model"))
    with pytest.raises(MlflowException, match="Cannot disable workspaces"):
        DynamoTrackingStore.of_context(plain)


def _experiment(stores: Stores) -> Any:
    return stores.tracking.create_experiment("one")


def _model(stores: Stores) -> Any:
    return stores.registry.create_registered_model("one")


def _hook(stores: Stores) -> Any:
    events = [WebhookEvent("registered_model", "created")]
    return stores.registry.create_webhook("hook", "https://127.0.0.1/x", events)


@pytest.mark.parametrize(
    ("kind", "create"),
    [
        ("experiments", _experiment),
        ("registered models", _model),
        ("webhooks", _hook),
    ],
)
def test_a_table_beside_that_of_the_workspaces_refuses_to_start_without_them(
    kind: str, create: Callable[[Stores], Any], both: tuple[Stores, Stores],
    table: Database, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setenv("MLFLOW_WEBHOOK_ALLOW_PRIVATE_IPS", "true")
    both[0].workspaces.create_workspace(_PLAIN)
    enabled = Context(table, ARTIFACTS, isolation=RequestWorkspaces("dynamodb://table"))
    apart = Stores(
        both[0].workspaces,
        DynamoTrackingStore.of_context(enabled),
        DynamoRegistryStore.of_context(enabled),
    )
    plain = Context(table, ARTIFACTS)
    classes = (DynamoTrackingStore, DynamoRegistryStore)
    for store in classes:
        store.of_context(plain)  # no workspace has data yet
    apart.outcome("default", create)
    for store in classes:
        store.of_context(plain)
    apart.outcome("team-a", create)
    for store in classes:
        with pytest.raises(MlflowException, match=f"because {kind} exist .*'team-a'"):
            store.of_context(plain)


def test_webhooks_and_datasets_go_where_their_workspace_goes(both: tuple[Stores, Stores]) -> None:
    for stores in both:
        for workspace, mode in (("team-a", "SET_DEFAULT"), ("team-b", "CASCADE")):
            stores.workspaces.create_workspace(Workspace(workspace))
            stores.outcome(workspace, lambda s: s.tracking.create_dataset("examples"))
            refused = stores.outcome(
                "default", lambda s, of=workspace: s.workspaces.delete_workspace(of)
            )
            assert "'evaluation_datasets' still contains 1" in refused[1]
            stores.workspaces.delete_workspace(workspace, WorkspaceDeletionMode(mode))
            stores.workspaces.create_workspace(Workspace(workspace))
            kept = stores.outcome(workspace, lambda s: _sorted_names(s.tracking.search_datasets()))
            assert kept == []
        assert stores.outcome("default", lambda s: _sorted_names(s.tracking.search_datasets())) == [
            "examples"
        ]


def test_webhooks_go_where_their_workspace_goes(
    both: tuple[Stores, Stores], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_WEBHOOK_ALLOW_PRIVATE_IPS", "true")
    events = [WebhookEvent("registered_model", "created")]
    for stores in both:
        for workspace, mode in (("team-a", "SET_DEFAULT"), ("team-b", "CASCADE")):
            stores.workspaces.create_workspace(Workspace(workspace))
            created = stores.outcome(
                workspace,
                lambda s, of=workspace: (
                    s.registry.create_webhook(
                        f"hook-of-{of}", "https://127.0.0.1/x", events
                    ).workspace
                ),
            )
            assert created == workspace
            refused = stores.outcome(
                "default", lambda s, of=workspace: s.workspaces.delete_workspace(of)
            )
            assert "'webhooks' still contains 1" in refused[1]
            stores.workspaces.delete_workspace(workspace, WorkspaceDeletionMode(mode))
            stores.workspaces.create_workspace(Workspace(workspace))
            assert (
                stores.outcome(workspace, lambda s: _sorted_names(s.registry.list_webhooks())) == []
            )
        kept = stores.outcome("default", lambda s: list(s.registry.list_webhooks()))
        assert [(webhook.name, webhook.workspace) for webhook in kept] == [
            ("hook-of-team-a", "default")
        ]
