"""Every method of MLflow's stores is implemented here, works by MLflow's default, or is a gap."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlflow
import pytest
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry.abstract_store import AbstractStore as AbstractRegistry
from mlflow.store.tracking.abstract_store import AbstractStore
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.store_unsupported import AREAS, area_of

assert mlflow.__version__  # MLflow loads this package as a plugin, so it must come first

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
