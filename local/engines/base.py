"""What every engine of the local runtime has in common: its parts, its process, its errors.

An engine is a program from a package registry that stands in for an AWS service. It is
prepared once into the tools folder (shared by all state folders) and started on a data folder.
What an engine *is* (jars, options, health) lives in its own module.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from local.engines.process import Running

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What a start may choose; every engine reads only what concerns it.

    The access key is of letters and digits, or DynamoDB Local refuses it.

    `queues_path` is the path before those of queues, without which none is reached: ElasticMQ
    checks neither signatures nor hosts.

    `tasks` is where the runner answers the tasks of state machines.

    `durable=False` gives tests speed for safety: DynamoDB Local in memory. `eatmydata` keeps
    the files but skips fsync, by preloading libeatmydata where the machine has it (a kill -9 of
    the process loses nothing then, a power cut may).
    """

    access_key: str = "local"
    secret_key: str = "local-secret"
    region: str = "us-east-1"
    account: str = "123456789012"
    queues_path: str = ""
    s3_webhook: str | None = None
    tasks: str | None = None
    durable: bool = True
    eatmydata: bool = False

    def __post_init__(self) -> None:
        """Check the access key here, not at the first request."""
        if not re.fullmatch(r"[A-Za-z0-9]+", self.access_key):
            raise ValueError(f"access_key is not of letters and digits: {self.access_key!r}")


class Engine(Protocol):
    """One engine; stateless, so one value serves every runtime of this process."""

    @property
    def name(self) -> str:
        """Short name, also of its pid file, its log and its data folder."""
        ...

    def prepare(self, tools: Path, progress: Progress) -> None:
        """Fetch, verify and lay out into `tools`; instant and offline when that is done.

        Safe when two processes prepare the same folder at once.

        Raises:
            EngineError: something cannot be fetched, or is not what the lock says.
        """
        ...

    def start(
        self,
        tools: Path,
        data: Path,
        *,
        log: Path,
        port: int | None = None,
        options: Options | None = None,
    ) -> Running:
        """Start on `data/<name>` and return at once; `Running.wait_healthy` waits for it.

        What an earlier, killed runner left running on the same `data` is stopped first.

        Raises:
            EngineError: not prepared, or the port is in use.
        """
        ...
