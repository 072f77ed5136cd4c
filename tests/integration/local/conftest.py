"""A runtime of the small deployment, started by the command line as a user does."""

from __future__ import annotations

import functools
import importlib.util
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import boto3
import httpx
import pytest

from local.intrinsics import references
from tests.integration.local import limited

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from pydantic import JsonValue

_ROOT = Path(__file__).parents[3]
_STATE_SECONDS = 120.0  # on a busy machine


def _load_writer() -> Callable[..., Path]:
    spec = importlib.util.spec_from_file_location(
        "small_deployment", Path(__file__).parent / "small_deployment.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Callable[..., Path]", module.write)


write_assembly = _load_writer()


@dataclass
class Small:
    """A runtime of the small deployment and its folders."""

    state: Path
    assembly: Path

    def command(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the command line on this state folder."""
        done = subprocess.run(
            [sys.executable, "-m", "local", *arguments, "--state", str(self.state)],
            cwd=_ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def up(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Start in the background."""
        return self.command(
            "up", "--detach", "--assembly", str(self.assembly), *arguments, check=check
        )

    @property
    def template(self) -> dict[str, dict[str, dict[str, object]]]:
        """The template of the deployment."""
        text = (self.assembly / "small.template.json").read_text(encoding="utf-8")
        return json.loads(text)

    def change(self, logical_id: str, **properties: object) -> None:
        """Replace properties of a resource."""
        template = self.template
        cast("dict[str, object]", template["Resources"][logical_id]["Properties"]).update(
            properties
        )
        self._write(template)

    def add(self, logical_id: str, resource: dict[str, object]) -> None:
        """Declare one more resource."""
        template = self.template
        template["Resources"][logical_id] = resource
        self._write(template)

    def keep_only(self, *names: str) -> None:
        """Keep only these resources of the template, those that they refer to, and outputs."""
        template, kept, waiting = self.template, set[str](), list(names)
        while waiting:
            name = waiting.pop()
            if name in template["Resources"] and name not in kept:
                kept.add(name)
                waiting += _references(template["Resources"][name].get("Properties"))
        template["Resources"] = {name: template["Resources"][name] for name in sorted(kept)}
        template["Outputs"] = {
            name: output
            for name, output in template["Outputs"].items()
            if kept.issuperset(_references(output))
        }
        self._write(template)

    def _write(self, template: object) -> None:
        path = self.assembly / "small.template.json"
        path.write_text(json.dumps(template), encoding="utf-8")

    @property
    def endpoint(self) -> dict[str, str]:
        """The endpoint file."""
        return json.loads((self.state / "endpoint.json").read_text(encoding="utf-8"))

    def http(self) -> httpx.Client:
        """Return a client of the API."""
        return httpx.Client(base_url=self.endpoint["api"], timeout=40)

    def admin(self, path: str, method: str = "GET", body: object = None) -> httpx.Response:
        """Send a request to the admin port."""
        endpoint = self.endpoint
        headers = {"Authorization": f"Bearer {endpoint['adminToken']}"}
        url = endpoint["admin"] + path
        return httpx.request(method, url, json=body, headers=headers, timeout=400)

    def dynamodb(self) -> DynamoDBClient:
        """Return a client of the table engine."""
        return _dynamodb(self.endpoint["dynamodb"])

    def s3(self) -> S3Client:
        """Return a client of the object engine."""
        return _s3(self.endpoint["s3"], self.endpoint["secretKey"])

    def sqs(self) -> SQSClient:
        """Return a client of the queue engine."""
        engines = self.admin("/health").json()["engines"]
        return _sqs(engines["queues"]["url"])

    def queue(self, name: str) -> str:
        """Return the URL of a queue by its logical id."""
        return self.sqs().get_queue_url(QueueName=f"small-{name}")["QueueUrl"]

    def put(self, key: str, **attributes: Mapping[str, object]) -> None:
        """Write an item whose change is delivered to the consumer."""
        item = cast("Mapping[str, dict[str, str]]", {"id": {"S": key}, **attributes})
        self.dynamodb().put_item(TableName="small-Source", Item=item)

    def seen(self, key: str) -> int:
        """Return how often a consumer has received a key."""
        return int(self.seen_item(key).get("times", {}).get("N", "0"))

    def seen_item(self, key: str) -> dict[str, dict[str, str]]:
        """Return the records of a consumer about a key."""
        item = self.dynamodb().get_item(TableName="small-Seen", Key={"id": {"S": key}})
        return cast("dict[str, dict[str, str]]", item.get("Item", {}))

    def wait_drained(self, seconds: float = _STATE_SECONDS) -> None:
        """Wait until all changes are processed."""
        self.wait_for(lambda: self.admin("/drained").json()["drained"] is True, seconds)

    @staticmethod
    def wait_for(fact: Callable[[], bool], seconds: float = _STATE_SECONDS) -> None:
        """Wait until a condition is true."""
        deadline = time.monotonic() + seconds
        while not fact():
            assert time.monotonic() < deadline, "did not come true in time"
            threading.Event().wait(0.1)


def _references(declared: object) -> list[str]:
    return list(references(cast("JsonValue", declared)))


def _small_in(folder: Path) -> Small:
    assembly = write_assembly(folder / "assembly", extra=limited.resources())
    return Small(folder / "state", assembly)


_session = boto3.Session("local", "local-secret", region_name="us-east-1")


@functools.cache
def _dynamodb(url: str) -> DynamoDBClient:
    return _session.client("dynamodb", endpoint_url=url)


@functools.cache
def _s3(url: str, secret_key: str) -> S3Client:
    session = boto3.Session("local", secret_key, region_name="us-east-1")
    return session.client("s3", endpoint_url=url)


@functools.cache
def _sqs(url: str) -> SQSClient:
    return _session.client("sqs", endpoint_url=url)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Generator[Small]:
    """Serve the small deployment in memory, once for all tests that do not change it."""
    folder = tmp_path_factory.mktemp("small")
    runtime = _small_in(folder)
    runtime.up("--in-memory", "--record")
    yield runtime
    runtime.command("down")


@pytest.fixture
def fresh(tmp_path: Path) -> Generator[Small]:
    """A state folder for a test that stops, kills or restarts its runtime.

    The test should keep only the resources that it needs (`keep_only`), so that no other engines
    are started.
    """
    runtime = _small_in(tmp_path)
    yield runtime
    if (runtime.state / "runner.json").exists():  # except if it has stopped, or did not start
        runtime.command("down")
