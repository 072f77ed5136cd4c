"""Databases that are lent, and the scopes of their credentials."""

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import mlflow
import pytest
from flask import Flask
from mlflow import server as mlflow_server
from mlflow.exceptions import MlflowException
from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository
from mlflow.store.model_registry.abstract_store import AbstractStore as AbstractRegistry
from mlflow.store.tracking.abstract_store import AbstractStore
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from mlflow.utils.workspace_context import (
    clear_server_request_workspace,
    set_server_request_workspace,
)
from vitrine_mlflow.addresses import require_folder, require_source, require_storable
from vitrine_mlflow.lending import (
    LOCATIONS,
    VARIABLE,
    is_serving,
    listed_databases,
    names_vitrine,
    require_lent,
    require_source_lent,
)
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.store_unsupported import AREAS, area_of
from vitrine_mlflow.vitrine_link import connect

assert mlflow.__version__  # MLflow loads this package as a plugin, so it must come first
MARK = "_MLFLOW_SERVER_FILE_STORE"


def _is_refused(uri: str) -> bool:
    try:
        require_lent(uri, "source")
    except MlflowException as error:
        return error.error_code == "PERMISSION_DENIED" and VARIABLE in str(error)
    return False


def _is_storable(uri: str, root: str = "", workspace: str | None = None) -> bool:
    try:
        require_storable(uri, "source", root, workspace)
    except MlflowException as error:
        return not (error.error_code == "PERMISSION_DENIED" and LOCATIONS in str(error))
    return True


def test_a_client_stores_every_address_that_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert all(map(_is_storable, ("s3://assets/x", "/etc", "etc", "file:///etc", "vitrine://a/b")))
    with pytest.raises(MlflowException, match=r"Invalid address 'vitrine://a/\.\.'"):
        require_storable("vitrine://a/..", "source")


def test_a_server_stores_addresses_of_its_roots_and_its_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("_MLFLOW_SERVER_ARTIFACT_DESTINATION", "s3://own/mlflow/")
    monkeypatch.setenv(LOCATIONS, "s3://team/models /data/models")
    for uri in (
        *(
            "mlflow-artifacts:/a",
            "runs:/r/a",
            "models:/m/1",
            "s3://own/mlflow",
            "s3://own/mlflow/a",
        ),
        *("s3://team/models/a", "/data/models/a", "file:///data/models"),
    ):
        assert _is_storable(uri), uri
    assert _is_storable("/artifacts/e/1", root="/artifacts/e")
    for uri in (
        "s3://own/mlflowX",
        "s3://own",
        "/data",
        "/data/models/%252e./x",
        *("prompt-template", "dummy-source", "prompt-templates"),
    ):
        assert not _is_storable(uri), uri


def test_a_source_of_prompts_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOCATIONS, "s3://team/models")
    for uri in ("dummy-source", "prompt-template"):
        require_source(uri, "source")
        with pytest.raises(MlflowException, match=f"location '{uri}': .*{LOCATIONS}"):
            require_folder(uri, "location")
    with pytest.raises(MlflowException, match=LOCATIONS):
        require_source("prompt-templates", "source")


def test_a_refused_address_that_was_stored_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOCATIONS, "s3://team/models")
    with pytest.raises(MlflowException, match=f"location of e: .*{LOCATIONS}") as error:
        require_folder("/srv/secret/e", "location of e", is_shown=False)
    assert "secret" not in error.value.message


@pytest.mark.parametrize("serves", [True, False])
@pytest.mark.parametrize("path", ["", "ok", "ok/a", "/a?b=c", "/a?", "/a#b", "//host", "?a"])
def test_an_address_of_the_server_has_a_path_only(
    monkeypatch: pytest.MonkeyPatch, path: str, serves: bool
) -> None:
    if serves:
        monkeypatch.setenv(LOCATIONS, "s3://team/models")
    for scheme in ("mlflow-artifacts", "MLflow-Artifacts"):
        uri = f"{scheme}:{path}"
        for require in (require_folder, require_source):
            with pytest.raises(MlflowException, match="mlflow-artifacts:/PATH") as error:
                require(uri, "location")
            assert (error.value.get_http_status_code(), uri in error.value.message) == (400, True)
    require_folder("mlflow-artifacts:/a/b%3Fc", "location")


