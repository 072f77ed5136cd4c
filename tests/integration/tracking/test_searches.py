"""Searches: orders that an index serves in part, invalid arguments, and every access pattern."""

import base64
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from mlflow.entities import (
    Dataset,
    DatasetInput,
    ExperimentTag,
    LoggedModelOutput,
    Metric,
    Param,
    RunTag,
    ViewType,
)
from mlflow.entities.model_registry import RegisteredModelTag
from mlflow.entities.workspace import Workspace
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry import sqlalchemy_store as sql_registry
from vitrine_mlflow import keys
from vitrine_mlflow.auth.store import DynamoAuthStore
from vitrine_mlflow.config import RUN_NAMES
from vitrine_mlflow.context import Context
from vitrine_mlflow.full_text import MODEL_TYPE, NameIndex, RunNames
from vitrine_mlflow.patterns import PATTERNS, AccessPattern
from vitrine_mlflow.registry.models import Models
from vitrine_mlflow.registry.versions import Versions
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.workspaces import DynamoWorkspaceStore

from backend.core.ids import new_uuid
from tests.integration.tracking.comparison import error_of
from tests.integration.tracking.stores import (
    Recorder,
    Series,
    SqlStore,
    TrackingTables,
    dynamo_store,
)
from tests.integration.tracking.trace_histories import info_of, span_of

STATUSES = [None, 1, 2, 3, 4, 5]
# the index of names holds 724 bytes of a name
LONG = "日本" * 124
NAMES = ["b", "a", "a b", LONG, *(f"{LONG}{end}" for end in "dacb~é "), f"{LONG[:-10]}~", "c"]
ORDERS = [
    ["status", "end_time", "start_time ASC"], ["status DESC", "end_time"], ["status", "run_name"],
    ["status", "start_time"], ["status DESC", "start_time DESC", "end_time"], ["status"],
    ["run_name"], ["run_name DESC"], ["run_name", "status DESC"],
]  # fmt: skip


class Pair(NamedTuple):
    """The store on DynamoDB and MLflow's own, or the registries on them."""

    ours: Any
    theirs: Any


