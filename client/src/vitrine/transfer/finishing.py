"""Waits, for a limited time, until the server has finished the large files of an upload."""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from vitrine.client import Vitrine
from vitrine.upload_models import UploadedFile

# A worker copies terabytes in many steps; after an hour the command ends, and can be repeated.
WAIT_SECONDS: Final = 3600.0
# A file just over the limit is copied within seconds, the largest take hours.
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 15.0


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The time to wait for large files; `stopped` ends it early."""

    seconds: float = WAIT_SECONDS
    clock: Callable[[], float] = time.monotonic


def wait_for_files(
    client: Vitrine,
    upload_id: str,
    keys: Collection[str],
    *,
    waiting: Waiting,
    stopped: threading.Event,
) -> Mapping[str, UploadedFile]:
    """Return the state of these files, by key without slash, except unfinished ones.

    Raises:
        VitrineError: the server cannot be reached.
    """
    wanted = {key.lstrip("/") for key in keys}
    deadline, pause = waiting.clock() + waiting.seconds, FIRST_PAUSE
    while True:
        files = {
            file.relative_key.lstrip("/"): file for file in client.uploads.get(upload_id).files
        }
        settled = {
            key: file
            for key, file in files.items()
            if key in wanted and file.state in {"done", "failed"}
        }
        left = deadline - waiting.clock()
        if len(settled) == len(wanted) or left <= 0 or stopped.is_set():
            return settled
        client.sleep(min(pause, left))
        # A large file takes minutes; each check is a request.
        pause = min(2 * pause, LONGEST_PAUSE)
