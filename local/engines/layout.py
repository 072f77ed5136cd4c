"""Folders in the tools folder that are either complete or absent."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from local.engines.base import Progress
from local.engines.errors import EngineError
from local.engines.jars.locked import lock_path, read_lock
from local.engines.jars.store import fetch_all, link_into

_MEGABYTE = 1_000_000


def whole_folder(tools: Path, name: str, build: Callable[[Path], None]) -> Path:
    """Return `tools/name`; `build` creates it if it does not exist.

    `build` fills a temporary folder, which is renamed at the end. One process builds, others wait
    for it. The remains of an interrupted build are removed.
    """
    folder = tools / name
    if folder.is_dir():
        return folder
    tools.mkdir(parents=True, exist_ok=True)
    with FileLock(tools / f".{name}.lock"):
        if folder.is_dir():
            return folder
        for left in tools.glob(f".{name}-*"):
            shutil.rmtree(left, ignore_errors=True)
        staging = Path(tempfile.mkdtemp(dir=tools, prefix=f".{name}-"))
        try:
            build(staging)
            staging.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return folder


def jars_folder_name(engine: str, version: str, *, besides: bytes = b"1") -> str:
    """Return the folder name of an engine made of jars.

    A different lock file, or different input of what is built `besides` the jars, results in a
    different folder.
    """
    digest = hashlib.sha256(lock_path(engine).read_bytes() + besides)
    return f"{engine}-{version}-{digest.hexdigest()[:8]}"


def fetch_locked(engine: str, tools: Path, progress: Progress, *, into: Path) -> None:
    """Download the jars of an engine's lock file into the store, and link them into a folder.

    Raises:
        EngineError: as `fetch_all`.
    """
    entries = read_lock(lock_path(engine))
    store = tools / "maven"
    progress(f"{engine}: fetching {len(entries)} jars")
    sizes: list[int] = []
    fetch_all(entries, store, fetched=sizes.append)
    link_into(entries, store, into)
    progress(f"{engine}: fetched {len(sizes)} of them, {sum(sizes) / _MEGABYTE:.0f} MB, verified")


def prepared(folder: Path, engine: str) -> Path:
    """Return the folder.

    Raises:
        EngineError: it does not exist.
    """
    if not folder.is_dir():
        raise EngineError(f"{engine} is not prepared: {folder} is missing")
    return folder
