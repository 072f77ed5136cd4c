"""The store of downloaded artifacts in the tools folder, and the folders that engines use.

A file gets its final name only after its checksum was verified: it is written under a temporary
name, verified, then renamed. So partial or wrong files are never used, and an interrupted download
continues with the files that are missing.
"""

import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import httpx

from local.engines.errors import EngineError
from local.engines.jars.locked import Artifact, Locked

REPOSITORY_VARIABLE = "VITRINE_MAVEN_REPOSITORY"
"""The environment variable with the address of a Maven Central mirror. The default is jgo's address
of Maven Central."""

# Hundreds of small files: one after the other, their latencies would add up.
_PARALLEL = 8
# With the pauses below, over three seconds.
_ATTEMPTS = 3
_PAUSE_SECONDS = 0.5
# For each read of a file of up to tens of megabytes, not for the whole file.
_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
# Statuses of servers that are overloaded or being restarted.
_TRY_AGAIN = (429, 500, 502, 503, 504)


class _TransientError(Exception):
    """A temporary failure: the next attempt may succeed."""


def repository() -> str:
    """Return the address of the Maven repository, without a trailing slash."""
    chosen = os.environ.get(REPOSITORY_VARIABLE)
    if not chosen:
        from jgo.constants import MAVEN_CENTRAL_URL  # noqa: PLC0415 - 0.3 s that only a fetch pays

        chosen = MAVEN_CENTRAL_URL
    return chosen.rstrip("/")


def fetch_all(
    entries: Sequence[Locked],
    store: Path,
    *,
    fetched: Callable[[int], None] | None = None,
    transport: httpx.BaseTransport | None = None,
) -> None:
    """Download in parallel each entry that is missing or damaged in the store.

    `fetched` is called with the size of each file that was downloaded; `transport` replaces the
    network in tests.

    Raises:
        EngineError: a file cannot be downloaded or has another checksum; the message names its
            coordinate.
    """
    missing = [entry for entry in entries if not _is_there(entry, store)]
    if not missing:
        return
    base = repository()
    with (
        httpx.Client(timeout=_TIMEOUT, follow_redirects=True, transport=transport) as client,
        ThreadPoolExecutor(_PARALLEL) as pool,
    ):
        tasks = [pool.submit(_fetch_one, client, base, entry, store) for entry in missing]
        try:
            for task in tasks:
                size = task.result()
                if fetched is not None:
                    fetched(size)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def link_into(entries: Sequence[Locked], store: Path, folder: Path) -> None:
    """Provide the files of `entries` in `folder`, as links if the file system supports them."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        source, target = store / entry.artifact.path, folder / entry.artifact.file_name
        try:
            target.hardlink_to(source)
        except OSError:
            shutil.copyfile(source, target)


def checksum(client: httpx.Client, base: str, artifact: Artifact) -> str:
    """Download an artifact only to compute its SHA-256, for a new lock file."""
    with tempfile.TemporaryFile() as sink:
        return _with_attempts(lambda: _stream(client, base, artifact, sink), artifact)[0]


def _is_there(entry: Locked, store: Path) -> bool:
    try:
        with (store / entry.artifact.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
    except FileNotFoundError:
        return False


def _fetch_one(client: httpx.Client, base: str, entry: Locked, store: Path) -> int:
    target = store / entry.artifact.path
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as sink:
            digest, size = _with_attempts(
                lambda: _stream(client, base, entry.artifact, sink), entry.artifact
            )
        if digest != entry.sha256:
            raise EngineError(
                f"{entry.artifact.coordinate} from {base} has SHA-256 {digest}, "
                f"but the lock says {entry.sha256}; it is not used"
            )
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return size


def _with_attempts(attempt: Callable[[], tuple[str, int]], artifact: Artifact) -> tuple[str, int]:
    number = 0
    while True:
        number += 1
        try:
            return attempt()
        except _TransientError as error:
            if number == _ATTEMPTS:
                raise EngineError(f"cannot fetch {artifact.coordinate}: {error}") from error
        threading.Event().wait(_PAUSE_SECONDS * 2**number)


def _stream(
    client: httpx.Client, base: str, artifact: Artifact, sink: IO[bytes]
) -> tuple[str, int]:
    """Write the artifact to the file and return its SHA-256 and size."""
    url = f"{base}/{artifact.path}"
    digest, size = hashlib.sha256(), 0
    sink.seek(0)
    sink.truncate()
    try:
        with client.stream("GET", url) as response:
            if response.status_code in _TRY_AGAIN:
                raise _TransientError(f"{url} answers {response.status_code}")
            if response.status_code != 200:
                raise EngineError(
                    f"cannot fetch {artifact.coordinate}: {url} answers {response.status_code}"
                )
            for chunk in response.iter_bytes():
                sink.write(chunk)
                digest.update(chunk)
                size += len(chunk)
    except httpx.HTTPError as error:
        raise _TransientError(f"{url}: {error or type(error).__name__}") from error
    return digest.hexdigest(), size
