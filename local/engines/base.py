"""The options of all engines of the local runtime.

An engine is a program from a package registry that replaces an AWS service. It is prepared once in
the tools folder, which all state folders share, and is started on a data folder. Its jars, options
and health check are in a module of its own.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """The options of a start; each engine uses only its own.

    The access key consists of letters and digits, because DynamoDB Local refuses others.
    `queues_path` is a secret path before those of queues, because ElasticMQ checks neither
    signatures nor hosts. `tasks` is the address at which the runner handles tasks of state
    machines.

    `durable=False` makes tests faster and loses data: DynamoDB Local runs in memory. `eatmydata`
    keeps the files but skips fsync, by preloading libeatmydata if the machine has it (a kill -9 of
    the process loses nothing then, a power failure may).
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
        """Check the access key at the start instead of at the first request."""
        if not re.fullmatch(r"[A-Za-z0-9]+", self.access_key):
            raise ValueError(f"access_key is not of letters and digits: {self.access_key!r}")
