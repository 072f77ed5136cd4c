"""Orders that an index serves in part, and searches with several invalid arguments."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mlflow.entities import ViewType
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry import sqlalchemy_store as sql_registry
from vitrine_mlflow.context import Context
from vitrine_mlflow.registry_store import DynamoRegistryStore

from backend.core.ids import new_uuid
from tests.integration.tracking.comparison import error_of
from tests.integration.tracking.stores import Series, SqlStore, TrackingTables, dynamo_store

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