@pytest.mark.parametrize(
    "uri",
    ["models:/x/1", "models:/m-1", "MODELS:/x/1", " models:/x/1", "runs:/r/a", "models://h/x"],
)
def test_no_folder_of_artifacts_is_an_address_that_is_resolved(uri: str) -> None:
    with pytest.raises(MlflowException, match=f"location '{uri}': no artifacts can be") as error:
        require_folder(uri, "location")
    assert error.value.get_http_status_code() == 400


def test_sources_name_a_run() -> None:
    for uri in ("runs:", "runs:/", "runs:r", "runs:r/a", "runs://", "runs:/a b/c"):
        with pytest.raises(MlflowException, match=f"source '{uri}': .*runs:/RUN_ID/PATH") as error:
            require_source(uri, "source")
        assert error.value.get_http_status_code() == 400
    for uri in ("runs:/r", "runs:/r/a", "models:/x/1", "s3://bucket/x"):
        require_source(uri, "source")


def test_locations_are_listed_for_each_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ENABLE_WORKSPACES", "true")
    monkeypatch.setenv(LOCATIONS, "team-a:s3://team/a team-b:/data/b")
    assert _is_storable("s3://team/a/x", workspace="team-a")
    assert _is_storable("/data/b", workspace="team-b")
    assert not _is_storable("s3://team/a/x", workspace="team-b")
    for entry in ("s3://team/a", "team-a:", "team-a:models"):
        monkeypatch.setenv(LOCATIONS, entry)
        with pytest.raises(MlflowException, match=f"invalid entry '{entry}'.*WORKSPACE:LOCATION"):
            require_storable("s3://team/a/x", "source", "", "team-a")


def test_a_client_uses_every_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert mlflow_server.app  # a client of users and roles loads it
    assert not is_serving()
    assert not _is_refused("vitrine://museum/hall")


def test_a_process_that_serves_is_recognized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with Flask("served").app_context():
        assert is_serving()
    with click.Context(click.Command("gc")):
        assert is_serving()
    with click.Context(click.Command("artifacts")):
        assert not is_serving()
    for variable in (MARK, "_MLFLOW_SERVER_ARTIFACT_ROOT", VARIABLE):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "")
            assert is_serving(), variable
    for program in ("/usr/bin/uvicorn", "/lib/uvicorn/__main__.py", "hypercorn"):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [program, "served:app"])
            assert is_serving(), program
    for module in ("gunicorn", "waitress", "uwsgi", "mod_wsgi"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, mlflow)
            assert is_serving(), module


def test_a_server_uses_the_listed_databases_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, "dynamodb://table")
    forms = [
        "vitrine://museum/hall", "VITRINE://museum/hall", "Vitrine://museum/hall@1/x",
        " vitrine://museum/hall", "\x00vitrine://museum/hall", "vit\trine://museum/hall",
        "vitrine:/museum/hall", "vitrine:museum", "vitrine://", "vitrine://[museum/hall",
    ]  # fmt: skip
    assert [uri for uri in forms if not (names_vitrine(uri) and _is_refused(uri))] == []
    monkeypatch.setenv(VARIABLE, "museum, archive")
    lent = ["vitrine://museum/hall", "vitrine://archive", "s3://museum", "/vitrine://x"]
    assert [uri for uri in lent if _is_refused(uri)] == []
    others = ["vitrine://museum2/hall", "vitrine://Museum/hall", "vitrine://museum%2Fx/hall"]
    assert [uri for uri in [*forms[1:], *others] if not _is_refused(uri)] == []


