"""Limits, concurrency, interruptions, and errors of the engine."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import pytest
from mlflow.entities import (
    Dataset,
    DatasetInput,
    ExperimentTag,
    InputTag,
    Metric,
    Param,
    RunTag,
    ViewType,
)
from mlflow.exceptions import MlflowException
from vitrine_mlflow.context import Context, Sources
from vitrine_mlflow.database import Database
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.uri import StoreAddress

from tests.integration.tracking.stores import Series, SqlStore, TrackingTables, dynamo_store


@pytest.fixture
def table(tracking_tables: TrackingTables, new_table: Callable[[], str]) -> Database:
    return tracking_tables.database(new_table())


@pytest.fixture
def store(table: Database) -> DynamoTrackingStore:
    return DynamoTrackingStore.of_context(Context(table, "s3://artifacts/root"))


def _run(store: DynamoTrackingStore, experiment_id: str = "0", name: str = "run") -> str:
    return store.create_run(experiment_id, "ann", 1, [], name).info.run_id


def _search(store: DynamoTrackingStore, *arguments: Any) -> list[Any]:
    searching: Any = store
    return list(searching.search_runs(*arguments))


def test_of_eight_concurrent_creations_of_a_name_one_succeeds(
    store: DynamoTrackingStore,
) -> None:
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


def test_datasets_are_listed_by_context_as_sql_lists_them(
    tracking_tables: TrackingTables, new_table: Callable[[], str], tmp_path: Path
) -> None:
    series, sql = Series(), SqlStore(tmp_path / "sql.db", Series())
    store = dynamo_store(tracking_tables.database(new_table()), series)
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
