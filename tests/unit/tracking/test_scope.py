"""Every method of MLflow's stores is implemented here, works by MLflow's default, or is a gap."""

import inspect
from collections.abc import Iterator
from typing import Any

import mlflow
import pytest
from mlflow.exceptions import MlflowNotImplementedException
from mlflow.store.model_registry.abstract_store import AbstractStore as AbstractRegistry
from mlflow.store.tracking.abstract_store import AbstractStore
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore

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
# Areas that are declared gaps, by the words in the names of their methods.
GAPS = {
    "gateway": ("gateway", "endpoint", "guardrail", "budget_polic", "secret_info"),
    "MCP registry": ("mcp_",),
    "label schemas": ("label_schema",),
    "review queues": ("review_queue", "user_queue"),
    "archival of traces": ("archive_traces",),
    "what MLflow's own SQL stores lack, too": (
        "get_online_trace_details", "unlink_traces_from_run", "test_webhook",
    ),
}  # fmt: skip
STORES: tuple[tuple[type, type], ...] = (
    (AbstractStore, DynamoTrackingStore),
    (AbstractRegistry, DynamoRegistryStore),
)


def _inherited() -> Iterator[tuple[type, str]]:
    for base, own in STORES:
        for name in dir(base):
            owner = next(one for one in own.__mro__ if name in vars(one))
            if not name.startswith("_") and not owner.__module__.startswith("vitrine_mlflow"):
                yield own, name


def _area(name: str) -> str | None:
    return next((area for area, words in GAPS.items() if any(w in name for w in words)), None)


@pytest.mark.parametrize(("store", "name"), list(_inherited()))
def test_what_is_not_implemented_here_is_a_default_or_a_declared_gap(store: Any, name: str) -> None:
    if name in DEFAULTS:
        member: Any = inspect.getattr_static(store, name)
        assert "NotImplemented" not in inspect.getsource(getattr(member, "fget", member))
        return
    assert _area(name) is not None, f"{name} is neither implemented nor a declared gap"
    method = getattr(store, name)
    parameters = list(inspect.signature(method).parameters.values())[1:]
    positional = [None for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    named = {one.name: None for one in parameters if one.kind is one.KEYWORD_ONLY}
    with pytest.raises((NotImplementedError, MlflowNotImplementedException)):
        method(object.__new__(store), *positional, **named)


def test_no_gap_is_declared_that_does_not_exist() -> None:
    names = {name for _, name in _inherited()}
    assert names >= DEFAULTS
    assert {_area(name) for name in names - DEFAULTS} == set(GAPS)
