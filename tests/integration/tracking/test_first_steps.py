"""The first steps of the guide, and a stock server with credentials of Vitrine."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner, Result
from mlflow.entities import (
    Dataset,
    DatasetInput,
    TraceInfo,
    TraceLocation,
    TraceState,
)
from vitrine_mlflow.__main__ import main
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.table import create_request

from local.engines import LOOPBACK, Options, free_port
from tests.engines import ROOT
from tests.integration.tracking.server import Server, end, serve, store_uri, wait
from tests.integration.tracking.stores import TrackingTables

if TYPE_CHECKING:
    from tests.engines import RealEngines


GUIDE = ROOT / "docs" / "guides" / "tracking.md"
ADDRESS = "127.0.0.1:5000"


def _steps() -> list[str]:
    section = (
        GUIDE.read_text(encoding="utf-8").partition("## First steps\n")[2].partition("\n## ")[0]
    )
    blocks = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def _environment(engines: "RealEngines", home: Path, port: int) -> dict[str, str]:
    """The environment of the commands: the engine in place of AWS, and another port."""
    options = Options()
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "AWS_ENDPOINT_URL_DYNAMODB": engines.url("dynamodb"),
        "AWS_ACCESS_KEY_ID": options.access_key,
        "AWS_SECRET_ACCESS_KEY": options.secret_key,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_PORT": str(port),
        "GIT_PYTHON_REFRESH": "quiet",
    }


def test_the_first_run_is_in_the_ui(engines: "RealEngines", tmp_path: Path) -> None:
    install, create, serve, export, log = _steps()
    assert install == "pip install 'vitrine-mlflow[server]'"  # the environment has it
    assert export == f"export MLFLOW_TRACKING_URI=http://{ADDRESS}"
    port = free_port()
    environment = _environment(engines, tmp_path, port)

    def run(step: str, **more: str) -> str:
        done = subprocess.run(
            shlex.split(step), cwd=tmp_path, env={**environment, **more},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "Created the table 'mlflow' in eu-central-1" in run(create)
    assert "Nothing was changed" in run(create)
    log_file = tmp_path / "server.log"
    with log_file.open("wb") as output:
        server = subprocess.Popen(
            shlex.split(serve), cwd=tmp_path, env=environment,
            stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        url = f"http://{LOOPBACK}:{port}"
        wait(server, f"{url}/health", log_file)
        run(log, MLFLOW_TRACKING_URI=url)
        query = {"experiment_ids": ["0"], "max_results": 100}
        reply: Any = httpx.post(f"{url}/ajax-api/2.0/mlflow/runs/search", json=query).json()
        assert [
            (metric["key"], metric["value"]) for metric in reply["runs"][0]["data"]["metrics"]
        ] == [("loss", 0.5)]
    finally:
        end(server)


def _create(engines: "RealEngines", table: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    options = Options()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", options.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", options.secret_key)
    options_of_table = ("--table", table, "--region", options.region)
    return CliRunner().invoke(
        main, ["create-table", *options_of_table, "--endpoint-url", engines.url("dynamodb")]
    )


def _without_an_index(request: Any) -> None:
    request["GlobalSecondaryIndexes"].pop()


def _without_a_local_index(request: Any) -> None:
    request["LocalSecondaryIndexes"].pop(0)


def _with_keys_only(request: Any) -> None:
    request["GlobalSecondaryIndexes"][3]["Projection"] = {"ProjectionType": "KEYS_ONLY"}


def _without_a_sort_key(request: Any) -> None:
    request["GlobalSecondaryIndexes"][0]["KeySchema"].pop()


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (_without_an_index, "GSI5 is missing"),
        (_without_a_local_index, "LSI1 is missing"),
        (_with_keys_only, "GSI4 lacks attributes"),
        (_without_a_sort_key, "the key of GSI1 is another"),
    ],
)
def test_a_table_of_another_form_is_refused_by_what_differs(
    change: Any, reported: str, engines: "RealEngines", tracking_tables: TrackingTables,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    name = f"other{change.__name__}"
    request = create_request(name)
    change(request)
    keyed = (*request["GlobalSecondaryIndexes"], *request["LocalSecondaryIndexes"], request)
    used = {key["AttributeName"] for source in keyed for key in source["KeySchema"]}
    request["AttributeDefinitions"] = [
        attribute
        for attribute in request["AttributeDefinitions"]
        if attribute["AttributeName"] in used
    ]
    tracking_tables.client.create_table(**request)
    refused = _create(engines, name, monkeypatch)
    assert refused.exit_code == 1
    assert reported in refused.output


def test_bad_arguments_of_the_command_are_one_line(
    engines: "RealEngines", monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no", "a b c", "ü" * 5, "x" * 256):
        refused = _create(engines, name, monkeypatch)
        assert (refused.exit_code, f"--table: '{name}'" in refused.output) == (2, True)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    nowhere = CliRunner().invoke(main, ["create-table", "--table", "mlflow"])
    assert (nowhere.exit_code, "--region" in nowhere.output) == (1, True)
    wrong = CliRunner().invoke(
        main, ["create-table", "--table", "mlflow", "--region", "x", "--endpoint-url", "localhost"]
    )
    assert (wrong.exit_code, "--endpoint-url" in wrong.output) == (2, True)


HALL = "vitrine://museum/hall"
SOURCE = json.dumps({"uri": f"{HALL}@1/a.csv", "digest": "d"})
FORBIDDEN = "PERMISSION_DENIED"


@dataclass
class Deployment:
    """Replaces Vitrine: refuses everything, and counts the requests."""

    url: str
    requests: list[str] = field(default_factory=list[str])


@contextmanager
def _deployment() -> Generator[Deployment]:
    deployment = Deployment("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            deployment.requests.append(self.path)
            self.send_error(404)

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - names of the base class

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    deployment.url = f"http://{LOOPBACK}:{server.server_port}"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield deployment
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with _deployment() as running:
        yield running


@dataclass
class Rows:
    """Data that clients with a table of their own stored before."""

    experiment: str
    run: str
    trace: str
    model: str


def _seed(uri: str) -> Rows:
    store, registry = DynamoTrackingStore(uri), DynamoRegistryStore(uri)
    experiment = store.create_experiment("lent", f"{HALL}/e")
    run = store.create_run(experiment, "ann", 1, [], "r").info.run_id
    store.log_inputs(run, [DatasetInput(Dataset("parts", "1", "vitrine", SOURCE), [])])
    model = store.create_logged_model(experiment, "net").model_id
    location = TraceLocation.from_experiment_id(experiment)
    trace = store.start_trace(TraceInfo("tr-1", location, 1, TraceState.OK)).trace_id
    registry.create_registered_model("stored")
    registry.create_model_version("stored", f"{HALL}/model")
    return Rows(experiment, run, trace, model)


@pytest.fixture(scope="module")
def seeded(engines: "RealEngines", tracking_tables: Any) -> Iterator[tuple[str, Rows]]:
    with pytest.MonkeyPatch.context() as patch:
        options = Options()
        patch.setenv("AWS_ACCESS_KEY_ID", options.access_key)
        patch.setenv("AWS_SECRET_ACCESS_KEY", options.secret_key)
        uri = store_uri(tracking_tables.create("mlflow-lending"), engines.url("dynamodb"))
        yield uri, _seed(uri)


@pytest.fixture(scope="module")
def server(
    seeded: tuple[str, Rows], deployment: Deployment, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    variables = {"VITRINE_API": deployment.url, "VITRINE_API_KEY": "key"}
    with serve(seeded[0], tmp_path_factory.mktemp("lending"), **variables) as running:
        yield running


def _is_refused(reply: httpx.Response) -> bool:
    return reply.status_code == 403 and "VITRINE_MLFLOW_DATABASES" in reply.text


def test_users_of_a_server_read_and_write_no_asset(
    seeded: tuple[str, Rows], server: Server, deployment: Deployment
) -> None:
    rows = seeded[1]
    run = {"run_uuid": rows.run, "path": "a.txt"}
    reads: list[Callable[[], httpx.Response]] = [
        lambda: httpx.get(f"{server.url}/get-artifact", params=run),
        lambda: httpx.get(
            f"{server.url}/model-versions/get-artifact",
            params={"name": "stored", "version": "1", "path": "MLmodel"},
        ),
        lambda: httpx.post(
            f"{server.url}/ajax-api/2.0/mlflow/upload-artifact", params=run, content=b"x"
        ),
        lambda: server.api("GET", "2.0/mlflow/artifacts/list", params={"run_id": rows.run}),
        lambda: server.api(
            "GET", "2.0/mlflow/model-versions/get-download-uri",
            params={"name": "stored", "version": "1"},
        ),
        lambda: server.api(
            "GET", f"2.0/mlflow/logged-models/{rows.model}/artifacts/directories"
        ),
        lambda: httpx.get(
            f"{server.url}/ajax-api/2.0/mlflow/logged-models/{rows.model}/artifacts/files",
            params={"artifact_file_path": "x"},
        ),
        lambda: httpx.get(
            f"{server.url}/ajax-api/2.0/mlflow/get-trace-artifact",
            params={"request_id": rows.trace, "path": "0123456789abcdef.png"},
        ),
    ]  # fmt: skip
    replies = [read() for read in reads]
    assert [
        (reply.status_code, reply.url, reply.text)
        for reply in replies[:-1]
        if not _is_refused(reply)
    ] == []
    assert not replies[-1].is_success
    assert deployment.requests == []


def test_no_new_row_names_an_asset(
    seeded: tuple[str, Rows], server: Server, deployment: Deployment
) -> None:
    rows = seeded[1]
    plain = server.api("POST", "2.0/mlflow/runs/create", json={"experiment_id": "0"}).json()
    run_id = plain["run"]["info"]["run_id"]
    dataset = {"dataset": {"name": "p", "digest": "1", "source_type": "vitrine", "source": SOURCE}}
    server.api("POST", "2.0/mlflow/registered-models/create", json={"name": "new"})
    bodies: list[tuple[str, Any]] = [
        ("experiments/create", {"name": "a", "artifact_location": HALL}),
        ("experiments/create", {"name": "b", "artifact_location": HALL.upper()}),
        ("runs/create", {"experiment_id": rows.experiment}),
        ("runs/log-inputs", {"run_id": run_id, "datasets": [dataset]}),
        ("logged-models", {"experiment_id": rows.experiment, "name": "n"}),
        ("model-versions/create", {"name": "new", "source": HALL}),
        ("model-versions/create", {"name": "new", "source": "models:/stored/1"}),
        ("model-versions/create", {"name": "new", "source": f"models:/{rows.model}",
                                   "model_id": rows.model}),
    ]  # fmt: skip
    replies = [server.api("POST", f"2.0/mlflow/{path}", json=body) for path, body in bodies]
    trace = {"trace": {"trace_info": {
        "trace_id": "tr-2", "request_time": "2026-01-01T00:00:00Z", "state": "OK",
        "trace_location": {"type": "MLFLOW_EXPERIMENT",
                           "mlflow_experiment": {"experiment_id": rows.experiment}},
    }}}  # fmt: skip
    replies.append(server.api("POST", "3.0/mlflow/traces", json=trace))
    tag = {"key": "mlflow.artifactLocation", "value": HALL}
    replies.append(server.api("PATCH", f"3.0/mlflow/traces/{rows.trace}/tags", json=tag))
    unexpected = [
        (reply.status_code, str(reply.url), reply.text)
        for reply in replies
        if reply.status_code not in {400, 403} or "VITRINE_MLFLOW_DATABASES" not in reply.text
    ]
    assert unexpected == []
    assert deployment.requests == []


def test_a_listed_database_is_used(seeded: tuple[str, Rows], tmp_path: Path) -> None:
    rows = seeded[1]
    with _deployment() as other:
        variables = {
            "VITRINE_API": other.url, "VITRINE_API_KEY": "key",
            "VITRINE_MLFLOW_DATABASES": "museum",
        }  # fmt: skip
        with serve(seeded[0], tmp_path, **variables) as server:
            created = server.api(
                "POST", "2.0/mlflow/runs/create", json={"experiment_id": rows.experiment}
            )
            assert created.is_success, created.text
            listed = server.api("GET", "2.0/mlflow/artifacts/list", params={"run_id": rows.run})
            assert (listed.status_code, listed.json().get("files", [])) == (200, [])
            assert other.requests
            elsewhere = {"name": "c", "artifact_location": "vitrine://archive/hall"}
            refused = server.api("POST", "2.0/mlflow/experiments/create", json=elsewhere)
            assert _is_refused(refused), refused.text
