"""Limits, concurrency, interruptions, and errors of the engine, for runs and traces."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import pytest
from mlflow.entities import (
    AssessmentSource,
    Dataset,
    DatasetInput,
    ExperimentTag,
    Feedback,
    InputTag,
    Metric,
    Param,
    RunTag,
    Trace,
    ViewType,
)
from mlflow.entities.trace_metrics import AggregationType, MetricAggregation, MetricViewType
from mlflow.exceptions import MlflowException
from mlflow.models import Model
from vitrine_mlflow.context import Context, Sources
from vitrine_mlflow.database import Database
from vitrine_mlflow.mlflow_api import MLFLOW_LOGGED_MODELS
from vitrine_mlflow.mlflow_traces import SIZE_STATS
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.uri import StoreAddress

from tests.integration.tracking.stores import (
    ARTIFACTS,
    Meter,
    Series,
    SqlStore,
    TrackingTables,
    dynamo_store,
)
from tests.integration.tracking.trace_histories import START, info_of, span_of


def _run(store: DynamoTrackingStore, experiment_id: str = "0", name: str = "run") -> str:
    return store.create_run(experiment_id, "ann", 1, [], name).info.run_id


def _search(store: DynamoTrackingStore, *arguments: Any) -> list[Any]:
    searching: Any = store
    return list(searching.search_runs(*arguments))


def test_of_eight_concurrent_creations_of_a_name_one_succeeds(store: DynamoTrackingStore) -> None:
    def create(_: int) -> tuple[bool, str]:
        try:
            return True, store.create_experiment("same")
        except MlflowException as error:
            return False, str(error.error_code)

    with ThreadPoolExecutor(8) as threads:
        outcomes = sorted(threads.map(create, range(8)))
    assert outcomes[:7] == [(False, "RESOURCE_ALREADY_EXISTS")] * 7
    experiment = store.get_experiment_by_name("same")
    assert experiment is not None
    assert outcomes[7] == (True, experiment.experiment_id)


def test_an_id_that_is_taken_is_drawn_again(table: Database) -> None:
    ids = iter(["5", "5", "6"])
    sources = Sources(new_experiment_id=lambda: next(ids))
    store = DynamoTrackingStore.of_context(Context(table, "s3://artifacts/root", sources))
    tags = [ExperimentTag(f"k{number}", "v") for number in range(200)]
    assert [store.create_experiment("a"), store.create_experiment("b", tags=tags)] == ["5", "6"]
    assert [len(store.get_experiment(number).tags) for number in ("5", "6")] == [0, 200]
    assert all(int(Sources().new_experiment_id()) < 2**31 for _ in range(100))


def test_concurrent_writers_of_one_run_lose_nothing(store: DynamoTrackingStore) -> None:
    run_id = _run(store)

    def log(number: int) -> None:
        store.log_metric(run_id, Metric(f"m{number % 5}", float(number), number, number))
        store.set_tag(run_id, RunTag(f"t{number}", str(number)))

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(log, range(30)))
    data = store.get_run(run_id).data
    assert data.metrics == {f"m{key}": 25.0 + key for key in range(5)}
    assert all(data.tags[f"t{number}"] == str(number) for number in range(30))
    (run,) = _search(store, ["0"], "", ViewType.ACTIVE_ONLY)
    assert run.data.metrics == data.metrics
    assert run.data.tags == data.tags
    assert all(len(store.get_metric_history(run_id, f"m{key}")) == 6 for key in range(5))


def test_a_batch_of_many_transactions_comes_back_whole(store: DynamoTrackingStore) -> None:
    run_id = _run(store)
    metrics = [Metric(f"key-{number:04d}", number / 7, 1, 1) for number in range(300)]
    store.log_batch(run_id, metrics, [], [])
    expected = {metric.key: metric.value for metric in metrics}
    assert store.get_run(run_id).data.metrics == expected
    (run,) = _search(store, ["0"], "metrics.`key-0200` > 0", ViewType.ACTIVE_ONLY)
    assert run.data.metrics == expected


def test_infinities_and_nan_come_back_as_they_were(store: DynamoTrackingStore) -> None:
    run_id = _run(store)
    values = {"inf": float("inf"), "low": float("-inf"), "huge": 1e308, "tiny": 5e-324}
    for key, value in values.items():
        store.log_metric(run_id, Metric(key, value, 1, 1))
    store.log_metric(run_id, Metric("nan", float("nan"), 1, 1))
    metrics = store.get_run(run_id).data.metrics
    assert {key: metrics[key] for key in values} == values
    assert metrics["nan"] != metrics["nan"]


def test_a_thousand_experiment_tags_are_kept(store: DynamoTrackingStore) -> None:
    tags = [ExperimentTag(f"key{number}", "v" * 20) for number in range(1_000)]
    experiment_id = store.create_experiment("tagged", None, tags)
    assert len(store.get_experiment(experiment_id).tags) == 1_000
    store.set_experiment_tag(experiment_id, ExperimentTag("key999", "new"))
    store.delete_experiment_tag(experiment_id, "key0")
    (experiment,) = store.search_experiments(filter_string="tags.key999 = 'new'")
    assert len(experiment.tags) == 999


def test_ten_thousand_tags_of_a_run_come_back_whole(store: DynamoTrackingStore) -> None:
    tags = [RunTag(f"key {number}", f"v{number}") for number in range(10_000)]
    run_id = store.create_run("0", "ann", 1, tags[:5_000], "tagged").info.run_id
    for start in range(5_000, 10_000, 100):  # MLflow's limit of a batch
        store.log_batch(run_id, [], [], tags[start : start + 100])
    _run(store)
    expected = {tag.key: tag.value for tag in tags} | {"mlflow.runName": "tagged"}
    assert store.get_run(run_id).data.tags == expected
    for number in (0, 4_999, 5_000, 9_999):
        (run,) = _search(store, ["0"], f"tags.`key {number}` = 'v{number}'", ViewType.ALL)
        assert run.data.tags == expected


def test_a_tag_that_grows_is_moved_before_its_item_becomes_too_large(
    store: DynamoTrackingStore,
) -> None:
    run_id = _run(store)
    for number in range(40):
        store.set_tag(run_id, RunTag(f"t{number}", "a"))
    for number in range(40):
        store.set_tag(run_id, RunTag(f"t{number}", "ü" * 8_000))
    (run,) = _search(store, ["0"], "", ViewType.ACTIVE_ONLY)
    assert all(run.data.tags[f"t{number}"] == "ü" * 8_000 for number in range(40))


def test_a_key_over_the_limit_of_dynamodb_is_refused(store: DynamoTrackingStore) -> None:
    # Difference.LARGE_ITEMS
    run_id = _run(store)
    store.log_param(run_id, Param("p" * 250, "x" * 6_000))
    with pytest.raises(MlflowException, match="too long") as caught:
        store.log_metric(run_id, Metric("𠀀" * 250, 1.0, 1, 1))
    assert caught.value.error_code == "INVALID_PARAMETER_VALUE"


def test_an_interrupted_deletion_of_an_experiment_is_completed_by_the_next(
    store: DynamoTrackingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment_id = store.create_experiment("swept")
    runs = [_run(store, experiment_id, f"run {number}") for number in range(3)]

    def die(_: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store.runs, "delete", die)
        with pytest.raises(KeyboardInterrupt):
            store.delete_experiment(experiment_id)
    store.delete_experiment(experiment_id)
    assert all(store.get_run(run).info.lifecycle_stage == "deleted" for run in runs)
    with pytest.raises(MlflowException, match="No Experiment with id"):
        store.delete_experiment(experiment_id)


class _Dying(Database):
    """Ends before its nth write, like a killed process."""

    def __init__(self, source: Database) -> None:
        self.__dict__.update(source.__dict__)
        self.left = 1 << 30

    def write(self, writes: Any) -> None:
        self._count()
        super().write(writes)

    def write_in_batches(self, writes: Any) -> None:
        self._count()
        super().write_in_batches(writes)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


OPERATIONS: dict[str, Callable[[DynamoTrackingStore, str], Any]] = {
    "create_experiment": lambda store, _: store.create_experiment(
        "new", None, [ExperimentTag(f"k{number}", "v") for number in range(120)]
    ),
    "create_run": lambda store, _: store.create_run(
        "0", "ann", 1, [RunTag(f"k{number}", "v") for number in range(120)], "other"
    ),
    "log_metric": lambda store, run_id: store.log_metric(run_id, Metric("m", 2.0, 2, 2)),
    "log_param": lambda store, run_id: store.log_param(run_id, Param("p", "v")),
    "set_tag": lambda store, run_id: store.set_tag(run_id, RunTag("t", "new")),
    "update_run_info": lambda store, run_id: store.update_run_info(run_id, 3, 9, "renamed"),
    "rename": lambda store, _: store.rename_experiment("0", "renamed"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_kill_between_two_requests_leaves_the_old_or_the_new_state(
    name: str, table: Database
) -> None:
    dying = _Dying(table)
    store = dynamo_store(dying, Series())
    run_id = _run(store)
    store.log_metric(run_id, Metric("m", 1.0, 1, 1))
    store.set_tag(run_id, RunTag("t", "old"))
    before = _state(table)
    for allowed in range(20):
        dying.left = allowed
        try:
            OPERATIONS[name](store, run_id)
        except KeyboardInterrupt:
            dying.left = 1 << 30
            assert _state(table) == before, f"after {allowed} writes"
            continue
        break
    dying.left = 1 << 30
    assert _state(table) != before


def _state(table: Database) -> Any:
    """All data that a new store reads."""
    store = DynamoTrackingStore.of_context(Context(table, "s3://artifacts/root"))
    runs = _search(store, ["0"], "", ViewType.ALL)
    return (
        [
            dict(experiment) | {"tags": dict(experiment.tags)}
            for experiment in store.search_experiments(ViewType.ALL)
        ],
        [run.to_dictionary() for run in runs],
        [store.get_run(run.info.run_id).to_dictionary()["data"]["metrics"] for run in runs],
        [store.get_metric_history(run.info.run_id, "m") for run in runs],
    )


def test_deleting_a_run_permanently_leaves_only_others(store: DynamoTrackingStore) -> None:
    removed, kept = _run(store), _run(store, name="kept")
    for run_id in (removed, kept):
        store.log_batch(run_id, [Metric("m", 1.0, 1, 1)], [Param("p", "v")], [RunTag("t", "v")])
    store.delete_run(removed)
    hooks: Any = store
    assert hooks._get_deleted_runs() == [removed]
    hooks._hard_delete_run(removed)
    with pytest.raises(MlflowException, match="not found"):
        store.get_run(removed)
    runs = _search(store, ["0"], "metrics.m = 1 AND params.p = 'v'", ViewType.ALL)
    assert [run.info.run_id for run in runs] == [kept]


def test_a_missing_table_is_named_with_its_region(tracking_tables: TrackingTables) -> None:
    database = tracking_tables.database("absent")
    with pytest.raises(MlflowException, match="table 'absent' does not exist in region") as caught:
        DynamoTrackingStore.of_context(Context(database, "s3://artifacts/root"))
    assert caught.value.error_code == "INVALID_STATE"


@pytest.mark.parametrize(
    "uri", ["dynamodb:///", "dynamodb://t/x", "dynamodb://t?zone=1", "http://t"]
)
def test_an_address_of_another_form_is_refused(uri: str) -> None:
    with pytest.raises(MlflowException, match="Expected dynamodb://TABLE"):
        StoreAddress.parse(uri)


def test_the_address_contains_the_region_and_the_endpoint(
    monkeypatch: pytest.MonkeyPatch, engines: Any, new_table: Callable[[], str]
) -> None:
    session = boto3.Session()
    assert session.region_name is None or session.region_name
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    endpoint = engines.url("dynamodb")
    store = DynamoTrackingStore(f"dynamodb://{new_table()}?region=us-east-1&endpoint={endpoint}")
    with pytest.raises(MlflowException, match="No Experiment"):
        store.get_experiment("5")


def test_datasets_are_listed_by_context_as_sql_lists_them(table: Database, tmp_path: Path) -> None:
    series, sql = Series(), SqlStore(tmp_path / "sql.db", Series())
    store = dynamo_store(table, series)
    iris, other = Dataset("iris", "d1", "local", "a"), Dataset("other", "d2", "local", "b")
    context = [InputTag("mlflow.data.context", "training")]
    for written in (store, sql.store):
        for inputs in ([DatasetInput(iris, context)], [DatasetInput(iris, context)],
                       [DatasetInput(iris, []), DatasetInput(other, [])]):  # fmt: skip
            run_id = written.create_run("0", "ann", 1, [], None).info.run_id
            written.log_inputs(run_id, inputs)
    searching: Any = store
    listed: list[set[Any]] = [
        {
            (dataset.experiment_id, dataset.name, dataset.digest, dataset.context)
            for dataset in datasets
        }
        for datasets in (searching._search_datasets(["0", "7"]), sql.store._search_datasets(["0"]))
    ]
    assert listed[0] == listed[1]
    assert len(listed[0]) == 3


UNITS = 28  # 22 where spans come first, 28 where the trace does; the budget is 20


def _five(trace_id: str) -> list[Any]:
    return [
        span_of(trace_id, 1),
        *(span_of(trace_id, number, 1, "child") for number in range(2, 6)),
    ]


def _tags(trace_id: str) -> dict[str, str]:
    return {"mlflow.traceName": f"answer {trace_id}", "mlflow.user": "ann", "team": "a"}


def test_a_trace_of_five_spans_costs_three_requests_and_few_units(
    store: DynamoTrackingStore, tracking_tables: TrackingTables
) -> None:
    store.start_trace(info_of("tr-first"))  # its experiment is known from here
    with Meter(tracking_tables.client) as meter:
        store.log_spans("0", _five("tr-1"))
        store.start_trace(info_of("tr-1", tags=_tags("tr-1")))
    assert meter.requests <= 3, meter.operations
    assert meter.write_units <= UNITS, meter.write_units
    with Meter(tracking_tables.client) as meter:
        store.start_trace(info_of("tr-2", tags=_tags("tr-2")))
        store.log_spans("0", _five("tr-2"))
    assert meter.requests <= 3, meter.operations
    assert meter.write_units <= UNITS, meter.write_units
    assert all(len(store.get_trace(trace_id).data.spans) == 5 for trace_id in ("tr-1", "tr-2"))


def test_a_page_of_a_hundred_traces_costs_two_requests(
    store: DynamoTrackingStore, tracking_tables: TrackingTables
) -> None:
    for number in range(130):
        fields: dict[str, Any] = {"request_time": START + number, "tags": _tags(str(number))}
        store.start_trace(info_of(f"tr-{number:03d}", **fields))
    with Meter(tracking_tables.client) as meter:
        page, token = store.search_traces(["0"], max_results=100)
    assert meter.requests <= 2
    assert [entry.trace_id for entry in page] == [
        f"tr-{number:03d}" for number in range(129, 29, -1)
    ]
    rest, end = store.search_traces(["0"], max_results=100, page_token=token)
    assert ([entry.trace_id for entry in rest][::29], end) == (["tr-029", "tr-000"], None)
    with Meter(tracking_tables.client) as meter:
        store.search_traces(["0"], "name = 'answer 7'")
    assert meter.requests <= 2


def test_a_trace_of_600_kb_is_stored_in_parts_and_visible_only_when_whole(
    table: Database, store: DynamoTrackingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = random.Random(1)
    text = "".join(chr(noise.randrange(33, 4_000)) for _ in range(400_000))
    store.start_trace(info_of("tr-1"))
    reader = dynamo_store(table, Series())

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store.traces.items, "write", fail)
        with pytest.raises(KeyboardInterrupt):
            store.log_spans("0", [span_of("tr-1", 1, attributes={"text": text})])
    with pytest.raises(MlflowException, match="not stored in tracking store"):
        reader.get_trace("tr-1")
    store.log_spans("0", [span_of("tr-1", 1, attributes={"text": text})])
    (span,) = reader.get_trace("tr-1").data.spans
    assert span.attributes["text"] == text
    assert reader.delete_traces("0", trace_ids=["tr-1"]) == 1
    assert not [item for item in table.query("EXP#0") if item["SK"].startswith("T#")]


@pytest.mark.parametrize(
    ("statistics", "is_whole"),
    [
        *((text, True) for text in ("nonsense", "[1]", "5", '{"num_spans": "x"}', "null", "{}")),
        ('{"num_spans": 1}', True),
        ('{"num_spans": 2}', False),
    ],
)
def test_a_trace_is_whole_unless_its_statistics_name_more_spans(
    statistics: str, is_whole: bool, store: DynamoTrackingStore
) -> None:
    store.start_trace(info_of("tr-1", trace_metadata={SIZE_STATS: statistics}))
    store.log_spans("0", [span_of("tr-1", 1)])
    assert bool(store.batch_get_traces(["tr-1"])) == is_whole


@pytest.mark.parametrize("text", ["nonsense", "5", '{"a": 1}'])
def test_a_model_is_not_added_to_a_tag_that_is_no_list(
    text: str, store: DynamoTrackingStore
) -> None:
    run_id = _run(store)
    store.set_tag(run_id, RunTag(MLFLOW_LOGGED_MODELS, text))
    fact = f"tag '{MLFLOW_LOGGED_MODELS}' of the run '{run_id}' is no list in JSON"
    with pytest.raises(MlflowException, match=fact) as refused:
        store.record_logged_model(run_id, Model("m", run_id))
    assert refused.value.error_code == "INVALID_PARAMETER_VALUE"


def test_two_servers_that_log_spans_of_one_trace_lose_none(table: Database) -> None:
    stores = [DynamoTrackingStore.of_context(Context(table, ARTIFACTS)) for _ in range(2)]

    def log(number: int) -> None:
        parent = 1 if number > 1 else None
        stores[number % 2].log_spans("0", [span_of("tr-1", number, parent)])

    log(1)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(log, range(2, 16)))
    stores[0].start_trace(info_of("tr-1", tags={"a": "b"}))
    trace: Trace = stores[1].get_trace("tr-1")
    assert len(trace.data.spans) == 15
    assert trace.info.tags["a"] == "b"


def test_ten_thousand_tags_and_names_of_all_kinds_come_back(store: DynamoTrackingStore) -> None:
    tags = {f"key {number}": "v" * 10 for number in range(10_000)}
    names = {"a#b": "1", "100%": "#", "日本": "", "mlflow.traceName": "x" * 4_000}
    store.start_trace(info_of("tr#1%", tags=tags | names))
    store.set_trace_tag("tr#1%", "more", "ü")
    stored_tags = store.get_trace_info("tr#1%").tags
    assert {key: stored_tags[key] for key in names} == names
    assert len(stored_tags) == 10_000 + len(names) + 2  # and the place of artifacts
    assert stored_tags["more"] == "ü"
    page, _ = store.search_traces(["0"], "tags.more = 'ü'", order_by=["timestamp ASC"])
    assert [entry.trace_id for entry in page] == ["tr#1%"]
    nothing, _ = store.search_traces(["0"], "timestamp > 5 AND timestamp < 3")
    assert nothing == []


def test_a_run_finds_the_traces_that_were_linked_to_it(store: DynamoTrackingStore) -> None:
    for number in range(3):
        store.start_trace(info_of(f"tr-{number}"))
    store.link_traces_to_run(["tr-0", "tr-2", "missing"], "run")
    page, _ = store.search_traces(["0"], "run_id = 'run'")
    assert sorted(entry.trace_id for entry in page) == ["tr-0", "tr-2"]
    with pytest.raises(MlflowException, match="Cannot link more than 100"):
        store.link_traces_to_run([str(number) for number in range(101)], "run")


def test_concurrent_assessments_of_one_trace_are_all_kept(store: DynamoTrackingStore) -> None:
    store.start_trace(info_of("tr-1"))

    def assess(number: int) -> None:
        source = AssessmentSource("HUMAN", "ann")
        store.create_assessment(Feedback(f"f{number}", number, source=source, trace_id="tr-1"))

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(assess, range(6)))
    assert {assessment.name for assessment in store.get_trace_info("tr-1").assessments} == {
        f"f{number}" for number in range(6)
    }


def test_metrics_leave_out_assessments_that_another_overrides(store: DynamoTrackingStore) -> None:
    store.start_trace(info_of("tr-1"))
    source, overridden = AssessmentSource("HUMAN", "ann"), None
    for value in (1, 5):
        feedback = Feedback("score", value, source=source, trace_id="tr-1", overrides=overridden)
        overridden = store.create_assessment(feedback).assessment_id
    (point,) = store.query_trace_metrics(
        ["0"], MetricViewType.ASSESSMENTS, "assessment_value",
        [MetricAggregation(AggregationType.AVG)],
    )  # fmt: skip
    assert point.values == {"AVG": 5.0}