@pytest.fixture(scope="module")
def stores(
    tracking_tables: TrackingTables, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    database = tracking_tables.database(tracking_tables.create(f"mlflow-{new_uuid()[:8]}"))
    ours = dynamo_store(database, Series())
    sql = SqlStore(tmp_path_factory.mktemp("searches") / "one.db", Series())
    with sql.inject():
        pair = Pair(ours, sql.store)
        for number, name in enumerate(NAMES):
            status, end = STATUSES[number % 4], (number * 7) % 5
            for store in pair:
                run = store.create_run("0", "ann", number // 3, [], name).info.run_id
                store.update_run_info(run, status, end, None)
        yield pair


@pytest.fixture(scope="module")
def registries(tracking_tables: TrackingTables, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    database = tracking_tables.database(tracking_tables.create(f"mlflow-{new_uuid()[:8]}"))
    path: Path = tmp_path_factory.mktemp("registries") / "one.db"
    module: Any = sql_registry
    return Pair(
        DynamoRegistryStore.of_context(Context(database, "")),
        module.SqlAlchemyStore(f"sqlite:///{path}"),
    )


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("order_by", ORDERS, ids=", ".join)
def test_all_keys_of_an_order_count_on_every_page(
    order_by: list[str], size: int, stores: Pair
) -> None:
    ours, theirs = (_names(store, order_by, size) for store in stores)
    assert len(theirs) == len(NAMES)
    assert ours == theirs


def _names(store: Any, order_by: list[str], size: int) -> list[str]:
    names: list[str] = []
    token = None
    while True:
        page = store.search_runs(["0"], None, ViewType.ALL, size, order_by, token)
        names += [run.info.run_name for run in page]
        if not page.token:
            return names
        token = page.token


class Search(NamedTuple):
    """A search, and for each of its arguments values that it refuses."""

    method: str
    valid: dict[str, Any]
    invalid: dict[str, list[Any]]


_TOKEN, _SIZES = ["nonsense"], [0, 10**6]
SEARCHES = [
    Search(
        "search_runs", {"experiment_ids": ["0"], "run_view_type": ViewType.ALL, "max_results": 5,
                        "filter_string": None},
        {
            "experiment_ids": [["nonsense"]], "max_results": _SIZES, "page_token": _TOKEN,
            "filter_string": ["nonsense", "status > 'x'", "foo.bar = 'x'", "metrics.a = 'x'"],
            "order_by": [["attributes.zzz"], ["foo.bar"], ["dataset.name"], ["status", "status"]],
        },
    ),
    Search(
        "search_experiments", {},
        {
            "max_results": _SIZES, "page_token": _TOKEN, "order_by": [["bad"], ["tags.a"]],
            "filter_string": ["nonsense", "name > 'a'", "experiment_id = 'x'", "tags.a > 'x'"],
        },
    ),
    Search(
        "search_logged_models", {"experiment_ids": ["0"]},
        {
            "experiment_ids": [["nonsense"]], "datasets": [[{"dataset_digest": "1"}]],
            "filter_string": ["nonsense", "name > 'a'", "foo.bar = 'x'"],
            "order_by": [[{"field_name": "nonsense"}], [{"field_name": "params.lr"}]],
        },
    ),
    Search(
        "search_traces", {"locations": ["0"]},
        {
            "locations": [["catalog.schema"]], "max_results": _SIZES, "page_token": _TOKEN,
            "filter_string": ["nonsense", "tags.a > 'x'", "prompt = 'x'", "prompt LIKE 'x'"],
            "order_by": [["nonsense.x"], ["feedback.f"], ["timestamp", "timestamp"]],
        },
    ),
    Search(
        "search_datasets", {},
        {
            "max_results": _SIZES, "page_token": _TOKEN, "order_by": [["bad"], ["tags.a"]],
            "filter_string": ["nonsense", "name > 'a'", "created_time = 'x'", "tags.a > 'x'"],
        },
    ),
    Search(
        "search_issues", {},
        {
            "experiment_id": ["nonsense"], "max_results": _SIZES, "page_token": _TOKEN,
            "filter_string": ["nonsense", "status > 'a'"],
        },
    ),
    Search(
        "calculate_trace_filter_correlation",
        {"experiment_ids": ["0"], "filter_string1": "tags.a = 'x'",
         "filter_string2": "tags.a = 'y'"},
        {
            "experiment_ids": [["nonsense"], ["99"]],
            "filter_string1": ["nonsense", "tags.a > 'x'"],
            "filter_string2": ["nothing", "tags.b > 'x'"], "base_filter": ["no", "tags.c > 'x'"],
        },
    ),
]  # fmt: skip
MODEL_SEARCHES = [
    Search(
        "search_registered_models", {},
        {
            "max_results": [10**6], "page_token": _TOKEN,
            "filter_string": ["nonsense", "name > 'a'", "tags.a > 'x'", "run_id = 'x'"],
            "order_by": [["bad"], ["name", "name"], ["tags.a"]],
        },
    ),
    Search(
        "search_model_versions", {},
        {
            "max_results": _SIZES, "page_token": _TOKEN,
            "filter_string": ["nonsense", "name > 'a'", "tags.a > 'x'", "version_number = 'x'"],
            "order_by": [["bad"], ["name", "name"], ["tags.a"]],
        },
    ),
]  # fmt: skip


def _method(search: Search) -> str:
    return search.method


@pytest.mark.parametrize("search", SEARCHES, ids=_method)
def test_of_several_invalid_arguments_the_same_is_refused(search: Search, stores: Pair) -> None:
    assert _compare_search(search, stores) > 0


@pytest.mark.parametrize("search", MODEL_SEARCHES, ids=_method)
def test_of_several_invalid_arguments_registries_refuse_the_same(
    search: Search, registries: Pair
) -> None:
    assert _compare_search(search, registries) > 0


def _compare_search(search: Search, stores: Pair) -> int:
    """How many combinations of one or two invalid arguments were refused, by both alike."""
    refused = 0
    one_or_two: list[tuple[str, ...]] = [(name,) for name in search.invalid]
    one_or_two += itertools.combinations(search.invalid, 2)
    for names in one_or_two:
        for values in itertools.product(*(search.invalid[name] for name in names)):
            arguments = {**search.valid, **dict(zip(names, values, strict=True))}
            ours, theirs = (_error(store, search.method, arguments) for store in stores)
            assert ours == theirs, arguments
            refused += ours is not None
    return refused


def _error(store: Any, method: str, arguments: dict[str, Any]) -> tuple[str, str] | None:
    call: Callable[..., Any] = getattr(store, method)
    try:
        call(**arguments)
    except MlflowException as error:
        return error_of(error)
    return None


def _token(**content: Any) -> str:
    return base64.b64encode(json.dumps(content).encode()).decode()


_FORGED = [
    *("nonsense", "é", "a", "/w==", "WzFd", "MQ==", base64.b64encode(b"[" * 100_000).decode()),
    *(_token(offset=offset, experiment_ids=["0"]) for offset in ([1], 1e400, 10**30, "x")),
]
_FORGED_VALUES: list[Any] = [
    *("x", [], [[0, "RUNNING"]]),
    *([[0, text], [2, None], [2, None]] for text in (None, 1, "\ud800")),
    *([[0, "RUNNING"], [flag, 1], [2, None]] for flag in (5, 1)),
    *([[0, "RUNNING"], [0, number], [2, None]] for number in ("1", True, float("nan"))),
    *([[0, "RUNNING"], [2, None], [0, time]] for time in (1.5, "1")),
]
PAGED: dict[str, tuple[Callable[[Any, str], Any], list[str]]] = {
    "search_runs": (
        lambda store, token: store.search_runs(
            ["0"], None, ViewType.ALL, 5, ["status", "metrics.m"], token
        ),
        [
            *(_token(offset=1, version=1, values=v, run_id="x") for v in _FORGED_VALUES),
            _token(offset=1, version=1, values=[[0, "RUNNING"], *[[2, None]] * 2], run_id=1),
            _token(offset=1, version=1),
        ],
    ),
    "search_traces": (
        lambda store, token: store.search_traces(["0"], page_token=token),
        [
            *(_token(offset=1, time=time, id="x") for time in (5, "tomorrow", "2" * 3_000)),
            _token(offset=1, time="2026-01-01T00:00:00.000Z", id=6),
        ],
    ),
    "search_experiments": (lambda store, token: store.search_experiments(page_token=token), []),
    "search_logged_models":
        (lambda store, token: store.search_logged_models(["0"], page_token=token), []),
    "search_datasets": (lambda store, token: store.search_datasets(page_token=token), []),
    "search_issues": (lambda store, token: store.search_issues(page_token=token), []),
    "get_metric_history":
        (lambda store, token: store.get_metric_history("r", "m", 5, token), []),
    "_load_dataset_records": (
        lambda store, token:
            store._load_dataset_records(store.create_dataset("d").dataset_id, 5, token),
        [],
    ),
    "search_registered_models":
        (lambda registry, token: registry.search_registered_models(page_token=token), []),
    "search_model_versions":
        (lambda registry, token: registry.search_model_versions(page_token=token), []),
    "list_webhooks": (lambda registry, token: registry.list_webhooks(page_token=token), []),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGED)
def test_a_forged_page_token_is_refused_by_name(name: str, stores: Pair, registries: Pair) -> None:
    search, forged = PAGED[name]
    is_registered = "register" in name or "version" in name or "webhook" in name
    store = (registries if is_registered else stores).ours
    for token in [*_FORGED, *forged]:
        with pytest.raises(MlflowException, match=r"(?i)page token") as refused:
            search(store, token)
        assert refused.value.error_code == "INVALID_PARAMETER_VALUE", token
    if name != "_load_dataset_records":
        for offset in (-5, 2**62):  # a page of a negative size has a negative one
            search(store, _token(offset=offset, experiment_ids=["0"]))


_AUTH = "Authentication and authorization"


class World:
    """A table with one object of each kind, and the functions of the patterns."""

    def __init__(self, tables: TrackingTables, table: str) -> None:
        self.client = tables.client
        context = Context(tables.database(table), "s3://artifacts")
        self.context = context
        self.config = context.config
        self.config.set(RUN_NAMES, "on")
        self.run_names = RunNames(context.database, "0")
        self.model_names = NameIndex(context.database, MODEL_TYPE)
        self.store = DynamoTrackingStore.of_context(context)
        self.auth = DynamoAuthStore()
        self.auth.build(context.database)
        self.auth.create_user("ann", "long enough password")
        self.auth.grant_user_permission("ann", "experiment", "1", "READ")
        self.auth.grant_user_permission("ann", "registered_model", "model", "READ")
        self.workspaces = DynamoWorkspaceStore.of_database(context.database)
        self.models = Models(context)
        self.versions = Versions(context, self.models)
        self.run = self.store.create_run("0", "ann", 1, [], "name").info.run_id
        self.store.log_batch(
            self.run, [Metric("m", 1.0, 1, 1), Metric("n", 2.0, 1, 1)], [Param("p", "v")], []
        )
        self.use(self.run)
        self.store.start_trace(info_of("tr-1", tags={"mlflow.traceName": "chat"}))
        self.store.log_spans("0", [span_of("tr-1", 1)])
        self.models.create("model", [], None)
        self.version("model")
        self.versions.set_alias("model", "best", 1)

    def another(self) -> DynamoTrackingStore:
        """A store without a cache."""
        return DynamoTrackingStore.of_context(self.context)

    def use(self, run_id: str) -> None:
        dataset_input = DatasetInput(Dataset("iris", "digest", "local", "src"), [])
        self.store.datasets.log_inputs(run_id, [dataset_input], None)
        self.store.datasets.log_outputs(run_id, [LoggedModelOutput("m-1", 0)])

    def version(self, name: str) -> None:
        self.versions.create(name, "s3://source", None, [], None, None)

    def new_run(self) -> str:
        return self.store.create_run("0", "ann", 1, [], "other").info.run_id

    def search(self, filter_string: str, *order_by: str) -> Any:
        searching: Any = self.store
        return searching.search_runs(["0"], filter_string, ViewType.ACTIVE_ONLY, 10, order_by)

    def log_batch(self) -> Any:
        return self.store.log_batch(
            self.run, [Metric("m", 2.0, 2, 2)], [Param("q", "v")], [RunTag("t", "v")]
        )

    def set_stage(self) -> None:
        experiments = self.store.experiments
        experiments.set_stage(experiments.find("0"), "active")


CALLS: dict[str, Callable[[World], Any]] = {
    "Experiments: Get experiment by ID": lambda w: w.store.experiments.find("0"),
    "Experiments: Get experiment by name": lambda w: w.store.experiments.get_by_name("Default"),
    "Experiments: List experiments in workspace": lambda w: w.store.experiments.ids_in_workspace(),
    "Experiments: List experiments by name": lambda w: w.store.experiments.listed_by_name(),
    "Experiments: Create experiment": lambda w: w.store.experiments.create("new", None, []),
    "Experiments: Delete/restore experiment": World.set_stage,
    "Experiments: Set experiment tag": lambda w: w.store.experiments.set_tag(
        "0", ExperimentTag("k", "v")
    ),
    "Experiments: Search experiments (FTS)": lambda w: w.store.search_experiments(
        filter_string="name LIKE '%faul%'"
    ),
    "Runs: Get run by ID": lambda w: w.another().runs.experiment_of(w.run),
    "Runs: List runs in experiment": lambda w: w.store.runs.in_stage("0", "active"),
    "Runs: Filter runs by lifecycle": lambda w: w.store.runs.in_stage("0", "active"),
    "Runs: Sort runs by start time": lambda w: w.store.runs.by_time("0"),
    "Runs: Filter runs by status": lambda w: w.search("status = 'RUNNING'"),
    "Runs: Sort runs by name": lambda w: w.search("", "run_name ASC"),
    "Runs: Sort runs by metric": lambda w: w.search("", "metrics.m DESC"),
    "Runs: Create run": World.new_run,
    "Runs: Update run info": lambda w: w.store.details.update_info(w.run, 3, 9, None),
    "Runs: Delete/restore run": lambda w: w.store.runs.delete(w.new_run()),
    "Metrics, params and tags: Log metric": lambda w: w.store.metrics.log(
        w.run, [Metric("a", 1.0, 1, 1)]
    ),
    "Metrics, params and tags: Log metric history": lambda w: w.store.metrics.log(
        w.run, [Metric("a", 1.0, 2, 2)]
    ),
    "Metrics, params and tags: Get metric history": lambda w: w.store.metrics.history(w.run, "m"),
    "Metrics, params and tags: Log param": lambda w: w.store.details.log_param(
        w.run, Param("x", "y")
    ),
    "Metrics, params and tags: Get all params for run": lambda w: w.store.get_run(w.run),
    "Metrics, params and tags: Set run tag": lambda w: w.store.details.set_tag(
        w.run, RunTag("x", "y")
    ),
    "Metrics, params and tags: Get all tags for run": lambda w: w.store.get_run(w.run),
    "Metrics, params and tags: Log batch (metrics + params + tags)": World.log_batch,
    "Search and ranking: Search runs by metric value": lambda w: w.search("", "metrics.n DESC"),
    "Search and ranking: Search runs by param value": lambda w: w.search("params.p = 'v'"),
    "Search and ranking: Full-text search (forward)": lambda w: w.run_names.like("LIKE", "%nam%"),
    "Search and ranking: Full-text search (global)": lambda w: w.model_names.partitions(["ode"]),
    "Search and ranking: FTS index cleanup": lambda w: w.store.details.update_info(
        w.new_run(), None, None, "renamed"
    ),
    "Traces: Get trace by ID": lambda w: w.another().traces.items.experiment_of("tr-1"),
    "Traces: List traces in experiment": lambda w: w.store.traces.items.ids_by_time("0"),
    "Traces: Sort traces by time": lambda w: w.store.traces.items.ids_by_time("0"),
    "Traces: Sort traces by name": lambda w: w.store.traces.items.ids_by_name("0", "chat"),
    "Traces: Set trace tag": lambda w: w.store.traces.set_tag("tr-1", "k", "v"),
    "Traces: Get trace spans": lambda w: w.store.traces.items.spans(
        w.store.traces.items.find("tr-1")
    ),
    "Traces: Create trace + spans": lambda w: w.store.traces.log_spans("0", [span_of("tr-2", 1)]),
    "Datasets: Create dataset": lambda w: w.use(w.new_run()),
    "Datasets: Get dataset": lambda w: w.store.get_run(w.run),
    "Datasets: Link dataset to run": lambda w: w.use(w.new_run()),
    "Datasets: List datasets for run": lambda w: w.store.get_run(w.run),
    "Logged models: Log model to run": lambda w: w.use(w.new_run()),
    "Logged models: List logged models for run": lambda w: w.store.get_run(w.run),
    "Model registry: Create registered model": lambda w: w.models.create("other", [], None),
    "Model registry: Get registered model": lambda w: w.models.require("model"),
    "Model registry: Get model by name": lambda w: w.models.require("model"),
    "Model registry: List registered models": lambda w: w.models.listed_by_name(),
    "Model registry: Create model version": lambda w: w.version("model"),
    "Model registry: Get model version": lambda w: w.versions.get("model", 1),
    "Model registry: List model versions": lambda w: w.models.find("model"),
    "Model registry: Set model tag": lambda w: w.models.set_tag(
        "model", RegisteredModelTag("k", "v")
    ),
    "Model registry: Set model alias": lambda w: w.versions.set_alias("model", "new", 1),
    f"{_AUTH}: Create user": lambda w: w.auth.create_user("bob", "long enough password"),
    f"{_AUTH}: Get user": lambda w: w.auth.get_user("ann"),
    f"{_AUTH}: Authenticate user": lambda w: w.auth.authenticate_user("ann", "wrong password"),
    f"{_AUTH}: Grant experiment permission": lambda w: w.auth.grant_user_permission(
        "ann", "experiment", "2", "READ"
    ),
    f"{_AUTH}: Check experiment permission": lambda w: w.auth.get_experiment_permission("1", "ann"),
    f"{_AUTH}: List permissions for experiment": lambda w: w.auth.grants.for_resource(
        "default", "experiment", "1"
    ),
    f"{_AUTH}: Grant registry permission": lambda w: w.auth.grant_user_permission(
        "ann", "registered_model", "other", "READ"
    ),
    f"{_AUTH}: Check registry permission": lambda w: w.auth.get_registered_model_permission(
        "model", "ann"
    ),
    f"{_AUTH}: List permissions for model": lambda w: w.auth.grants.for_resource(
        "default", "registered_model", "model"
    ),
    "Workspace: Get workspace": lambda w: w.workspaces.find("default"),
    "Workspace: Create/update workspace": lambda w: w.workspaces.create_workspace(
        Workspace("team-a")
    ),
    "Model registry: Get model by alias": lambda w: w.models.version_of_alias("model", "best"),
    "Configuration: Get config value": lambda w: w.config.get(RUN_NAMES),
    "Configuration: Set config value": lambda w: w.config.set(RUN_NAMES, "on"),
    "Configuration: List all config": lambda w: w.config.all(),
}


@pytest.fixture(scope="module")
def world(tracking_tables: TrackingTables) -> World:
    return World(tracking_tables, tracking_tables.create("mlflow-patterns"))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_a_pattern_uses_its_key_or_index(pattern: AccessPattern, world: World) -> None:
    with Recorder(world.client) as recorder:
        reply = CALLS[pattern.name](world)
        if isinstance(reply, Iterator):
            reply = list(cast("Iterator[Any]", reply))
    if pattern.index is not None:
        assert pattern.index.name in recorder.indexes
        assert reply, "the index finds what was written"
        return
    wanted = pattern.entity
    items = [key for key in recorder.keys if wanted.parse(keys.Key(*key)) is not None]
    ranges = [range_ for range_ in recorder.ranges if _begins(wanted, *range_)]
    assert items or ranges, (recorder.keys, recorder.ranges)


def _begins(entity: keys.Entity, partition: str, start: str) -> bool:
    """Whether a range of the table begins at or before the keys of an entity, in its family."""
    family = entity.sk.text.partition("{")[0]
    return entity.pk.parse(partition) is not None and (not start or start.startswith(family[:2]))
