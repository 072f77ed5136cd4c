"""MLflow's server on the table: its process, its clients, and the requests of its pages."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from mlflow import MlflowClient
from mlflow.entities import Metric, Param

from tests.integration.tracking.server import Server, serve, store_uri

if TYPE_CHECKING:
    from tests.engines import RealEngines


@pytest.fixture(scope="module")
def server(
    engines: "RealEngines", tracking_tables: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    table = tracking_tables.create("mlflow-server")
    uri = store_uri(table, engines.url("dynamodb"))
    with serve(uri, tmp_path_factory.mktemp("server")) as running:
        yield running


def test_a_client_and_the_pages_of_the_ui_read_the_same_run(server: Server) -> None:
    client = MlflowClient(server.url)
    experiment_id = client.create_experiment("first")
    run_id = client.create_run(experiment_id, run_name="quick").info.run_id
    client.log_batch(run_id, [Metric("loss", 0.5, 1, 1)], [Param("depth", "3")])
    client.set_terminated(run_id)
    runs = client.search_runs([experiment_id], "metrics.loss < 1 AND params.depth = '3'")
    assert [run.info.run_id for run in runs] == [run_id]

    searched = server.ui(
        "POST", "2.0/mlflow/runs/search",
        json={"experiment_ids": [experiment_id], "order_by": ["attributes.start_time DESC"],
              "run_view_type": "ACTIVE_ONLY", "max_results": 100},
    )  # fmt: skip
    assert [run["info"]["run_name"] for run in searched["runs"]] == ["quick"]
    history = server.ui(
        "GET", "2.0/mlflow/metrics/get-history-bulk-interval",
        params={"run_ids": run_id, "metric_key": "loss", "max_results": 320},
    )  # fmt: skip
    assert [metric["value"] for metric in history["metrics"]] == [0.5]


def test_a_version_takes_its_artifacts_and_run_from_a_logged_model(server: Server) -> None:
    client = MlflowClient(server.url)
    run_id = client.create_run("0").info.run_id
    model = client.create_logged_model("0", name="net", source_run_id=run_id)
    client.finalize_logged_model(model.model_id, "READY")
    client.create_registered_model("net")
    version = client.create_model_version(
        "net", f"models:/{model.model_id}", model_id=model.model_id
    )
    assert version.run_id == run_id
    assert client.get_model_version_download_uri("net", version.version) == model.artifact_location
