"""DynamoDB Local: tables, indexes, transactions, streams.

It listens on all interfaces: its runner has no option for the address, and opens its port with
the number only. Mind that where the machine's network is not to be trusted.

On disk everything survives a kill -9 of the process, streams included: the stream's ARN, its
shards, every record with its sequence number, and even shard iterators given out before. Sequence
numbers go on where they stopped, so a checkpoint (shard, sequence number) stays good over a
restart. As on AWS records live for 24 hours, also while it is down; a shard is closed after four
hours and a child shard goes on. In memory (`durable=False`) nothing survives.

One window: TransactWriteItems is answered some milliseconds before its commit. A SIGKILL of the
engine in between loses the whole transaction; SIGTERM waits for the commit, and so does any later
request to it, so whoever must be sure asks for something cheap (ListTables) before going on.
Other writes are committed before they are answered. A killed runner is no such case: its engines
get SIGTERM first (`guard.py`, `stop_leftovers`).

Every write waits for SQLite's fsync, and no option changes SQLite's settings. Without that wait:
`eatmydata`, or a data folder on a memory file system, which survives a kill as well.
"""

from pathlib import Path

from local.engines import jvm, layout
from local.engines.base import Options, Progress
from local.engines.eatmydata import preload
from local.engines.java import prepare_java
from local.engines.ports import chosen_port
from local.engines.probe import answers
from local.engines.process import Running, launch, stop_leftovers
from local.engines.versions import DYNAMODB_LOCAL

_MAIN = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner"


class DynamoDbLocal:
    """The engine behind `dynamodb`."""

    name = "dynamodb"

    def prepare(self, tools: Path, progress: Progress) -> None:
        """See `Engine.prepare`."""
        prepare_java(tools, progress)
        layout.whole_folder(
            tools,
            _folder_name(),
            lambda folder: layout.fetch_locked(self.name, tools, progress, into=folder),
        )

    def start(
        self,
        tools: Path,
        data: Path,
        *,
        log: Path,
        port: int | None = None,
        options: Options | None = None,
    ) -> Running:
        """See `Engine.start`."""
        options = options or Options()
        lib = layout.prepared(tools / _folder_name(), self.name)
        stop_leftovers(data, name=self.name)
        port = chosen_port(port, name=self.name)
        files = data / self.name
        files.mkdir(parents=True, exist_ok=True)
        command = _command(tools, lib, files, port, options)
        return launch(
            name=self.name,
            command=command,
            environment=preload() if options.eatmydata else {},
            data=data,
            log=log,
            port=port,
            # It has no health page; refusing an unsigned request is its way to say hello.
            probe=answers("/", with_status=(400,)),
        )


def _command(tools: Path, lib: Path, files: Path, port: int, options: Options) -> list[str]:
    natives = [f"-Dsqlite4java.library.path={lib}", f"-Djava.library.path={lib}"]
    java = jvm.command(
        tools,
        lib,
        heap=["-Xmx512m"],
        options=["--enable-native-access=ALL-UNNAMED", *natives],
        lib=lib,
        main=_MAIN,
    )
    kept = ["-dbPath", str(files)] if options.durable else ["-inMemory"]
    return [*java, "-port", str(port), "-sharedDb", "-disableTelemetry", *kept]


def _folder_name() -> str:
    return layout.jars_folder_name("dynamodb", DYNAMODB_LOCAL)
