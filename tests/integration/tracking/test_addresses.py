"""Addresses that users of a tracking server store: where its own identity may read and write."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from mlflow.entities.model_registry import RegisteredModelTag
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore

from local.engines import Options
from tests.integration.tracking.server import Server, serve, store_uri

if TYPE_CHECKING:
    from tests.engines import RealEngines

LISTED = "s3://team/models"
_PROMPT = "mlflow.prompt.is_prompt"
_FORBIDDEN = (
    *("s3://assets/db/asset", "s3://team/modelsX", "s3://team/models/../db", "s3://team"),
    *("S3://assets/x", " s3://assets/x", "s3:\t//assets/x", "s3://team/models/%2e%2e/db"),
    *("/etc", "etc", "../etc", "file:///etc", "file:etc", "file://localhost/etc", "C:\\etc"),
    *("gs://bucket/x", "http://169.254.169.254/latest", "dbfs:/x", "ftp://host/x", "hdfs://h/x"),
    *("mlflow-artifacts://elsewhere:80/x", "mlflow-artifacts:/../x", "nothing:/x"),
)
_ALLOWED = ("mlflow-artifacts:/own", "runs:/{run}/model", LISTED, f"{LISTED}/net", "{artifacts}/x")


class Place(NamedTuple):
    server: Server
    artifacts: Path
    experiment: str  # stored at s3://old by a client with the table
    run: str


@pytest.fixture(scope="module")
def place(
    engines: "RealEngines", tracking_tables: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("addresses")
    with pytest.MonkeyPatch.context() as patch:
        options = Options()
        patch.setenv("AWS_ACCESS_KEY_ID", options.access_key)
        patch.setenv("AWS_SECRET_ACCESS_KEY", options.secret_key)
        uri = store_uri(tracking_tables.create("mlflow-addresses"), engines.url("dynamodb"))
        store, registry = DynamoTrackingStore(uri), DynamoRegistryStore(uri)
        experiment = store.create_experiment("old", "s3://old/e")
        run = store.create_run(experiment, "ann", 1, [], "r").info.run_id
        registry.create_registered_model("net")
        registry.create_model_version("net", "s3://old/model")
        registry.create_registered_model("greeting", [RegisteredModelTag(_PROMPT, "true")])
        with serve(uri, folder, VITRINE_MLFLOW_LOCATIONS=LISTED) as server:
            yield Place(server, folder / "artifacts", experiment, run)


def _requests(place: Place, address: str, number: int) -> list[tuple[str, Any]]:
    """Return one request for each kind of object that takes the address."""
    create = "2.0/mlflow/runs/create"
    run = place.server.api("POST", create, json={"experiment_id": "0"}).json()["run"]["info"]
    parent = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "0"}}
    trace = {
        "trace_id": f"tr-{number}", "request_time": "2026-01-01T00:00:00Z", "state": "OK",
        "tags": {"mlflow.artifactLocation": address}, "trace_location": parent,
    }  # fmt: skip
    prompt = [{"key": _PROMPT, "value": "true"}, {"key": "mlflow.prompt.text", "value": "hi"}]
    version = "2.0/mlflow/model-versions/create"
    return [
        ("2.0/mlflow/experiments/create",
         {"name": f"e{number}", "artifact_location": address}),
        (version, {"name": "net", "source": address, "run_id": run["run_id"]}),
        (version, {"name": "greeting", "source": address, "tags": prompt}),
        ("3.0/mlflow/traces", {"trace": {"trace_info": trace}}),
    ]  # fmt: skip


@pytest.mark.parametrize(("number", "address"), list(enumerate(_FORBIDDEN)))
def test_a_server_stores_no_address_of_its_own_rights(
    place: Place, number: int, address: str
) -> None:
    stored = [
        (path, reply.status_code, reply.text)
        for path, body in _requests(place, address, number)
        if not 400 <= (reply := place.server.api("POST", path, json=body)).status_code < 500
    ]
    assert stored == []


@pytest.mark.parametrize(("number", "template"), list(enumerate(_ALLOWED)))
def test_a_server_stores_addresses_of_its_destination_and_those_listed(
    place: Place, number: int, template: str
) -> None:
    address = template.format(run=place.run, artifacts=place.artifacts)
    for path, body in _requests(place, address, 100 + number)[:2]:
        reply = place.server.api("POST", path, json=body)
        # MLflow itself refuses runs: as locations, and local paths as sources.
        assert reply.is_success or reply.status_code == 400, reply.text
        assert "VITRINE_MLFLOW_LOCATIONS" not in reply.text


def test_stored_addresses_stay_readable_and_take_nothing_new(place: Place) -> None:
    server = place.server
    version = {"name": "net", "version": "1"}
    for path, query in [
        ("runs/get", {"run_id": place.run}),
        ("experiments/get", {"experiment_id": place.experiment}),
        ("model-versions/get", version),
        ("model-versions/get-download-uri", version),
    ]:
        reply = server.api("GET", f"2.0/mlflow/{path}", params=query)
        assert (reply.status_code, "s3://old" in reply.text) == (200, True), reply.text
    location = {"type": "MLFLOW_EXPERIMENT",
                "mlflow_experiment": {"experiment_id": place.experiment}}  # fmt: skip
    trace = {"trace_id": "tr-old", "request_time": "2026-01-01T00:00:00Z", "state": "OK",
             "trace_location": location}  # fmt: skip
    for path, body in [
        ("2.0/mlflow/runs/create", {"experiment_id": place.experiment}),
        ("2.0/mlflow/logged-models", {"experiment_id": place.experiment, "name": "n"}),
        ("2.0/mlflow/model-versions/create", {"name": "net", "source": "models:/net/1"}),
        ("3.0/mlflow/traces", {"trace": {"trace_info": trace}}),
    ]:
        reply = server.api("POST", path, json=body)
        assert (reply.status_code, "VITRINE_MLFLOW_LOCATIONS" in reply.text) == (403, True), path
