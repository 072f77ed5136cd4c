"""The registry on DynamoDB replies as MLflow's own on SQLite, for generated histories."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from mlflow.entities.model_registry import ModelVersion, ModelVersionTag, RegisteredModelTag
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry import sqlalchemy_store
from vitrine_mlflow.context import Context
from vitrine_mlflow.registry_store import DynamoRegistryStore

from tests.integration.tracking.comparison import error_of
from tests.integration.tracking.registry_histories import RegistryHistory
from tests.integration.tracking.seeds import HISTORIES, seed_of
from tests.integration.tracking.stores import Series, TrackingTables, empty_database

_STEPS = 80
_PAGES = 12


@pytest.fixture
def series() -> Series:
    return Series()


@pytest.fixture
def stores(
    tracking_tables: TrackingTables, new_table: Callable[[], str], tmp_path: Path, series: Series
) -> Iterator[tuple[Any, Any]]:
    """Our registry and SQL's, with one clock."""
    module: Any = sqlalchemy_store
    path = tmp_path / "registry.db"
    path.write_bytes(empty_database())
    context = Context(tracking_tables.database(new_table()), "", series.sources())
    with mock.patch.object(module, "get_current_time_millis", series.now_ms):
        yield (
            DynamoRegistryStore.of_context(context),
            module.SqlAlchemyStore(f"sqlite:///{path}"),
        )


@pytest.mark.parametrize("number", range(HISTORIES))
def test_replies_and_searches_equal_those_of_the_sql_registry(
    number: int, stores: tuple[Any, Any], series: Series
) -> None:
    history = RegistryHistory(seed := seed_of(number))
    for step in range(_STEPS):
        series.milliseconds += history.random.randrange(3)
        name, arguments = history.operation()
        ours, theirs = (_outcome(store, name, *arguments) for store in stores)
        assert ours == theirs, f"seed {seed}, {step}: {name} {arguments}: {ours} <> {theirs}"
        if step % 3 == 0:
            _compare_search(seed, stores, *history.search())


def test_many_tags_equal_those_of_the_sql_registry(stores: tuple[Any, Any]) -> None:
    """A rename, searches and a deletion of a model with 10,000 tags in `make prove`."""
    keys = [f"{kind} {number}" for kind in ("a", "ü") for number in range(HISTORIES * 50)]
    for name, arguments in [
        ("create_registered_model", ("m", [RegisteredModelTag(key, key) for key in keys])),
        ("create_model_version", (
            "m", "s3://a", None, [ModelVersionTag(key, key) for key in keys],
        )),
        ("get_model_version", ("m", 1)),
        ("search_registered_models", ("tags.`ü 7` = 'ü 7'",)),
        ("search_model_versions", ("tags.`a 7` LIKE 'A%' AND name = 'm'",)),
        ("rename_registered_model", ("m", "n")),
        ("get_registered_model", ("n",)),
        ("delete_registered_model", ("n",)),
        ("create_registered_model", ("n",)),
    ]:  # fmt: skip
        ours, theirs = (_outcome(store, name, *arguments) for store in stores)
        assert ours == theirs, name


def _compare_search(seed: int, stores: Any, name: str, query: dict[str, Any]) -> None:
    for _ in range(_PAGES):
        ours, theirs = (_outcome(store, name, **query) for store in stores)
        assert ours == theirs, f"seed {seed}: {name} {query}: {ours} <> {theirs}"
        if ours[0] != "page" or not ours[2]:
            return
        query = {**query, "page_token": ours[2]}


def _outcome(store: Any, name: str, *arguments: Any, **named: Any) -> Any:
    try:
        if name == "copy_model_version":
            source = store.get_model_version(*arguments[:2])
            reply = store.copy_model_version(source, arguments[2])
        else:
            reply = getattr(store, name)(*arguments, **named)
    except MlflowException as error:
        return "error", error_of(error)
    if hasattr(reply, "token"):
        return "page", _plain(list(reply)), reply.token
    return "reply", _plain(reply)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        members: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return [_plain(member) for member in members]
    if isinstance(value, ModelVersion):
        return {**dict(value), "aliases": sorted(value.aliases)}
    if hasattr(value, "latest_versions"):
        latest = sorted(map(_plain, value.latest_versions), key=str)  # Difference.ORDER
        return {**dict(value), "latest_versions": latest}
    fields: dict[str, Any] = getattr(value, "__dict__", {})
    return fields or value
