"""The command that lists MLflow's runs of an asset."""

import sys
from pathlib import Path
from typing import cast

import mlflow
import pytest
from mlflow.entities import RunInfo
from mlflow.exceptions import MlflowException
from vitrine import Vitrine
from vitrine_mlflow import asset_runs
from vitrine_mlflow.asset_runs import AssetRun

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

assert mlflow.__version__  # MLflow loads the package of the stores, so it must come first
URI = "dynamodb://table"


@pytest.fixture
def shell(server: FakeServer, client: Vitrine, tmp_path: Path) -> Shell:
    bucket = next(client.buckets.list()).bucket_id
    client.databases.create("museum", description="All of it", default_bucket_id=bucket)
    client.assets.create("museum", "hall", description="Made of stone", asset_id="xhall")
    return Shell(server, tmp_path)


def _use(run_id: str, version: str, stage: str = "active") -> AssetRun:
    info = RunInfo(
        run_id=run_id,
        experiment_id="7",
        user_id="ann",
        status="FINISHED",
        start_time=1_700_000_000_000,
        end_time=None,
        lifecycle_stage=stage,
        run_name=f"name of {run_id}",
    )
    return AssetRun(info, "parts", version, "a.csv", "d1")


@pytest.fixture
def uses(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """The queries of the table, which has two runs."""
    requests: list[tuple[str, str, str]] = []

    def runs_of_asset(*question: str) -> list[AssetRun]:
        requests.append((question[0], question[1], question[2]))
        return [_use("r2", "2"), _use("r1", "1", "deleted")]

    monkeypatch.setattr(asset_runs, "runs_of_asset", runs_of_asset)
    return requests


def test_runs_are_listed_with_version_and_digest(shell: Shell, uses: list[object]) -> None:
    lines = shell.run("runs", "museum", "hall", "--tracking-uri", URI).splitlines()
    started = "2023-11-14T22:13:20+00:00"
    assert lines == [
        f"r2\tname of r2\t7\tFINISHED\t{started}\t2\ta.csv\td1",
        f"r1\tname of r1\t7\tFINISHED (deleted)\t{started}\t1\ta.csv\td1",
    ]
    assert uses == [(URI, "museum", "xhall")]
    shell.environment["MLFLOW_TRACKING_URI"] = "dynamodb://other"
    reply = shell.json("runs", "museum", "hall", "--version", "1")
    runs = cast("list[dict[str, str]]", reply["runs"])
    assert [(run["runId"], run["lifecycleStage"]) for run in runs] == [("r1", "deleted")]
    assert uses[1] == ("dynamodb://other", "museum", "xhall")


def test_what_is_missing_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.run("runs", "museum", "hall")
    assert (shell.code, "MLFLOW_TRACKING_URI" in shell.err) == (2, True)
    monkeypatch.setitem(sys.modules, "vitrine_mlflow.asset_runs", None)
    shell.run("runs", "museum", "hall", "--tracking-uri", URI)
    assert (shell.code, "pip install 'vitrine-client[mlflow]'" in shell.err) == (2, True)


def test_a_failure_of_the_table_is_reported(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: str) -> list[AssetRun]:
        raise MlflowException("The DynamoDB table 'table' does not exist")

    monkeypatch.setattr(asset_runs, "runs_of_asset", fail)
    shell.run("runs", "museum", "hall", "--tracking-uri", URI)
    assert (shell.code, "does not exist" in shell.err) == (1, True)
