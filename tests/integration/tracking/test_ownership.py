"""Every public method of both stores, called from a workspace that owns none of the data.

Data of another workspace must look like data that does not exist, and remain unchanged.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import pytest
from mlflow.entities import (
    AssessmentSource,
    Dataset,
    DatasetInput,
    ExperimentTag,
    Feedback,
    LoggedModelInput,
    LoggedModelOutput,
    LoggedModelParameter,
    LoggedModelStatus,
    LoggedModelTag,
    Metric,
    Param,
    RunTag,
    ViewType,
)
from mlflow.entities.model_registry import ModelVersion, ModelVersionTag, RegisteredModelTag
from mlflow.entities.model_registry.prompt_version import PromptVersion
from mlflow.entities.trace_metrics import AggregationType, MetricAggregation, MetricViewType
from mlflow.entities.trace_status import TraceStatus
from mlflow.entities.webhook import WebhookEvent
from mlflow.entities.workspace import Workspace, WorkspaceDeletionMode
from mlflow.exceptions import MlflowException
from mlflow.models import Model
from mlflow.utils.workspace_context import WorkspaceContext
from vitrine_mlflow import isolation
from vitrine_mlflow.context import Context
from vitrine_mlflow.isolation import RequestWorkspaces
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.store_unsupported import area_of
from vitrine_mlflow.workspaces import DynamoWorkspaceStore

from tests.integration.tracking.stores import ARTIFACTS, TrackingTables
from tests.integration.tracking.trace_histories import info_of

OWN, FOREIGN = "team-a", "team-b"
# Methods on data of no workspace, or that only start and end threads.
NOT_OF_A_WORKSPACE = {
    "supports_workspaces", "supports_trace_archival", "resolve_trace_archival_config",
    "end_async_logging", "flush_async_logging", "shut_down_async_logging", "test_webhook",
    "log_batch_async", "log_metric_async", "log_param_async", "log_spans_async", "set_tag_async",
}  # fmt: skip
# Names are unique in a workspace only, so these methods create objects of the caller.
CREATES = {
    "create_experiment", "create_dataset", "create_registered_model", "create_prompt",
    "create_webhook",
}  # fmt: skip
Ids = Mapping[str, str]


class Stores:
    def __init__(self, context: Context, table: str) -> None:
        self.table = table
        self.tracking = DynamoTrackingStore.of_context(context)
        self.registry = DynamoRegistryStore.of_context(context)


@pytest.fixture
def stores(
    tracking_tables: TrackingTables, new_table: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stores]:
    monkeypatch.setenv("MLFLOW_ENABLE_WORKSPACES", "true")
    monkeypatch.setenv("MLFLOW_WEBHOOK_ALLOW_PRIVATE_IPS", "true")
    table = new_table()
    database = tracking_tables.database(table)
    provider = DynamoWorkspaceStore.of_database(database)
    context = Context(database, ARTIFACTS, isolation=RequestWorkspaces("dynamodb://table"))
    with mock.patch.object(isolation.providers, "get_workspace_store", return_value=provider):
        yield Stores(context, table)


def _create_objects(stores: Stores) -> dict[str, str]:
    """One object of each kind in a workspace; ids by the names of the parameters that take them."""
    tracking, registry = stores.tracking, stores.registry
    experiment = tracking.create_experiment("secret")
    run = tracking.create_run(experiment, "ann", 1, [RunTag("k", "v")], "r").info.run_id
    tracking.log_metric(run, Metric("m", 1.0, 1, 1))
    tracking.log_param(run, Param("p", "1"))
    tracking.set_experiment_tag(experiment, ExperimentTag("k", "v"))
    tracking.log_inputs(run, [DatasetInput(Dataset("d", "1", "local", "{}"), [])])
    model = tracking.create_logged_model(experiment, "net", run).model_id
    tracking.set_logged_model_tags(model, [LoggedModelTag("k", "v")])
    trace = info_of("tr-secret", experiment)
    trace.trace_metadata["mlflow.trace.session"] = "s"
    tracking.start_trace(trace)
    tracking.set_trace_tag("tr-secret", "k", "v")
    feedback = Feedback(name="f", value=1, source=AssessmentSource("HUMAN", "ann"))
    feedback.trace_id = "tr-secret"
    assessment = tracking.create_assessment(feedback).assessment_id
    dataset = tracking.create_dataset("eval", {"k": "v"}, [experiment]).dataset_id
    tracking.upsert_dataset_records(dataset, [{"inputs": {"a": 1}}])
    record = tracking._load_dataset_records(dataset)[0][0].dataset_record_id  # pyright: ignore[reportPrivateUsage]
    tracking.register_scorer(experiment, "scorer", '{"a": 1}')
    online = tracking.upsert_online_scoring_config(experiment, "scorer", 0.0)
    issue = tracking.create_issue(experiment, "i", "d", source_run_id=run).issue_id
    registry.create_registered_model("secret")
    registry.set_registered_model_tag("secret", RegisteredModelTag("k", "v"))
    registry.create_model_version("secret", "s3://b/m", run)
    registry.set_registered_model_alias("secret", "champion", 1)
    webhook = registry.create_webhook(
        "hook", "https://127.0.0.1/", [WebhookEvent.from_str("registered_model.created")]
    ).webhook_id
    ids: dict[str, Any] = {
        "experiment_id": experiment, "run_id": run, "model_id": model, "trace_id": "tr-secret",
        "assessment_id": assessment, "dataset_id": dataset, "record_id": record,
        "scorer_id": online.scorer_id, "issue_id": issue, "webhook_id": webhook,
        "name": "secret", "scorer_name": "scorer",
    }  # fmt: skip
    return ids


UNKNOWN = {
    "experiment_id": "987654", "run_id": "0" * 32, "model_id": "m-none", "trace_id": "tr-none",
    "assessment_id": "a-none", "dataset_id": "d-none", "record_id": "dr-none",
    "scorer_id": "s-none", "issue_id": "iss-none", "webhook_id": "wh-none", "name": "nothing",
    "scorer_name": "no-scorer",
}  # fmt: skip


def _values(ids: Ids) -> dict[str, Any]:
    """An argument for each name of a parameter."""
    feedback = Feedback(name="f", value=2, source=AssessmentSource("HUMAN", "eve"))
    feedback.trace_id = ids["trace_id"]
    event = WebhookEvent.from_str("registered_model.created")
    prompt = PromptVersion("secret", 1, "hello")
    return {
        **ids, "experiment_ids": [ids["experiment_id"]], "run_ids": [ids["run_id"]],
        "trace_ids": [ids["trace_id"]], "request_id": ids["trace_id"],
        "location": ids["experiment_id"], "locations": [ids["experiment_id"]],
        "dataset_record_ids": [ids["record_id"]], "scorer_ids": [ids["scorer_id"]],
        "source_run_id": ids["run_id"],
        "trace_info": info_of(ids["trace_id"], ids["experiment_id"]),
        "assessment": feedback, "feedback": None, "expectation": None,
        "artifact_location": None, "tags": None, "params": [LoggedModelParameter("x", "1")],
        "metrics": [Metric("m", 2.0, 2, 2)], "metric": Metric("m", 2.0, 2, 2),
        "param": Param("q", "1"), "key": "k", "value": "w", "metric_key": "m",
        "steps": [1], "start_step": None, "end_step": None, "max_results": 10, "page_token": None,
        "filter_string": None, "filter_string1": "status = 'OK'", "filter_string2": "name = 'x'",
        "order_by": None, "view_type": ViewType.ALL, "run_view_type": ViewType.ALL,
        "description": "x", "new_name": "taken", "experiment_name": "secret",
        "user_id": "eve", "start_time": 1, "run_name": "x", "run_status": None, "end_time": 5,
        "datasets": [DatasetInput(Dataset("d", "2", "local", "{}"), [])],
        "models": [LoggedModelInput(ids["model_id"])], "mlflow_model": Model(),
        "records": [{"inputs": {"a": 2}}], "serialized_scorer": "{}", "sample_rate": 0.0,
        "status": LoggedModelStatus.READY, "min_last_trace_timestamp_ms": 0,
        "max_last_trace_timestamp_ms": 1 << 60, "max_timestamp_millis": 1 << 60,
        "max_traces": None, "spans": [], "arguments": None, "named": None,
        "prompt_versions": [prompt], "timestamp_ms": 5, "request_metadata": {},
        "version": "1", "alias": "champion", "stage": "Staging",
        "archive_existing_versions": False, "stages": None, "source": "s3://b/x",
        "run_link": None, "model_type": None, "allow_deleted": True, "template": "x",
        "url": "https://127.0.0.1/x", "events": [event], "event": event, "secret": None,
        "src_mv": ModelVersion(ids["name"], "1", 1), "dst_name": "copied",
        "include_trace_count": False, "rationale": "x", "name_of_model": "secret",
    }  # fmt: skip


def _own_values(name: str, ids: Ids) -> dict[str, Any]:
    """Arguments of one method that differ from those of others under the same name."""
    count = MetricAggregation(AggregationType.COUNT)
    tag_of = {
        "set_experiment_tag": ExperimentTag, "set_model_version_tag": ModelVersionTag,
        "set_registered_model_tag": RegisteredModelTag,
    }  # fmt: skip
    own: dict[str, dict[str, Any]] = {
        "create_issue": {"status": None}, "update_issue": {"status": None},
        "update_webhook": {"status": None},
        "deprecated_start_trace_v2": {"tags": {"k": "w"}},
        "deprecated_end_trace_v2": {"status": TraceStatus.OK, "tags": {}},
        "set_dataset_tags": {"tags": {"k": "w"}},
        "set_logged_model_tags": {"tags": [LoggedModelTag("k", "w")]},
        "log_batch": {"params": [Param("q", "1")], "tags": [RunTag("k", "w")]},
        "log_outputs": {"models": [LoggedModelOutput(ids["model_id"], 1)]},
        "search_logged_models": {"datasets": None},
        "query_trace_metrics": {
            "view_type": MetricViewType.TRACES, "metric_name": "trace_count",
            "aggregations": [count],
        },
    }  # fmt: skip
    of_scorer = {"name": ids["scorer_name"], "version": 1} if "scorer" in name else {}
    return {"tag": tag_of.get(name, RunTag)("k", "w"), **of_scorer, **own.get(name, {})}


def _arguments(name: str, method: Any, ids: Ids) -> dict[str, Any]:
    own = _own_values(name, ids)
    values = {**_values(ids), **own}
    parameters = inspect.signature(method).parameters.values()
    named = [
        parameter
        for parameter in parameters
        if parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
    ]
    if len(named) < len(parameters):  # the rest of the names is not declared
        return {
            "experiment_ids": values["experiment_ids"],
            **{key: value for key, value in own.items() if key != "tag"},
        }
    return {
        parameter.name: values[parameter.name]
        for parameter in named
        if parameter.name in values or parameter.default is parameter.empty
    }


def _methods(store: Any) -> Iterator[tuple[str, Any]]:
    for name in dir(store):
        if name.startswith("_") or name in NOT_OF_A_WORKSPACE | CREATES or area_of(name):
            continue
        member = getattr(store, name)
        if inspect.ismethod(member) and member.__self__ is store:
            yield name, member


def _shown(value: object) -> str:
    return repr(vars(value) if hasattr(value, "__dict__") else value)


def _outcome(method: Any, arguments: dict[str, Any], ids: Ids) -> str:
    """The reply to a caller, with the caller's ids replaced by their names."""
    try:
        reply: Any = method(**arguments)
        several: list[Any] = [*reply] if isinstance(reply, list | tuple) else [reply]
        text = " ".join(map(_shown, several))
    except MlflowException as error:
        text = f"{error.error_code}: {error.message}"
    except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
        text = f"{type(error).__name__}: {error}"
    for name, value in sorted(ids.items(), key=lambda pair: -len(pair[1])):
        text = text.replace(value, f"<{name}>")
    return text


