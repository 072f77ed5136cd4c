"""A running product for journeys: started as a newcomer starts it, used over HTTP only."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import quote

import httpx
import psutil

from tests.journeys import canaries
from tests.journeys.documented import DOWN, LOCAL, UP
from tests.wording import foreign_words

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120
"""Maximum time of what usually takes moments, on a busy machine. Benchmarks measure the usual time.
"""
DRAIN_SECONDS = 300
# A restarted engine fails earlier than that.
START_SECONDS = 400


class Keys(TypedDict):
    """Credentials, as boto3 names them."""

    aws_access_key_id: str
    aws_secret_access_key: str


@dataclass(frozen=True)
class Runtime:
    """A local runtime and the content of its endpoint file."""

    state: Path
    connections: ExitStack = field(default_factory=ExitStack)

    @property
    def endpoint(self) -> dict[str, Any]:
        return json.loads((self.state / "endpoint.json").read_text())

    def up(self, *options: str) -> None:
        local(*_arguments(UP), "--state", str(self.state), *options)

    def down(self) -> None:
        self.connections.close()
        local(*_arguments(DOWN), "--state", str(self.state))

    @property
    def keys(self) -> Keys:
        """The engines' credentials."""
        endpoint = self.endpoint
        return {
            "aws_access_key_id": endpoint["accessKey"],
            "aws_secret_access_key": endpoint["secretKey"],
        }

    def client(self, key: str | None = None) -> "Api":
        headers = {"Authorization": key or self.endpoint["adminApiKey"]}
        http = httpx.Client(
            base_url=self.endpoint["api"],
            headers=headers,
            timeout=PATIENCE_SECONDS,  # the gateway replies earlier
            event_hooks={"response": [canaries.note]},
        )
        return Api(self.connections.enter_context(http))

    def admin(self, method: str, path: str) -> Any:
        endpoint = self.endpoint
        headers = {"Authorization": f"Bearer {endpoint['adminToken']}"}
        answer = httpx.request(
            method, endpoint["admin"] + path, headers=headers, timeout=START_SECONDS
        )
        answer.raise_for_status()
        return answer.json()

    def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Wait until every change made so far has been indexed."""
        deadline = time.monotonic() + seconds
        while not (output := self.admin("GET", "/drained"))["drained"]:
            assert time.monotonic() < deadline, f"not drained after {seconds} s: {output}"
            time.sleep(0.2)  # each check takes a tenth of a second of processor time


@dataclass(frozen=True)
class Api:
    """The REST API with one caller's key."""

    http: httpx.Client

    def send(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """Send a request; a read that took longer than the gateway allows is repeated, as clients
        do: the first call of a function on a busy machine may.
        """
        reads = method == "GET" or path.startswith(("/search", "/previews"))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self.http.request(method, path, json=body, **more)
            late = answer.status_code == 503 and answer.json() == {"message": "Service Unavailable"}
            if not (reads and late and time.monotonic() < deadline):
                return answer

    def ok(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Return the body of a request that must succeed."""
        answer = self.send(method, path, body, **more)
        assert answer.status_code == 200, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def refused(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        """Return status and body of a request that must fail in a documented way."""
        answer = self.send(method, path, body, **more)
        assert 400 <= answer.status_code < 600, f"{answer.status_code} {answer.text}"
        assert answer.status_code != 500, answer.text
        body = answer.json()
        if answer.status_code == 400:
            assert foreign_words(str(body["message"])) == [], body
        return answer.status_code, body

    def own_bucket(self) -> dict[str, Any]:
        """The record of the deployment's own bucket, without other registered ones."""
        (item,) = (b for b in self.ok("GET", "/buckets")["Items"] if b["baseAssetsPrefix"] == "/")
        return item

    def new_database(self, database_id: str, **fields: Any) -> str:
        """Create a database; uploads are not processed unless a field enables it."""
        bucket = self.own_bucket()["bucketId"]
        body: dict[str, Any] = {"databaseId": database_id, "description": "made by a test"}
        body |= {"processing": False, **fields}
        return self.ok("POST", "/database", {**body, "defaultBucketId": bucket})["databaseId"]

    def new_asset(self, database_id: str, name: str, **fields: Any) -> str:
        body: dict[str, Any] = {
            "databaseId": database_id,
            "assetName": name,
            "description": "made by a test",
            "isDistributable": True,
            "tags": [],
        }
        return self.ok("POST", "/assets", {**body, **fields})["assetId"]

    def upload(self, database_id: str, asset_id: str, files: dict[str, list[bytes]]) -> Any:
        """Upload files, each given by its parts; return the reply of the completion."""
        scope = {"assetId": asset_id, "databaseId": database_id, "uploadType": "assetFile"}
        wanted = [
            {"relativeKey": key, "num_parts": len(parts), "file_size": sum(map(len, parts))}
            for key, parts in files.items()
        ]
        begun = self.ok("POST", "/uploads", {**scope, "files": wanted})
        done = [put_parts(file, files[file["relativeKey"]]) for file in begun["files"]]
        complete = f"/uploads/{begun['uploadId']}/complete"
        return self.ok("POST", complete, {**scope, "files": done})

    def ended(self, job_id: str, *, seconds: float = 240) -> dict[str, Any]:
        """Return a job when it has ended, in any state."""
        result: dict[str, Any] = {}

        def has_ended() -> bool:
            result.update(self.ok("GET", f"/jobs/{quote(job_id)}"))
            return result["state"] in {"done", "failed", "cancelled"}

        wait_until(has_ended, seconds=seconds)
        return result

    def completed(self, method: str, path: str, body: Any = None) -> Any:
        """Return the reply to a change, after its job, if it has one, has succeeded."""
        reply = self.ok(method, path, body)
        if "jobId" in reply:
            assert self.ended(reply["jobId"])["state"] == "done"
        return reply

    def search(self, **body: Any) -> list[dict[str, Any]]:
        """The sources of the hits of a simple search."""
        hits = self.ok("POST", "/search/simple", {"size": 1000, **body})["hits"]["hits"]
        return [hit["_source"] for hit in hits]


def put_parts(file: dict[str, Any], parts: list[bytes]) -> dict[str, Any]:
    """Put parts to their presigned URLs; return the file's entry for the completion."""
    etags: list[dict[str, Any]] = []
    for url, part in zip(file["partUploadUrls"], parts, strict=True):
        answer = httpx.put(url["UploadUrl"], content=part, timeout=60)
        answer.raise_for_status()
        etags.append({"PartNumber": url["PartNumber"], "ETag": answer.headers["ETag"].strip('"')})
    names = ("relativeKey", "uploadIdS3")
    return {**{name: file[name] for name in names}, "parts": etags}


def noise(size: int, seed: str) -> bytes:
    """Return bytes of no known file format, the same for the same seed."""
    block = sha256(seed.encode()).digest()
    return (block * (size // len(block) + 1))[:size]


def wait_until(
    condition: Callable[[], bool], *, seconds: float = PATIENCE_SECONDS, every: float = 0.1
) -> None:
    """Repeat until a condition is true.

    Raises:
        AssertionError: it is not true in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not so after {seconds} s"
        time.sleep(every)


def wait_for(
    read: Callable[[], Any], wanted: Any, *, seconds: float = PATIENCE_SECONDS, every: float = 0.3
) -> None:
    """Repeat until the result is the expected one.

    Unlike `Runtime.drain` it does not wait for the work of other tests on the shared runtime.

    Raises:
        AssertionError: the last result is another one.
    """
    deadline = time.monotonic() + seconds
    while (result := read()) != wanted:
        assert time.monotonic() < deadline, f"after {seconds} s: {result!r}, not {wanted!r}"
        time.sleep(every)


def local(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m local`; it must succeed."""
    done = run_local(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def _arguments(command: str) -> list[str]:
    return command.removeprefix(LOCAL).split()


def run_local(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "local", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def kill_with_children(pid: int) -> None:
    """Kill the runner and all its processes at once, as a power failure does."""
    runner = psutil.Process(pid)
    for process in [runner, *runner.children(recursive=True)]:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    psutil.wait_procs([runner], timeout=10)
