"""The registry on DynamoDB: complete despite concurrent writes, and as MLflow's own on SQLite."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from mlflow.entities.model_registry import ModelVersion, ModelVersionTag, RegisteredModelTag
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry import sqlalchemy_store
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.registry_store import DynamoRegistryStore

from tests.integration.tracking.comparison import error_of
from tests.integration.tracking.registry_histories import RegistryHistory
from tests.integration.tracking.stores import (
    HISTORIES,
    Series,
    TrackingTables,
    empty_database,
    seed_of,
)


@pytest.fixture
def registry(table: Database) -> DynamoRegistryStore:
    return DynamoRegistryStore.of_context(Context(table, ""))


def _before(number: int, write: Any, event: Callable[[], None]) -> Any:
    """A function that writes, and calls another one before the nth write."""
    numbers = itertools.count()

    def call(writes: Any) -> None:
        if next(numbers) == number:
            event()
        write(writes)

    return call


def _die() -> None:
    raise KeyboardInterrupt


def _many(kind: type, value: str) -> list[Any]:
    """More tags than a transaction writes; two thirds of the keys are those of other values."""
    common = [kind(f"k{number}", value) for number in range(100)]
    return [*common, *(kind(f"{value}{number}", value) for number in range(50))]


def _values(tags: list[Any]) -> dict[str, str]:
    return {tag.key: tag.value for tag in tags}


@pytest.mark.parametrize("allowed", range(8))
def test_a_rename_killed_between_two_requests_leaves_one_whole_model(
    registry: DynamoRegistryStore, monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    registry.create_registered_model("old", [RegisteredModelTag("k", "v")])
    registry.create_model_version("old", "s3://a", tags=[ModelVersionTag("t", "v")])
    registry.set_registered_model_alias("old", "champion", 1)
    database: Any = registry.models._database  # pyright: ignore[reportPrivateUsage]
    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(database, "write", _before(allowed, database.write, _die))
        registry.rename_registered_model("old", "new")
    models: Any = registry.search_registered_models()
    (model,) = list(models)
    version = registry.get_model_version_by_alias(model.name, "champion")
    assert (int(version.version), version.tags, model.tags) == (1, {"t": "v"}, {"k": "v"})
    if model.name == "old":
        registry.rename_registered_model("old", "new")
    registry.create_registered_model("old")
    assert registry.get_registered_model("old").latest_versions == []


@pytest.mark.parametrize("allowed", range(5))
def test_a_creation_of_many_tags_killed_between_two_requests_leaves_all_or_nothing(
    registry: DynamoRegistryStore, monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    database: Any = registry.models._database  # pyright: ignore[reportPrivateUsage]
    tags, others = _many(RegisteredModelTag, "a"), _many(RegisteredModelTag, "b")
    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(database, "write", _before(allowed, database.write, _die))
        registry.create_registered_model("m", tags)
    if allowed < 4:
        with pytest.raises(MlflowException, match="not found"):
            registry.get_registered_model("m")
        registry.create_registered_model("m", others)
        assert registry.get_registered_model("m").tags == _values(others)
    else:
        assert registry.get_registered_model("m").tags == _values(tags)


def test_a_refused_creation_of_many_tags_changes_nothing(registry: DynamoRegistryStore) -> None:
    registry.create_registered_model("m", [RegisteredModelTag("k", "v")])
    with pytest.raises(MlflowException, match="already exists"):
        registry.create_registered_model("m", _many(RegisteredModelTag, "a"))
    assert registry.get_registered_model("m").tags == {"k": "v"}


@pytest.mark.parametrize("kind", ["create", "rename"])
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("number", range(4))
def test_of_two_writers_of_one_name_one_leaves_a_whole_model(
    registry: DynamoRegistryStore, monkeypatch: pytest.MonkeyPatch,
    kind: str, many: bool, number: int
) -> None:  # fmt: skip
    database: Any = registry.models._database  # pyright: ignore[reportPrivateUsage]
    other = DynamoRegistryStore.of_context(Context(Database(database._client, database._table), ""))
    tags, others = _many(RegisteredModelTag, "a"), _many(RegisteredModelTag, "b")
    others = others if many else others[:1]
    winners: list[dict[str, str]] = []
    errors: list[str] = []

    def create_too() -> None:
        other.create_registered_model("m", others)
        winners.append(_values(others))

    if kind == "rename":
        registry.create_registered_model("old", tags)
    with monkeypatch.context() as patched:
        patched.setattr(database, "write", _before(number, database.write, create_too))
        try:
            if kind == "rename":
                registry.rename_registered_model("old", "m")
            else:
                registry.create_registered_model("m", tags)
            winners.append(_values(tags))
        except MlflowException as error:
            errors.append(str(error.error_code))
    (winner,) = winners
    assert errors in ([], ["RESOURCE_ALREADY_EXISTS"])
    assert registry.get_registered_model("m").tags == winner


def test_a_small_creation_removes_what_another_one_has_started_meanwhile(
    registry: DynamoRegistryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    database: Any = registry.models._database  # pyright: ignore[reportPrivateUsage]
    second: Any = Database(database._client, database._table)
    other = DynamoRegistryStore.of_context(Context(second, ""))

    def begin() -> None:
        monkeypatch.setattr(second, "write", _before(2, second.write, _die))
        with suppress(KeyboardInterrupt):
            other.create_registered_model("m", _many(RegisteredModelTag, "b"))

    with monkeypatch.context() as patched:
        patched.setattr(database, "write", _before(0, database.write, begin))
        registry.create_registered_model("m", [RegisteredModelTag("k", "v")])
    assert registry.get_registered_model("m").tags == {"k": "v"}


@pytest.mark.parametrize("allowed", range(5))
def test_versions_of_many_tags_have_their_own_tags_only(
    registry: DynamoRegistryStore, monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    registry.create_registered_model("m")
    database: Any = registry.models._database  # pyright: ignore[reportPrivateUsage]
    tags, others = _many(ModelVersionTag, "a"), _many(ModelVersionTag, "b")
    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(database, "write", _before(allowed, database.write, _die))
        registry.create_model_version("m", "s3://a", tags=tags)
    version = registry.create_model_version("m", "s3://b", tags=others)
    assert version.tags == _values(others)
    assert int(version.version) == (2 if allowed else 1)
    versions: Any = registry.search_model_versions("name = 'm'")
    assert {int(version.version): version.tags for version in versions} == {
        int(version.version): _values(others), **({1: _values(tags)} if allowed == 4 else {})
    }  # fmt: skip


def test_a_version_whose_model_is_replaced_meanwhile_is_refused(
    registry: DynamoRegistryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.create_registered_model("m")
    database: Any = registry.models._database  # pyright: ignore[reportPrivateUsage]
    tags = _many(ModelVersionTag, "a")

    def replace() -> None:
        registry.delete_registered_model("m")
        registry.create_registered_model("m")

    with monkeypatch.context() as patched:
        patched.setattr(database, "write", _before(2, database.write, replace))
        with pytest.raises(MlflowException, match="Registered Model with name=m not found"):
            registry.create_model_version("m", "s3://a", tags=tags)
    version = registry.create_model_version("m", "s3://b")
    assert (int(version.version), version.tags) == (1, {})


def test_a_deletion_removes_nothing_of_a_model_created_meanwhile(
    tracking_tables: TrackingTables, new_table: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, table = "model", new_table()
    deleting, creating = (
        DynamoRegistryStore.of_context(Context(tracking_tables.database(table), ""))
        for _ in range(2)
    )
    tags = [RegisteredModelTag("k", "old"), RegisteredModelTag("former", "old")]
    deleting.create_registered_model(name, tags)
    database: Any = deleting.models._database  # pyright: ignore[reportPrivateUsage]
    query = database.query

    def query_then_create(pk: str) -> Any:
        items = list(query(pk))
        creating.create_registered_model(name, [RegisteredModelTag("k", "new")])
        return iter(items)

    with monkeypatch.context() as patched:
        patched.setattr(database, "query", query_then_create)
        deleting.delete_registered_model(name)
    assert creating.get_registered_model(name).tags == {"k": "new"}
    models: Any = creating.search_registered_models("name LIKE '%mode%'")
    assert [entry.name for entry in models] == [name]


@pytest.mark.parametrize(("count", "size", "largest"), [(150, 1, 100), (60, 90_000, 45)])
def test_a_model_with_more_than_a_transaction_holds_is_deleted_whole(
    registry: DynamoRegistryStore, monkeypatch: pytest.MonkeyPatch,
    count: int, size: int, largest: int
) -> None:  # fmt: skip
    tags = [RegisteredModelTag(f"k{number}", "v" * size) for number in range(count)]
    registry.create_registered_model("model", tags)
    expected = {tag.key: tag.value for tag in tags}
    assert registry.get_registered_model("model").tags == expected
    for_version = [ModelVersionTag(tag.key, tag.value) for tag in tags]
    version = registry.create_model_version("model", "s3://a", tags=for_version)
    assert version.tags == expected
    database: Any = registry.models._database  # pyright: ignore[reportPrivateUsage]
    write, numbers = database.write, list[int]()

    def count_writes(writes: Any) -> None:
        numbers.append(len(writes))
        write(writes)

    with monkeypatch.context() as patched:
        patched.setattr(database, "write", count_writes)
        registry.delete_registered_model("model")
    # DynamoDB refuses transactions over 4 MB; its local engine does not count what they delete
    assert 1 < max(numbers) <= largest
    registry.create_registered_model("model")
    assert registry.get_registered_model("model").tags == {}


def test_prompts_work_by_the_registry(registry: DynamoRegistryStore) -> None:
    registry.create_prompt("greeting", "says hello", {"team": "x"})
    created = registry.create_prompt_version("greeting", "Hello {{name}}", "first", {})
    registry.set_prompt_alias("greeting", "live", created.version)
    prompt = registry.get_prompt_version_by_alias("greeting", "live")
    assert prompt is not None
    assert prompt.template == "Hello {{name}}"
    assert list(registry.search_registered_models()) == []  # pyright: ignore[reportUnknownArgumentType]


_STEPS = 80
_PAGES = 12


@pytest.fixture
def series() -> Series:
    return Series()


@pytest.fixture
def stores(table: Database, tmp_path: Path, series: Series) -> Iterator[tuple[Any, Any]]:
    """Our registry and SQL's, with one clock."""
    module: Any = sqlalchemy_store
    path = tmp_path / "registry.db"
    path.write_bytes(empty_database())
    context = Context(table, "", series.sources())
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
