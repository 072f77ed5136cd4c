"""DynamoDB Local: tables, indexes, transactions, streams.

It is started by a small program of ours over its public classes (`DynamoDbOnLoopback.java`,
compiled when the jars are fetched): its own runner listens on all interfaces, and has no option
for the address.

On disk everything survives a kill -9 of the process, streams included: the stream's ARN, its
shards, every record with its sequence number, and even shard iterators given out before. Sequence
numbers continue where they stopped, so a checkpoint (shard, sequence number) remains valid over a
restart. As on AWS records live for 24 hours, also while it is down; a shard is closed after four
hours and a child shard follows. In memory (`durable=False`) nothing survives.

One window: TransactWriteItems returns some milliseconds before its commit. A SIGKILL of the
engine in between loses the whole transaction; SIGTERM waits for the commit, and so does any later
request to it, so a caller who must be sure first sends something cheap (ListTables).
Other writes are committed before they return. A killed runner is no such case: its engines
get SIGTERM first (`guard.py`, `stop_leftovers`).

Every write waits for SQLite's fsync, and no option changes SQLite's settings. Without that wait:
`eatmydata`, or a data folder on a memory file system, which survives a kill as well.
"""

from pathlib import Path

from local.engines import jvm
from local.engines.base import Options
from local.engines.eatmydata import preload
from local.engines.jar_engine import JarEngine, Start
from local.engines.ports import LOOPBACK
from local.engines.probe import answers
from local.engines.versions import DYNAMODB_LOCAL

_SOURCE = Path(__file__).with_name("DynamoDbOnLoopback.java")
_SOURCES = (_SOURCE, _SOURCE.with_name("Loopback.java"))


class DynamoDbLocal(JarEngine):
    """The engine behind `dynamodb`."""

    name = "dynamodb"
    version = DYNAMODB_LOCAL
    besides = b"1" + b"".join(source.read_bytes() for source in _SOURCES)
    # It has no health page; refusing an unsigned request is its way to say hello.
    probe = staticmethod(answers("/", with_status=(400,)))

    def complete(self, tools: Path, lib: Path) -> None:
        """See `JarEngine.complete`."""
        jvm.compile_into(lib / f"{_SOURCE.stem}.jar", _SOURCES, lib=lib, tools=tools)
        # It names its own folder, with which the JVM archives no classes: half a start's work.
        jvm.drop_class_path(lib / f"DynamoDBLocal-{DYNAMODB_LOCAL}.jar")

    def environment(self, options: Options) -> dict[str, str]:
        """See `JarEngine.environment`."""
        return preload() if options.eatmydata else {}

    def command(self, start: Start) -> list[str]:
        """See `JarEngine.command`."""
        lib = start.lib
        natives = [f"-Dsqlite4java.library.path={lib}", f"-Djava.library.path={lib}"]
        java = jvm.command(
            start.tools,
            lib,
            heap=["-Xmx512m"],
            options=["--enable-native-access=ALL-UNNAMED", *natives],
            lib=lib,
            main=_SOURCE.stem,
        )
        kept = [str(start.files)] if start.options.durable else []
        return [*java, LOOPBACK, str(start.port), *kept]
