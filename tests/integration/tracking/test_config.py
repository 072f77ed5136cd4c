"""Settings in the table with their command, and uses of assets by runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from mlflow.entities import Dataset, DatasetInput
from mlflow.exceptions import MlflowException
from vitrine_mlflow.__main__ import main
from vitrine_mlflow.asset_runs import AssetRun, runs_of_asset
from vitrine_mlflow.config import RUN_NAMES, SETTINGS, Config
from vitrine_mlflow.database import Database
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.uri import StoreAddress

from tests.integration.tracking.stores import Series, SqlStore, dynamo_store


def test_everything_is_off_until_it_is_set(table: Database) -> None:
    config = Config(table)
    assert config.all() == dict.fromkeys(SETTINGS, "off")
    assert (config.get(RUN_NAMES), config.value(RUN_NAMES)) == ("off", None)
    config.set(RUN_NAMES, "on")
    assert (config.get(RUN_NAMES), config.value(RUN_NAMES)) == ("on", True)
    assert config.all()[RUN_NAMES] == "on"
    config.set(RUN_NAMES, "off")
    assert config.value(RUN_NAMES) is None


def test_other_processes_see_a_change_after_seconds(
    table: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("vitrine_mlflow.config.time.monotonic", lambda: now[0])
    config = Config(table)
    assert config.value(RUN_NAMES) is None
    Config(table).set(RUN_NAMES, "on")
    assert config.value(RUN_NAMES) is None
    now[0] += 6
    assert config.value(RUN_NAMES) is True


@pytest.mark.parametrize("value", ["", "ON", "yes", "1", "on "])
def test_a_value_that_a_setting_does_not_take_is_refused(table: Database, value: str) -> None:
    with pytest.raises(MlflowException) as raised:
        Config(table).set(RUN_NAMES, value)
    assert f"'{value}'" in str(raised.value)
    assert RUN_NAMES in str(raised.value)
    assert Config(table).get(RUN_NAMES) == "off"


def test_the_command_sets_and_prints_settings(
    table: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(_: StoreAddress) -> Database:
        return table

    monkeypatch.setattr(StoreAddress, "connect", connect)

    def run(*arguments: str) -> Result:
        words = ["config", "--backend-store-uri", "dynamodb://t", *arguments]
        return CliRunner().invoke(main, words)

    assert run("set", RUN_NAMES, "on").exit_code == 0
    assert run("get", RUN_NAMES).stdout == "on\n"
    assert run("list").stdout.startswith(f"{RUN_NAMES} = on")
    for arguments in (("set", RUN_NAMES, "yes"), ("get", "nothing")):
        refused = run(*arguments)
        assert (refused.exit_code, refused.output.count("\n")) == (1, 1)
        assert arguments[-1] in refused.output


def _dataset_input(version: str, name: str = "parts", asset: str = "hall") -> DatasetInput:
    source = json.dumps({"uri": f"vitrine://museum/{asset}@{version}/a.csv", "digest": "d1"})
    return DatasetInput(Dataset(name, version, "vitrine", source), [])


def _list_uses(uses: list[AssetRun]) -> list[tuple[str, str, str | None, str, str]]:
    return [(use.info.run_id, use.dataset, use.version, use.path, use.digest) for use in uses]


def test_uses_are_listed_newest_first_until_the_run_is_removed(
    table: Database, monkeypatch: pytest.MonkeyPatch
) -> None:

    def connect(_: StoreAddress) -> Database:
        return table

    monkeypatch.setattr(StoreAddress, "connect", connect)
    store = dynamo_store(table, Series())
    first = _run(store, 1_000)
    second = _run(store, 2_000)
    store.log_inputs(
        first,
        [_dataset_input("1"), _dataset_input("1", "other"), _dataset_input("1", asset="elsewhere")],
    )
    store.log_inputs(first, [_dataset_input("1")])
    store.log_inputs(
        second, [_dataset_input("2"), DatasetInput(Dataset("x", "1", "vitrine", "{"), [])]
    )

    def list_uses() -> list[tuple[str, str, str | None, str, str]]:
        return sorted(_list_uses(runs_of_asset("dynamodb://table", "museum", "hall")))

    expected = sorted(
        [
            (first, "other", "1", "a.csv", "d1"),
            (first, "parts", "1", "a.csv", "d1"),
            (second, "parts", "2", "a.csv", "d1"),
        ]
    )
    assert list_uses() == expected
    newest = runs_of_asset("dynamodb://table", "museum", "hall")[0]
    assert newest.info.run_id == second
    hooks: Any = store
    store.delete_run(first)
    assert list_uses() == expected, "deleted runs can be restored"
    hooks._hard_delete_run(first)
    assert _list_uses(runs_of_asset("dynamodb://table", "museum", "elsewhere")) == []
    assert [use[0] for use in list_uses()] == [second]
    store.delete_experiment("0")
    hooks._hard_delete_experiment("0")
    assert list(table.query("ASSET#museum#hall")) == []


def test_a_server_is_read_run_by_run(tmp_path: Path) -> None:
    sql = SqlStore(tmp_path / "one.db", Series())
    with sql.inject():
        run_id = sql.store.create_run("0", "ann", 1_000, [], "first").info.run_id
        sql.store.log_inputs(run_id, [_dataset_input("1"), _dataset_input("1", asset="elsewhere")])
    uses = runs_of_asset(f"sqlite:///{tmp_path / 'one.db'}", "museum", "hall")
    assert _list_uses(uses) == [(run_id, "parts", "1", "a.csv", "d1")]


def _run(store: DynamoTrackingStore, start: int) -> str:
    return store.create_run("0", "ann", start, [], f"run {start}").info.run_id
