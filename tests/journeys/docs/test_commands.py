"""Every command of the README and the guides works as written.

`make run` is started with a state of its own, and the commands that no journey runs are run against
it. It takes over 20 seconds: it starts the product.
"""

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

import pytest

from local.engines import free_port
from tests.journeys.documented import LOCAL, RUN_BY_JOURNEYS
from tests.journeys.replaying import break_something, follow_the_guide
from tests.journeys.runtime import PATIENCE_SECONDS, ROOT, Runtime

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
REPLAYING = ROOT / "docs" / "guides" / "replaying-failures.md"
"""The page whose commands have a separate test, which breaks something first."""
PROJECT = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG")]
PAGES = [*PROJECT, *(page for page in GUIDES if page != REPLAYING)]
RUN = "make run"
CLIENT = ".venv/bin/vitrine "
SYNTH = "make synth"
STATUS = f"{LOCAL}status"
RESET = f"{LOCAL}reset"
FIRST_STEPS = (
    "vitrine-mlflow create-table --table mlflow --region eu-central-1",
    (
        "mlflow server --backend-store-uri 'dynamodb://mlflow?region=eu-central-1' "
        "--artifacts-destination ./artifacts"
    ),
    """python -c 'import mlflow; mlflow.log_metric("loss", 0.5)'""",
)
NOT_RUN = {
    "make diff STAGE=prod": "it needs an account of AWS; tests synthesize the stage",
    'make deploy STAGE=prod STACKS="--exclusively vitrine-prod-alarms vitrine-prod-bootstrap '
    'vitrine-prod-indexing vitrine-prod-pipelines vitrine-prod-api vitrine-prod-web"': (
        "tests compare what stacks export and import"
    ),
    "make deploy STAGE=prod": "it needs an account of AWS; tests synthesize the stage",
    "grep -rhF 'x-vitrine-request=JKJaXmPLvHcESHA' logs": (
        "the local object store writes no access logs"
    ),
    "make docs": "a test holds that the pages are what it would write",
    "make run TRACKING=1": "as `make run`, with a table more; tests of tracking create that table",
    "mlflow server --backend-store-uri 'dynamodb://TABLE?region=eu-central-1' "
    "--artifacts-destination s3://BUCKET/mlflow": "it needs a table in an account of AWS",
    "mlflow server --enable-workspaces --backend-store-uri "
    "'dynamodb://TABLE?region=eu-central-1' --artifacts-destination s3://BUCKET/mlflow": (
        "as above; `long/test_mlflow_server.py` starts one on DynamoDB Local"
    ),
    "mlflow server --app-name dynamodb-auth --backend-store-uri "
    "'dynamodb://TABLE?region=eu-central-1'": "as above",
    "vitrine-mlflow config list": "it needs a table; `test_config.py` runs the command",
    "vitrine-mlflow config set full_text.run_names on": "as above",
    "pip install 'vitrine-mlflow[auth]'": "no package is published; the lock installs its extra",
    "pip install 'vitrine-mlflow[server]'": "as above",
    **dict.fromkeys(FIRST_STEPS, "`tracking/test_first_steps.py` runs them on DynamoDB Local"),
    'vitrine search "" --where "triangles > 10000" --where format=OBJ --facet watertight '
    '--facet "texturesMissing >= 1" --sort=-triangles': (
        "tests of the command and of facts search by each of these"
    ),
    'vitrine search "" --geo-point 47.4,8.5,5000 --geo-relation within': (
        "the samples have no places; tests on OpenSearch compare shapes by each relation"
    ),
    ".venv/bin/pytest -q tests/unit/domains/access/matrix/test_matrix.py "
    "tests/unit/client/test_every_route.py tests/unit/spec": "`make test` runs these tests",
    "make test": "continuous integration runs it; that the target is there is tested",
    "make affected": "`tests/architecture/test_parts.py` tests what it prints",
    "make prove": "it takes hours",
    "make prove PART=kills": "it takes minutes, and kills what it starts",
    'make prove PART="integration journeys"': "it would run this test within itself",
    "make prove PART=processing": "it starts readers of its own, beside those of this test",
    "make web-formats": "it starts a runtime and a browser of its own",
}
START_SECONDS = 600.0