def _state(stores: Stores, ids: Ids) -> str:
    """All items that the workspace owns."""
    table = stores.tracking._context.database  # pyright: ignore[reportPrivateUsage]
    partitions = [
        f"EXP#{ids['experiment_id']}", f"EVAL#{ids['dataset_id']}", f"EVALS#{OWN}",
        f"WEBHOOKS#{OWN}", f"RM#{OWN}#secret", f"SCORER#{ids['scorer_id']}",
    ]  # fmt: skip
    return "\n".join(repr(item) for pk in partitions for item in table.query(pk))


def test_a_foreign_workspace_sees_and_changes_nothing(stores: Stores) -> None:
    with WorkspaceContext(OWN):
        own = _create_objects(stores)
    before = _state(stores, own)
    assert len(before.splitlines()) > 25
    different: list[str] = []
    called: list[str] = []
    for store in (stores.tracking, stores.registry):
        for name, method in _methods(store):
            with WorkspaceContext(FOREIGN):
                foreign = _outcome(method, _arguments(name, method, own), own)
                nothing = _outcome(method, _arguments(name, method, UNKNOWN), UNKNOWN)
            called.append(name)
            if foreign != nothing:
                different.append(f"{name}: {foreign} instead of {nothing}")
            if _state(stores, own) != before:
                different.append(f"{name} changed something")
                before = _state(stores, own)
    assert different == []
    assert len(called) > 110


