"""Every version that the local engines are pinned to, in one place.

After a change: `python -m local.engines.lock` (jars), then the integration tests.
"""

from collections.abc import Mapping
from typing import NamedTuple

OPENSEARCH = "3.8.0"
DYNAMODB_LOCAL = "2.6.1"
ELASTICMQ = "1.7.1"
VERSITYGW = "1.8.0"

# OpenSearch 3 requires it; DynamoDB Local and ElasticMQ also run on older releases.
JAVA_MINIMUM = 21


class Jdk(NamedTuple):
    """An archive of Temurin that is downloaded if no suitable Java is installed."""

    url: str
    sha256: str


def _temurin(build: str, sha256: str) -> Jdk:
    release = "https://github.com/adoptium/temurin25-binaries/releases/download/jdk-25.0.4.1%2B1"
    return Jdk(f"{release}/OpenJDK25U-jdk_{build}_hotspot_25.0.4.1_1.tar.gz", sha256)


# As published beside each archive, in `….tar.gz.sha256.txt`.
JDKS: Mapping[str, Jdk] = {
    "linux-x86_64": _temurin(
        "x64_linux", "dbb698396d478e7fa2b1e50f4103324b2a99b90569ee27c33f2261f9215cf41e"
    ),
    "linux-aarch64": _temurin(
        "aarch64_linux", "69df11a02cfa3ef7d7ca645e03edce6778ec090e100f6ae2b42097865730ac52"
    ),
    "darwin-x86_64": _temurin(
        "x64_mac", "e6229d9504f7922053ab31821b9e6bee8761daf7b026a3476d1a027563009880"
    ),
    "darwin-aarch64": _temurin(
        "aarch64_mac", "61979887f7506a24a57439ff99adb8b3a7fc89977d9cfe3b8984f58a981b7b9d"
    ),
}
# The minimum release in versitygw's go.mod.
GO_MINIMUM = (1, 25)

_OPENSEARCH_CORE = ("opensearch", "opensearch-plugin-classloader", "opensearch-agent-bootstrap")
_OPENSEARCH_MODULES = (
    "analysis-common",
    "geo",
    "lang-painless",
    "opensearch-scripting-painless-spi",
    "mapper-extras-client",
    "reindex-client",
    "transport-netty4-client",
)

ROOTS: dict[str, tuple[str, ...]] = {
    "opensearch": (
        *(f"org.opensearch:{name}:{OPENSEARCH}" for name in _OPENSEARCH_CORE),
        *(f"org.opensearch.plugin:{name}:{OPENSEARCH}" for name in _OPENSEARCH_MODULES),
        # the server's own modules, declared as optional in its pom: logging and geo shapes
        "org.apache.logging.log4j:log4j-core:2.25.4",
        "org.locationtech.jts:jts-core:1.15.0",
        "org.locationtech.spatial4j:spatial4j:0.7",
    ),
    "dynamodb": (f"com.amazonaws:DynamoDBLocal:{DYNAMODB_LOCAL}",),
    "queues": (f"org.elasticmq:elasticmq-server_2.13:{ELASTICMQ}",),
}
"""The Maven coordinates from which each engine's lock file is resolved."""

# Dependencies, as `group:artifact`, that resolution includes and the engine does not need.
LEFT_OUT: dict[str, tuple[str, ...]] = {
    # the native libraries of QUIC, 12 MB for platforms and a protocol that are not used here
    "opensearch": ("io.netty:netty-codec-native-quic",),
    # a test library that DynamoDB Local's pom names without its test scope
    "dynamodb": (
        "org.mockito:mockito-core",
        "org.hamcrest:hamcrest-core",
        "org.objenesis:objenesis",
    ),
    "queues": (),
}

VERSITYGW_MODULE = "github.com/versity/versitygw"
VERSITYGW_SUM = "h1:au+wI+aybno/STsQiSm35Uu6Q6iK5MWReQxgO6SEMFc="
"""The module's checksum in the format of go.sum. The module's go.sum pins its dependencies."""