def test_databases_are_listed_for_each_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ENABLE_WORKSPACES", "true")
    monkeypatch.setenv(VARIABLE, "team-a:museum team-b:archive,team-b:museum2")
    databases: dict[str, Any] = {}
    for workspace in ("team-a", "team-b", "default"):
        set_server_request_workspace(workspace)
        databases[workspace] = set(listed_databases())
    clear_server_request_workspace()
    assert databases == {"team-a": {"museum"}, "team-b": {"archive", "museum2"}, "default": set()}
    assert listed_databases() == frozenset()
    for entry in ("museum", "team-a:", ":museum", "a:b:c"):
        monkeypatch.setenv(VARIABLE, entry)
        with pytest.raises(MlflowException, match=f"invalid entry '{entry}'. Workspaces are ena"):
            listed_databases()
    monkeypatch.delenv("MLFLOW_ENABLE_WORKSPACES")
    monkeypatch.setenv(VARIABLE, "team-a:museum")
    with pytest.raises(MlflowException, match="Workspaces are disabled"):
        listed_databases()


def test_sources_of_datasets_are_read_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "archive")
    named = "vitrine://museum/hall"
    for source in (
        named,
        json.dumps({"uri": named, "digest": "d"}),
        '{"uri": "\\u0076itrine://museum/hall"}',
        json.dumps([{"a": [{"b": named.upper()}]}]),
        {"doc_uri": named},
    ):
        with pytest.raises(MlflowException, match="may not use this database"):
            require_source_lent(source, "source")
    for source in (None, "", "[" * 60_000, "{}", "5", json.dumps({"uri": "vitrine://archive/x"})):
        require_source_lent(source, "source")


def test_every_operation_of_a_repository_is_refused_before_a_request(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository: Any = get_artifact_repository("vitrine://museum/hall")  # built before the request
    (tmp_path / "a").touch()
    monkeypatch.setattr("vitrine_mlflow.artifacts.connect", lambda: pytest.fail("connected"))
    monkeypatch.setenv(VARIABLE, "archive")
    for operation in (
        repository.list_artifacts,
        lambda: repository.list_artifacts("x"),
        lambda: repository.download_artifacts("x", str(tmp_path)),
        lambda: repository.log_artifact(str(tmp_path / "a")),
        lambda: repository.log_artifacts(str(tmp_path)),
        lambda: repository.delete_artifacts("x"),
        lambda: repository.upload_trace_data("{}"),
        lambda: get_artifact_repository("vitrine://museum").list_artifacts("hall"),
    ):
        with pytest.raises(MlflowException, match="may not use this database"):
            operation()
    with pytest.raises(MlflowException, match="Trace data not found"):  # MLflow hides the reason
        repository.download_trace_data()


def test_threads_of_a_repository_know_the_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ENABLE_WORKSPACES", "true")
    monkeypatch.setenv(VARIABLE, "team-a:museum")
    repository: Any = get_artifact_repository("vitrine://museum/hall")
    set_server_request_workspace("team-a")
    seen = repository.thread_pool.submit(listed_databases).result()
    clear_server_request_workspace()
    assert seen == {"museum"}
    assert repository.thread_pool.submit(listed_databases).result() == frozenset()


def test_a_server_never_uses_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VITRINE_API", "VITRINE_API_KEY", "VITRINE_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)

    def read(_: Path) -> None:
        pytest.fail("the login was read")

    monkeypatch.setattr("vitrine.config.read_login", read)
    monkeypatch.setenv(VARIABLE, "museum")
    for variables in ({}, {"VITRINE_API": "http://a"}, {"VITRINE_API_KEY": "k"}):
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            with pytest.raises(MlflowException, match="does not use the login"):
                connect()
    monkeypatch.setenv("VITRINE_API", "http://127.0.0.1:9")
    monkeypatch.setenv("VITRINE_API_KEY", "k")
    connect().close()


