"""A whole MLflow server, and the demo of tracking."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from vitrine_mlflow.table import create_request

from tests.integration.tracking.server import Server, serve, store_uri
from tests.journeys.runtime import ROOT

if TYPE_CHECKING:
    from tests.engines import RealEngines


_TRAINING = Path(__file__).with_name("fluent_training.py")


@dataclass(frozen=True)
class TrainedServer:
    """A server that holds what the training script has logged."""

    server: Server
    ids: dict[str, str]

    def ui(self, method: str, path: str, given: dict[str, Any]) -> Any:
        place = "params" if method == "GET" else "json"
        return self.server.ui(method, path.format(**self.ids), **{place: self._filled(given)})

    def _filled(self, value: Any) -> Any:
        return json.loads(
            json.dumps(value)
            .replace("RUN", self.ids["run_id"])
            .replace("EXPERIMENT", self.ids["experiment_id"])
            .replace("TRACE_ID", self.ids["trace_id"])
        )


@pytest.fixture(scope="module")
def trained(
    engines: "RealEngines", tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TrainedServer]:
    engines.dynamodb.create_table(**create_request("mlflow-trained"))
    uri = store_uri("mlflow-trained", engines.url("dynamodb"))
    with serve(uri, tmp_path_factory.mktemp("server")) as server:
        ids: dict[str, str] = json.loads(server.run(_TRAINING).splitlines()[-1])
        ui = server.ui(
            "GET", "2.0/mlflow/experiments/get-by-name", params={"experiment_name": "flowers"}
        )
        yield TrainedServer(server, {**ids, "experiment_id": ui["experiment"]["experiment_id"]})


# The requests of the pages of MLflow 3.17's UI, as its bundle sends them: the name of a member
# that the page needs, and how many entries it has (None: any number).
REQUESTS: tuple[tuple[str, str, dict[str, Any], str, int | None], ...] = (
    ("POST", "2.0/mlflow/experiments/search",
     {"max_results": 25, "order_by": ["last_update_time DESC"], "view_type": "ACTIVE_ONLY"},
     "experiments", 2),
    ("POST", "2.0/mlflow/experiments/search",
     {"max_results": 25, "filter": "name ILIKE '%flow%'"}, "experiments", 1),
    ("GET", "2.0/mlflow/experiments/get", {"experiment_id": "EXPERIMENT"}, "experiment", None),
    ("POST", "2.0/mlflow/runs/search",
     {"experiment_ids": ["EXPERIMENT"], "run_view_type": "ACTIVE_ONLY", "max_results": 100,
      "order_by": ["attributes.start_time DESC"]}, "runs", 3),
    ("POST", "2.0/mlflow/runs/search",
     {"experiment_ids": ["EXPERIMENT"], "filter": "attributes.run_id IN ('RUN')",
      "run_view_type": "ACTIVE_ONLY", "max_results": 25,
      "order_by": ["metrics.`training_score` ASC"]}, "runs", 1),
    ("GET", "2.0/mlflow/runs/get", {"run_id": "RUN"}, "run", None),
    ("GET", "2.0/mlflow/artifacts/list", {"run_id": "RUN"}, "files", None),
    ("GET", "2.0/mlflow/metrics/get-history", {"run_id": "RUN", "metric_key": "extra"},
     "metrics", 1),
    ("GET", "2.0/mlflow/metrics/get-history-bulk",
     {"run_id": ["RUN"], "metric_key": "extra", "max_results": 100}, "metrics", 1),
    ("GET", "2.0/mlflow/metrics/get-history-bulk-interval",
     {"run_ids": ["RUN"], "metric_key": "extra", "max_results": 320}, "metrics", 1),
    ("POST", "2.0/mlflow/experiments/search-datasets", {"experiment_ids": ["EXPERIMENT"]},
     "dataset_summaries", None),
    ("POST", "2.0/mlflow/logged-models/search",
     {"experiment_ids": ["EXPERIMENT"], "order_by": [{"field_name": "creation_time",
                                                      "ascending": False}]}, "models", None),
    ("GET", "2.0/mlflow/registered-models/search",
     {"filter": "name ilike '%flower%'", "max_results": 25, "order_by": "name ASC"},
     "registered_models", 1),
    ("GET", "2.0/mlflow/registered-models/get", {"name": "flower-model"}, "registered_model",
     None),
    ("GET", "2.0/mlflow/registered-models/alias", {"name": "flower-model", "alias": "best"},
     "model_version", None),
    ("GET", "2.0/mlflow/model-versions/search", {"filter": "name = 'flower-model'"},
     "model_versions", 1),
    ("GET", "2.0/mlflow/model-versions/search", {"filter": "run_id = 'RUN'"},
     "model_versions", 1),
    ("POST", "3.0/mlflow/traces/search",
     {"locations": [{"type": "MLFLOW_EXPERIMENT",
                     "mlflow_experiment": {"experiment_id": "EXPERIMENT"}}],
      "max_results": 100, "order_by": ["timestamp DESC"]}, "traces", 1),
    ("GET", "3.0/mlflow/traces/{trace_id}", {}, "trace", None),
    ("POST", "3.0/mlflow/traces/batchGetInfos", {"trace_ids": ["TRACE_ID"]}, "trace_infos", 1),
    ("GET", "3.0/mlflow/get-trace-artifact", {"request_id": "TRACE_ID"}, "spans", 2),
    ("POST", "2.0/mlflow/runs/set-tag", {"run_id": "RUN", "key": "mlflow.note.content",
                                         "value": "a note"}, "", None),
    ("POST", "2.0/mlflow/runs/update", {"run_id": "RUN", "run_name": "renamed"}, "run_info", None),
    ("POST", "2.0/mlflow/runs/delete", {"run_id": "RUN"}, "", None),
    ("POST", "2.0/mlflow/runs/restore", {"run_id": "RUN"}, "", None),
    ("POST", "2.0/mlflow/experiments/set-experiment-tag",
     {"experiment_id": "EXPERIMENT", "key": "mlflow.note.content", "value": "text"}, "", None),
    ("POST", "2.0/mlflow/registered-models/set-tag",
     {"name": "flower-model", "key": "k", "value": "v"}, "", None),
)  # fmt: skip


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: f"{one[0]} {one[1]} {one[3]}")
def test_requests_of_the_pages(
    trained: TrainedServer, request_: tuple[str, str, dict[str, Any], str, int | None]
) -> None:
    method, path, value, member, count = request_
    reply = trained.ui(method, path, value)
    if member:
        assert reply[member]
    if count is not None:
        assert len(reply[member]) == count


def test_the_page_of_a_run_reads_it_by_graphql(trained: TrainedServer) -> None:
    query = """query Run($data: MlflowGetRunInput!) {
      mlflowGetRun(input: $data) {
        apiError { message }
        run { info { runName experimentId } data { metrics { key value } params { key value } } }
      }
    }"""
    reply: Any = trained.server.post_graphql(
        {"query": query, "variables": {"data": {"runId": trained.ids["run_id"]}}}
    )
    run = reply["data"]["mlflowGetRun"]["run"]
    assert run["info"]["experimentId"] == trained.ids["experiment_id"]
    assert {metric["key"] for metric in run["data"]["metrics"]} >= {"training_score", "extra"}


def test_workspaces_of_requests_are_apart(engines: "RealEngines", tmp_path: Path) -> None:
    engines.dynamodb.create_table(**create_request("mlflow-workspaces"))
    uri = store_uri("mlflow-workspaces", engines.url("dynamodb"))
    with serve(uri, tmp_path, "--enable-workspaces") as server:
        created = server.api("POST", "3.0/mlflow/workspaces", json={"name": "team-a"})
        assert created.status_code == 201, created.text
        own = {"X-MLFLOW-WORKSPACE": "team-a"}
        experiment = server.api(
            "POST", "2.0/mlflow/experiments/create", json={"name": "hidden"}, headers=own
        ).json()
        result = {"experiment_id": experiment["experiment_id"]}
        path = "2.0/mlflow/experiments/get"
        mine = server.api("GET", path, params=result, headers=own).json()["experiment"]
        assert mine["artifact_location"].endswith(f"workspaces/team-a/{mine['experiment_id']}")
        assert server.api("GET", path, params=result).status_code == 404
        absent = {"X-MLFLOW-WORKSPACE": "team-b"}
        assert server.api("GET", path, params=result, headers=absent).status_code == 404
        refused = server.api("DELETE", "3.0/mlflow/workspaces/team-a")
        assert refused.status_code >= 400
        assert "still contains 1 resource" in refused.text


def test_users_see_what_they_are_granted(engines: "RealEngines", tmp_path: Path) -> None:
    engines.dynamodb.create_table(**create_request("mlflow-auth"))
    uri = store_uri("mlflow-auth", engines.url("dynamodb"))
    ann, bob = ("ann", "a long password"), ("bob", "another password")
    admin = ("admin", "the first password")
    with serve(
        uri, tmp_path, "--app-name", "dynamodb-auth",
        MLFLOW_FLASK_SERVER_SECRET_KEY="secret", MLFLOW_AUTH_ADMIN_PASSWORD=admin[1],
    ) as server:  # fmt: skip
        for user in (ann, bob):
            created = server.api(
                "POST", "2.0/mlflow/users/create", auth=admin,
                json={"username": user[0], "password": user[1]},
            )  # fmt: skip
            assert created.status_code == 200, created.text
        path, update = "2.0/mlflow/experiments/get", "2.0/mlflow/experiments/update"
        experiment = server.api(
            "POST", "2.0/mlflow/experiments/create", auth=ann, json={"name": "of ann"}
        ).json()
        changed = {**experiment, "new_name": "renamed"}
        assert server.api("GET", path, params=experiment).status_code == 401
        assert server.api("GET", path, params=experiment, auth=("ann", "x")).status_code == 401
        assert server.api("GET", path, params=experiment, auth=bob).status_code == 200
        assert server.api("POST", update, json=changed, auth=bob).status_code == 403
        granted = server.api(
            "POST", "3.0/mlflow/users/permissions/grant", auth=ann,
            json={"username": "bob", "resource_type": "experiment", "permission": "EDIT",
                  "resource_id": experiment["experiment_id"]},
        )  # fmt: skip
        assert granted.status_code == 200, granted.text
        assert server.api("POST", update, json=changed, auth=bob).status_code == 200


def test_the_demo_trains_registers_and_searches() -> None:
    done = subprocess.run(
        ["make", "demo-tracking"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    accuracies = [float(item) for item in re.findall(r"C = \S+: accuracy (\S+)", done.stdout)]
    assert len(accuracies) == 3
    assert accuracies == sorted(accuracies, reverse=True)
    best = re.search(r"iris-classifier version [123] is the best: (\S+)", done.stdout)
    assert best is not None, done.stdout
    assert float(best[1]) > 0.9