def commands(page: Path) -> list[str]:
    """The commands of a page's shell blocks, in their order."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    lines = (line.strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


ALL = [command for page in PAGES for command in commands(page)]


def test_every_command_is_run_here_or_left_out_for_a_reason() -> None:
    known = {RUN, SYNTH, STATUS, RESET, *RUN_BY_JOURNEYS, *NOT_RUN}
    # `tests/architecture/test_aws_commands.py` compares commands of AWS with botocore's models.
    starts = (CLIENT, "export ", "aws ")
    assert len(ALL) > 10
    assert [c for c in ALL if c not in known and not c.startswith(starts)] == []
    assert known <= set(ALL), "a command is no longer in any page"


@pytest.mark.parametrize("command", sorted({c for c in ALL if c.startswith("make ")}))
def test_make_has_the_target(command: str) -> None:
    done = subprocess.run([*shlex.split(command), "-n"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Product:
    """The product that `make run` serves: its state folder and its output."""

    state: Path
    process: subprocess.Popen[str]
    said: list[str]

    def environment(self) -> dict[str, str]:
        """The environment after the `export` lines of the README, for this state."""
        exports = [c.removeprefix("export ") for c in ALL if c.startswith("export ")]
        return {**os.environ, **dict(self.here(export).split("=", 1) for export in exports)}

    def here(self, command: str) -> str:
        """The command with this state instead of the default one."""
        return command.replace(".local/", f"{self.state}/")


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """`make run` until it has printed what to try."""
    state = tmp_path_factory.mktemp("made")
    process = subprocess.Popen(
        [*shlex.split(RUN), f"STATE={state}", f"PORT={free_port()}"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    too_late = Timer(START_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
    too_late.start()
    try:
        output = _first_words(process)
        too_late.cancel()  # later steps have their own time
        yield Product(state, process, output)
    finally:
        too_late.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        process.communicate()


def _first_words(process: subprocess.Popen[str]) -> list[str]:
    """Return the output up to and including the three commands."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(re.sub(r"^\[ *[\d.]+ s\] ", "", line.rstrip("\n")))
        if "try:" in lines[-4:-3]:
            return lines
    pytest.fail("make run ended:\n" + "\n".join(lines))


def test_make_run_prints_address_key_and_three_commands_that_work(product: Product) -> None:
    assert any(re.match(r"serving http://\S+$", line) for line in product.said)
    assert any(re.match(r"key vams_\S+$", line) for line in product.said)
    for command in product.said[-3:]:
        assert ".venv/bin/vitrine" in command
        # One folder: the start and the commands of the README have imported all samples.
        ran(command.replace(" DIR", " samples/library/bolt"), dict(os.environ))


def test_every_sample_is_found_after_the_first_start(product: Product) -> None:
    runtime = Runtime(product.state)
    with runtime.connections:
        hits = runtime.client().search(databaseId="library", entityTypes=["file"])
    files = [path for path in (ROOT / "samples" / "library").rglob("*") if path.is_file()]
    assert len(hits) == len(files) == 39


def test_the_guide_leads_from_poison_and_dead_letters_to_none(product: Product) -> None:
    # Before the commands of other guides, one of which replaces the index that this test breaks.
    written = [command for command in commands(REPLAYING) if not command.startswith("aws ")]
    assert all(command.startswith(f"{CLIENT}admin ") for command in written)
    runtime = Runtime(product.state)
    with runtime.connections:
        break_something(runtime)
        follow_the_guide(runtime, lambda command: ran(command, product.environment()), written)


@pytest.mark.parametrize("command", [c for c in ALL if c.startswith(CLIENT)])
def test_a_command_of_the_client_works_on_what_make_run_serves(
    product: Product, command: str
) -> None:
    output = ran(product.here(command), product.environment())
    assert output.strip(), "it says nothing"
    if command.startswith(f"{CLIENT}search"):
        result = ran(product.here(f"{command} --json"), product.environment())
        assert '"str_key"' in result, "it finds no file"


def test_the_status_shows_what_is_served(product: Product) -> None:
    endpoint = json.loads((product.state / "endpoint.json").read_text())
    assert endpoint["api"] in ran(f"{STATUS} --state {product.state}", product.environment())


def test_make_run_stops_when_it_is_interrupted(product: Product) -> None:
    # Only the runner: make, which Ctrl-C also reaches, would end by the signal in any case.
    endpoint = json.loads((product.state / "endpoint.json").read_text())
    os.kill(endpoint["pid"], signal.SIGINT)
    output, _ = product.process.communicate(timeout=PATIENCE_SECONDS)
    assert "stopping" in output
    assert "Traceback" not in output
    assert product.process.returncode == 0
    assert not (product.state / "endpoint.json").exists()
    ran(f"{RESET} --state {product.state}", product.environment())
    assert not (product.state / "data").exists()


def ran(command: str, environment: dict[str, str]) -> str:
    """Return the output of a command, which must succeed."""
    done = subprocess.run(
        ["bash", "-c", command.strip()],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout
