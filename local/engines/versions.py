"""Every version that the local engines are pinned to, in one place.

After a change: `python -m local.engines.lock` (jars), then the integration tests.
"""

OPENSEARCH = "3.8.0"
DYNAMODB_LOCAL = "2.6.1"
ELASTICMQ = "1.7.1"
VERSITYGW = "1.8.0"

# OpenSearch 3 requires it; DynamoDB Local and ElasticMQ also run on older releases.
JAVA_MINIMUM = 21
JAVA_FETCHED = "25"
"""The Temurin release that is downloaded if no suitable Java is installed."""
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
