"""`python -m benchmarks.imports`: the rate of an import, relative to its requests to S3 alone.

`vitrine import` sends small files to a running product. Then a plain client sends the same requests
to the same store, with the same concurrency: for each file a PUT, a GET of its start and a copy,
for each batch a deletion and two listings. Rounds of both alternate, and each begins when the files
before are indexed. First, a runtime that counts requests receives a small import, because counting
slows the store down. No format of the files is inspected, so an import causes only indexing besides
its requests.
"""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import boto3
import typer
from botocore.config import Config
from rich.console import Console
from vitrine.transfer.importing import BATCHES_AT_ONCE, FILES_A_BATCH

from backend.core.parallel import WORKERS
from backend.spec.functions.apis import UPLOADS_API
from backend.spec.key_layouts import TEMP_UPLOADS_PREFIX
from local.engines import Options
from tests.fakes.counting import requests_of
from tests.journeys.runtime import Api, Runtime, noise

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

DEMANDED = 0.5
"""The target rate of the import, relative to that of its requests to S3 alone."""
_JOBS = 8  # the default concurrency of `vitrine import`
_COUNTED = 100
_START_BYTES = 4096
_SECONDS = 600
_BY_URL: Mapping[str, str] = {
    "PUT object": "PutObject",
    "PUT object?uploadId?partNumber": "UploadPart",
}
_BY_FUNCTION: Mapping[str, str] = {
    "GET bucket": "ListObjectsV2",
    "GET object": "GetObject",
    "HEAD object": "HeadObject",
    "POST bucket?delete": "DeleteObjects",
    "POST object?uploads": "CreateMultipartUpload",
    "POST object?uploadId": "CompleteMultipartUpload",
    "GET object?uploadId": "ListParts",
    "PUT object": "CopyObject",
}
_screen = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    *,
    files: Annotated[int, typer.Option(min=2, help="Files to import, in all rounds.")] = 1000,
    rounds: Annotated[int, typer.Option(min=1)] = 2,
    size: Annotated[int, typer.Option(min=1, help="Bytes of a file.")] = 2000,
    count: Annotated[bool, typer.Option(help="Count the import's requests first.")] = True,
) -> None:
    """Measure the import of small files, and the same requests by a plain client."""
    if count:
        with _serving("--record") as (runtime, folder):
            _show_requests(runtime, _written(folder, "counted", _COUNTED, size))
    ratios: list[float] = []
    with _serving() as (runtime, folder):
        # As many as there are concurrent batches, each of which uses a process.
        warm = _written(folder, "warm", BATCHES_AT_ONCE * FILES_A_BATCH, size)
        _imported(runtime, warm)
        bare = Bare(runtime, size)
        bare.put_files(FILES_A_BATCH)
        for number in range(rounds):
            source = _written(folder, f"round-{number}", files // rounds, size)
            runtime.drain()
            rate = files // rounds / _seconds(lambda: _imported(runtime, source))  # noqa: B023
            runtime.drain()
            with requests_of(bare.s3) as sent:
                bare_rate = files // rounds / _seconds(lambda: bare.put_files(files // rounds))
            ratios.append(rate / bare_rate)
            _screen.print(
                f"round {number + 1}: import {rate:.1f} files/s, bare {bare_rate:.1f} files/s with "
                f"{sent.total() / (files // rounds):.2f} requests a file: {ratios[-1]:.2f}"
            )
    _screen.print(f"ratio: {median(ratios):.2f} (median; demanded: {DEMANDED})")
    raise typer.Exit(1 if median(ratios) < DEMANDED else 0)


@contextmanager
def _serving(*options: str) -> Generator[tuple[Runtime, Path]]:
    """A runtime of its own, and a folder; both are deleted afterwards."""
    _screen.print(" ".join(("starting the product", *options)))
    with TemporaryDirectory(prefix="vitrine-bench-") as name:
        runtime = Runtime(Path(name) / "state")
        try:
            runtime.up("--in-memory", *options)
            yield runtime, Path(name)
        finally:
            runtime.down()


def _written(folder: Path, name: str, files: int, size: int) -> Path:
    """Write a folder of files, which becomes one asset."""
    place = folder / name / "files"
    place.mkdir(parents=True)
    for number in range(files):
        (place / f"{number:05}.bin").write_bytes(noise(size, f"{name}/{number}"))
    return place.parent


def _imported(runtime: Runtime, folder: Path) -> None:
    """Import a folder by the command, as a user does."""
    command = [sys.executable, "-m", "vitrine", "import", str(folder), "--json"]
    command += ["--endpoint", str(runtime.state / "endpoint.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    if done.returncode:
        raise RuntimeError(f"the import failed: {done.stderr}")


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _show_requests(runtime: Runtime, folder: Path) -> None:
    """Print the requests to S3 of the import of a folder, by operation."""
    runtime.drain()
    runtime.admin("DELETE", "/requests")
    _imported(runtime, folder)
    tree: Mapping[str, Any] = runtime.admin("GET", "/requests?by=function")
    counts: Counter[str] = Counter()
    for name, callers in tree["s3"].items():
        for caller, usage in callers.items():
            if not caller:  # the client itself, by presigned URLs
                counts[_BY_URL.get(name, name)] += usage["requests"]
            elif caller.endswith(UPLOADS_API.name):
                counts[_BY_FUNCTION.get(name, name)] += usage["requests"]
    for name, number in counts.most_common():
        _screen.print(f"  {number / _COUNTED:.2f} {name} a file")
    _screen.print(f"  {counts.total() / _COUNTED:.2f} requests to S3 a file, of {_COUNTED} files")


class Bare:
    """Sends the requests of an import to S3, and no others.

    All keys are temporary ones, whose events have no consumer.
    """

    def __init__(self, runtime: Runtime, size: int) -> None:
        self.s3: S3Client = boto3.client(
            "s3",
            endpoint_url=runtime.endpoint["s3"],
            **runtime.keys,
            region_name=Options().region,
            config=Config(max_pool_connections=BATCHES_AT_ONCE * WORKERS + _JOBS),
        )
        self._bucket = _bucket_of(runtime.client())
        self._size = size
        self._sent = 0

    def put_files(self, files: int) -> None:
        """Put files, read them, copy them to their final keys, and remove the first objects."""
        first, self._sent = self._sent, self._sent + files
        starts = range(first, self._sent, FILES_A_BATCH)
        batches = [range(n, min(n + FILES_A_BATCH, self._sent)) for n in starts]
        with ThreadPoolExecutor(_JOBS) as puts, ThreadPoolExecutor(BATCHES_AT_ONCE) as pool:
            list(pool.map(partial(self._batch, puts), batches))

    def _batch(self, puts: ThreadPoolExecutor, batch: Sequence[int]) -> None:
        keys = [f"{TEMP_UPLOADS_PREFIX}bare/{number}" for number in batch]
        list(puts.map(self._put, keys))
        with ThreadPoolExecutor(WORKERS) as pool:
            versions = list(pool.map(self._placed, keys))
        self.s3.delete_objects(
            Bucket=self._bucket,
            Delete={
                "Objects": [
                    {"Key": key, "VersionId": version}
                    for key, version in zip(keys, versions, strict=True)
                ],
                "Quiet": True,
            },
        )
        for _ in range(2):
            self.s3.list_objects_v2(Bucket=self._bucket, Prefix=_place(keys[0]), MaxKeys=2)

    def _put(self, key: str) -> None:
        self.s3.put_object(Bucket=self._bucket, Key=key, Body=noise(self._size, key))

    def _placed(self, key: str) -> str:
        read = self.s3.get_object(Bucket=self._bucket, Key=key, Range=f"bytes=0-{_START_BYTES - 1}")
        read["Body"].read()
        version = read["VersionId"]
        self.s3.copy_object(
            Bucket=self._bucket,
            Key=_place(key),
            CopySource={"Bucket": self._bucket, "Key": key, "VersionId": version},
            MetadataDirective="REPLACE",
            TaggingDirective="REPLACE",
        )
        return version


def _place(key: str) -> str:
    return f"{TEMP_UPLOADS_PREFIX}placed/{key.rpartition('/')[2]}"


def _bucket_of(api: Api) -> str:
    return str(api.own_bucket()["bucketName"])


if __name__ == "__main__":
    app()
