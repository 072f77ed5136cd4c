"""Assets in MLflow: artifacts, sources of datasets, and the runs that used an asset."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import mlflow
import pytest
from mlflow.data.dataset_source_registry import (
    get_dataset_source_from_json,
    resolve_dataset_source,
)
from mlflow.data.meta_dataset import MetaDataset
from mlflow.entities import DatasetInput
from mlflow.exceptions import MlflowException
from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository
from vitrine_mlflow.table import create_request

from local.engines.base import Options
from tests.journeys.runtime import Api, Runtime


@pytest.fixture
def connected(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """The environment of Vitrine's client: the runtime's address, and its engines' keys."""
    monkeypatch.setenv("VITRINE_ENDPOINT", str(runtime.state / "endpoint.json"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", runtime.endpoint["accessKey"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", runtime.endpoint["secretKey"])
    return runtime


@pytest.fixture
def table(connected: Runtime) -> Iterator[str]:
    """The address of a new table for MLflow."""
    url, region, name = connected.endpoint["dynamodb"], Options().region, f"mlflow-{uuid4().hex}"
    engine = boto3.client("dynamodb", endpoint_url=url, region_name=region)
    engine.create_table(**create_request(name))
    yield f"dynamodb://{name}?region={region}&endpoint={url}"
    engine.delete_table(TableName=name)


@pytest.fixture
def asset(connected: Runtime, api: Api, database: str) -> str:
    """An asset with two versions: one file, then two."""
    created = api.new_asset(database, f"parts-{uuid4().hex[:8]}")
    for files in ({"/data/a.csv": [b"x\n1\n"]}, {"/data/b.csv": [b"x\n2\n"], "/c.txt": [b"c"]}):
        api.upload(database, created, files)
        body = {"useLatestFiles": True, "comment": "made by a test"}
        api.ok("POST", f"/database/{database}/assets/{created}/createVersion", body)
    return created


def _found(repository: Any, path: str | None = None) -> list[tuple[str, bool, int | None]]:
    return [
        (artifact.path, artifact.is_dir, artifact.file_size)
        for artifact in repository.list_artifacts(path)
    ]


def test_artifacts_are_stored_in_an_asset(
    connected: Runtime, database: str, tmp_path: Path
) -> None:
    asset = f"artifacts-{uuid4().hex[:8]}"
    root = f"vitrine://{database}/{asset}"
    repository: Any = get_artifact_repository(f"{root}/1/run/artifacts")
    assert _found(repository) == _found(repository, "model") == []  # the asset does not exist yet
    repository.delete_artifacts("model")  # as `mlflow gc` does for a run without artifacts
    with pytest.raises(MlflowException, match=f"{asset} does not exist"):
        get_artifact_repository(f"{root}@1").list_artifacts()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights.bin").write_bytes(b"w" * 3000)
    (tmp_path / "a b#ä.csv").write_text("x\n1\n")
    (tmp_path / "empty.txt").touch()
    repository.log_artifacts(str(tmp_path))
    repository.log_artifact(str(tmp_path / "a b#ä.csv"), "data/more")
    assert _found(repository) == [
        ("a b#ä.csv", False, 4),
        ("data", True, None),
        ("empty.txt", False, 0),
        ("model", True, None),
    ]
    assert _found(repository, "model") == [("model/weights.bin", False, 3000)]
    assert _found(repository, "model/weights.bin") == _found(repository, "none") == []
    fetched = Path(repository.download_artifacts(""))
    assert (fetched / "model" / "weights.bin").read_bytes() == b"w" * 3000
    assert (fetched / "data" / "more" / "a b#ä.csv").read_text() == "x\n1\n"
    assert (fetched / "empty.txt").read_bytes() == b""
    repository.delete_artifacts("model")
    repository.delete_artifacts("empty.txt")
    assert [name for name, _, _ in _found(repository)] == ["a b#ä.csv", "data"]
    with pytest.raises(MlflowException, match="versions of assets cannot be changed"):
        get_artifact_repository(f"{root}@1").log_artifact(str(tmp_path / "empty.txt"))
    (tmp_path / "tool.exe").write_bytes(b"MZ")
    with pytest.raises(MlflowException, match=r"1 of 1 files were not stored; .*tool\.exe"):
        repository.log_artifact(str(tmp_path / "tool.exe"))


def test_a_logged_version_is_a_link_that_both_sides_list(
    api: Api, database: str, asset: str, table: str, tmp_path: Path
) -> None:
    client = mlflow.MlflowClient(table)
    run_id = client.create_run("0", run_name="training").info.run_id
    sources: list[Any] = [
        resolve_dataset_source(f"vitrine://{database}/{asset}"),  # the current version, pinned
        resolve_dataset_source(f"vitrine://{database}/{asset}@1/data/a.csv"),
    ]
    for number, source in enumerate(sources):
        logged: Any = MetaDataset(source, name=f"parts {number}")
        client.log_inputs(run_id, [DatasetInput(logged._to_mlflow_entity())])

    inputs: Any = client.get_run(run_id).inputs
    used = {entry.dataset.name: entry.dataset for entry in inputs.dataset_inputs}
    shown = json.loads(used["parts 0"].source)
    assert (shown["database"], shown["asset"], shown["version"]) == (database, asset, "2")
    again: Any = get_dataset_source_from_json(used["parts 0"].source, used["parts 0"].source_type)
    assert again.to_dict() == sources[0].to_dict()
    folder = Path(again.load(str(tmp_path)))
    assert (folder / "data" / "b.csv").read_bytes() == b"x\n2\n"
    assert Path(sources[1].load(str(tmp_path))).read_bytes() == b"x\n1\n"

    command = [sys.executable, "-m", "vitrine", "runs", database, asset]
    command += ["--tracking-uri", table, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert {(run["runId"], run["runName"]) for run in runs} == {(run_id, "training")}
    assert {(use["version"], use["path"], use["digest"]) for use in runs} == {
        ("2", "", shown["digest"]),
        ("1", "data/a.csv", sources[1].to_dict()["digest"]),
    }


def test_what_does_not_exist_is_named(connected: Runtime, database: str, asset: str) -> None:
    for address, reason in (
        (f"vitrine://{database}/none", "not found|does not exist"),
        (f"vitrine://{database}/{asset}@9", "has no version 9"),
        (f"vitrine://{database}/{asset}@2/none", "no file there"),
        (f"vitrine://{database}/{asset}@", "no version after"),
    ):
        with pytest.warns(UserWarning, match=reason), pytest.raises(MlflowException):
            resolve_dataset_source(address)
