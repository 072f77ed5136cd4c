"""OpenSearch: the real server, one node, on the loopback address.

The home (jars) is in the tools folder; configuration, data and temporary files are in the state
folder. There is no security plugin: any process that reaches the port has full access. A small
plugin of ours refuses requests that web pages cause (`local/foreign.py`).
"""

import json
from pathlib import Path

from local.engines import jvm
from local.engines.engine import JarEngine, Start
from local.engines.opensearch_home import add_plugin, arrange_jars
from local.engines.ports import LOOPBACK
from local.engines.probe import responds
from local.engines.versions import OPENSEARCH

# The value that the template sets for the domain; a test compares them, because this package must
# not import `backend`.
MAX_CLAUSES = 4096

_GUARD = "LoopbackGuard"
_SOURCES = tuple(Path(__file__).with_name(f"{name}.java") for name in (_GUARD, "Loopback"))

_LOGGING = """status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


class OpenSearchServer(JarEngine):
    """The engine behind `opensearch`."""

    name = "opensearch"
    version = OPENSEARCH
    besides = b"1" + b"".join(source.read_bytes() for source in _SOURCES)
    jars = "jars"
    # yellow: a single node cannot hold the replicas that a template may request
    probe = staticmethod(responds("/_cluster/health?wait_for_status=yellow&timeout=1s"))

    def complete(self, tools: Path, home: Path) -> None:
        """See `JarEngine.complete`."""
        arrange_jars(home / self.jars, home)
        jvm.compile_into(add_plugin(home, _GUARD), _SOURCES, lib=home / "lib", tools=tools)

    def command(self, start: Start) -> list[str]:
        """See `Engine.command`.

        JNA's native part is disabled: with it the server refuses to run as root, which containers
        do. The server needs it only for filters of system calls and for locked memory.
        """
        files, home = start.files, start.home
        config = files / "config"
        for folder in (config, files / "data", files / "logs", files / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        (config / "opensearch.yml").write_text(_settings(files, start.port), encoding="utf-8")
        (config / "log4j2.properties").write_text(_LOGGING, encoding="ascii")
        options = [
            "-XX:+ExitOnOutOfMemoryError",
            "--enable-native-access=ALL-UNNAMED",
            "-Dlog4j2.disable.jmx=true",
            "-Djna.nosys=true",
            "-Djna.nounpack=true",
            "-Djna.noclasspath=true",
            f"-Djna.boot.library.path={files / 'no-natives'}",
            f"-Djava.io.tmpdir={files / 'tmp'}",
            f"-Dopensearch.path.home={home}",
            f"-Dopensearch.path.conf={config}",
            "-Dopensearch.distribution.type=tar",
            "-Dopensearch.bundled_jdk=false",
        ]
        return jvm.command(
            start.tools,
            home,
            heap=["-Xms256m", "-Xmx512m"],
            options=options,
            lib=home / "lib",
            main="org.opensearch.bootstrap.OpenSearch",
        )


def _settings(files: Path, port: int) -> str:
    """Return opensearch.yml; JSON values are also YAML values."""
    settings: dict[str, str | int | bool] = {
        "cluster.name": "local",
        "node.name": "local-1",
        "discovery.type": "single-node",
        "network.host": LOOPBACK,
        "http.port": port,
        "transport.port": 0,  # any free port: nothing connects to it
        "path.data": str(files / "data"),
        "path.logs": str(files / "logs"),
        "action.auto_create_index": False,
        "action.destructive_requires_name": True,
        "bootstrap.memory_lock": False,
        "indices.query.bool.max_clause_count": MAX_CLAUSES,
        # a full disk of a laptop must not make indexes read-only
        "cluster.routing.allocation.disk.threshold_enabled": False,
    }
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())
