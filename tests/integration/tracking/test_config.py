"""Settings in the table, and the command that sets them."""

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result
from mlflow.exceptions import MlflowException
from vitrine_mlflow.__main__ import main
from vitrine_mlflow.config import RUN_NAMES, SETTINGS, Config
from vitrine_mlflow.database import Database
from vitrine_mlflow.uri import StoreAddress

from tests.integration.tracking.stores import TrackingTables


@pytest.fixture
def table(tracking_tables: TrackingTables, new_table: Callable[[], str]) -> Database:
    return tracking_tables.database(new_table())


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
