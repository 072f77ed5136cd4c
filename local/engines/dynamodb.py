"""DynamoDB Local: tables, indexes, transactions, streams.

A small program of ours starts it by its public classes (`DynamoDbOnLoopback.java`, compiled after
the jars are downloaded), because its own command line listens on all interfaces, and has no option
for the address.

On disk all data survives a kill -9 of the process, including streams: the stream's ARN, its shards,
each record with its sequence number, and issued shard iterators. Sequence numbers continue, so a
checkpoint (shard, sequence number) remains valid after a restart. As on AWS, records are kept for
24 hours, also while the engine is down; a shard is closed after four hours, and a child shard
follows. In memory (`durable=False`) no data survives.

There is one gap: TransactWriteItems returns some milliseconds before its commit. A SIGKILL of the
engine in between loses the whole transaction. SIGTERM waits for the commit, and so does any later
request to the engine, so a caller who must be sure sends a cheap request first (ListTables). Other
writes are committed before they return. The end of a killed runner is not affected: its engines
receive SIGTERM first (`guard.py`, `stop_leftovers`).

Every write waits for SQLite's fsync, and no option changes SQLite's settings. To avoid this wait,
use `eatmydata`, or a data folder on a memory file system, which survives a kill as well.
"""

from pathlib import Path

from local.engines import jvm
from local.engines.base import Options
from local.engines.eatmydata import preload
from local.engines.engine import JarEngine, Start
from local.engines.ports import LOOPBACK
from local.engines.probe import responds
from local.engines.versions import DYNAMODB_LOCAL

_SOURCE = Path(__file__).with_name("DynamoDbOnLoopback.java")
_SOURCES = (_SOURCE, _SOURCE.with_name("Loopback.java"))


class DynamoDbLocal(JarEngine):
    """The engine behind `dynamodb`."""

    name = "dynamodb"
    version = DYNAMODB_LOCAL
    besides = b"1" + b"".join(source.read_bytes() for source in _SOURCES)
    # It has no health page; it is healthy if it refuses an unsigned request.
    probe = staticmethod(responds("/", with_status=(400,)))

    def complete(self, tools: Path, home: Path) -> None:
        """See `JarEngine.complete`."""
        jvm.compile_into(home / f"{_SOURCE.stem}.jar", _SOURCES, lib=home, tools=tools)
        # Its manifest names its own folder, for which the JVM archives no classes: half of a
        # start's work.
        jvm.drop_class_path(home / f"DynamoDBLocal-{DYNAMODB_LOCAL}.jar")

    def environment(self, options: Options) -> dict[str, str]:
        """See `JarEngine.environment`."""
        return preload() if options.eatmydata else {}

    def command(self, start: Start) -> list[str]:
        """See `JarEngine.command`."""
        lib = start.home
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