# What calls other methods of the store only, so that MLflow's own code works as it is.
DEFAULTS = {
    *("delete_traces", "search_runs", "set_model_versions_tags", "resolve_trace_archival_config"),
    *("log_batch_async", "log_metric_async", "log_param_async", "log_spans_async"),
    *("set_tag_async", "end_async_logging", "flush_async_logging", "shut_down_async_logging"),
    "supports_trace_archival",
    *("copy_model_version", "create_prompt", "get_prompt", "search_prompts", "delete_prompt"),
    *("set_prompt_tag", "delete_prompt_tag", "create_prompt_version", "get_prompt_version"),
    *("delete_prompt_version", "set_prompt_version_tag", "delete_prompt_version_tag"),
    *("get_prompt_version_by_alias", "search_prompt_versions", "set_prompt_alias"),
    *("delete_prompt_alias", "link_prompt_version_to_model", "link_prompt_version_to_run"),
    "link_prompts_to_trace",
}
# What MLflow's own SQL registry lacks, too.
GAPS = {"test_webhook"}
# Parts of MLflow's SQL store that only itself calls.
OF_SQL = {
    *("resolve_endpoint_in_scorer", "sanitize_metric_value"),
    *("search_entities_by_destination", "search_entities_by_source"),
}
STORES: tuple[tuple[type, type], ...] = (
    (AbstractStore, DynamoTrackingStore),
    (AbstractRegistry, DynamoRegistryStore),
)


def _list_inherited() -> Iterator[tuple[type, str]]:
    for base, own in STORES:
        for name in dir(base):
            owner = next(owner for owner in own.__mro__ if name in vars(owner))
            if not name.startswith("_") and not owner.__module__.startswith("vitrine_mlflow"):
                yield own, name


@pytest.mark.parametrize(("store", "name"), list(_list_inherited()))
def test_what_is_not_implemented_here_is_a_default_or_a_declared_gap(store: Any, name: str) -> None:
    if name in DEFAULTS:
        member: Any = inspect.getattr_static(store, name)
        assert "NotImplemented" not in inspect.getsource(getattr(member, "fget", member))
        return
    assert name in GAPS, f"{name} is neither implemented nor a declared gap"


def test_no_gap_is_declared_that_does_not_exist() -> None:
    names = {name for _, name in _list_inherited()}
    assert names == DEFAULTS | GAPS
    assert {area_of(name) for name in dir(AbstractStore)} - {None} == set(AREAS)


def test_every_method_of_the_sql_store_has_a_reply() -> None:
    own: Any = DynamoTrackingStore
    store: Any = object.__new__(own)
    unanswered: list[str] = []
    for name in (name for name in dir(SqlAlchemyStore) if not name.startswith("_")):
        if not callable(getattr(SqlAlchemyStore, name)) or name in DEFAULTS | OF_SQL:
            continue
        owner = next((owner for owner in own.__mro__ if name in vars(owner)), None)
        is_own = owner is not None and owner.__module__.startswith("vitrine_mlflow")
        if not is_own or (area_of(name) and not _answers(getattr(store, name), name)):
            unanswered.append(name)
    assert unanswered == []


def _answers(method: Any, name: str) -> bool:
    """Whether a list is empty, and anything else is refused with one sentence."""
    if name.startswith(("list_", "search_")):
        reply = method()
        return reply == [] and reply.token is None
    try:
        return method() == []
    except MlflowException as error:
        return error.get_http_status_code() == 501 and str(error.message).endswith(".")


def test_parts_of_the_stores_use_the_table_of_the_workspace() -> None:
    """The whole table is for what no request of a workspace does, or what it has just removed."""
    root = Path(inspect.getfile(DynamoTrackingStore)).parent
    whole = {"isolation.py", "experiments.py", "evaluation.py"}
    named = {file.name for file in root.rglob("*.py") if "context.database" in file.read_text()}
    assert named == whole