def test_a_workspace_is_deleted_with_everything_in_it(
    stores: Stores, tracking_tables: TrackingTables
) -> None:
    patched: Any = isolation.providers
    provider: Any = patched.get_workspace_store("")

    def items() -> list[str]:
        paginator = tracking_tables.client.get_paginator("scan")
        rows: list[Any] = [
            item for page in paginator.paginate(TableName=stores.table) for item in page["Items"]
        ]
        keys = [(item["PK"]["S"], item["SK"]["S"]) for item in rows]
        return sorted(f"{pk} {sk}" for pk, sk in keys if not sk.startswith("USED#"))

    before = items()
    provider.create_workspace(Workspace(OWN))
    with WorkspaceContext(OWN):
        _create_objects(stores)
    assert len(items()) > len(before) + 40
    provider.delete_workspace(OWN, WorkspaceDeletionMode.CASCADE)
    assert items() == before


def test_the_owner_finds_all_of_it(stores: Stores) -> None:
    """So that the test above does not compare failures of the calls themselves."""
    with WorkspaceContext(OWN):
        own = _create_objects(stores)
        for name, method in [*_methods(stores.tracking), *_methods(stores.registry)]:
            if name.startswith(("get_", "search_", "list_", "find_", "batch_get")):
                outcome = _outcome(method, _arguments(name, method, own), own)
                assert "Error" not in outcome.partition(":")[0], f"{name}: {outcome}"
