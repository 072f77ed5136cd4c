"""The engines for the contract suite of search: the fake and a real OpenSearch."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from opensearchpy import NotFoundError, OpenSearch

from backend.aws.search_engine import OpenSearchEngine
from backend.core.ids import new_uuid
from backend.core.search_engine import JsonObject, SearchEngine
from backend.spec.search_indexes import ASSET_INDEX
from tests.engines import RealEngines
from tests.fakes.search_engine import MemorySearchEngine

ENGINES = ("memory", "OpenSearch")


@dataclass(frozen=True)
class Cluster:
    """An engine with one index, mapped as for assets, and functions that read documents."""

    name: str
    engine: SearchEngine
    index: str
    document: Callable[[str], JsonObject | None]


@pytest.fixture(params=ENGINES)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """An index of the test's own."""
    index = f"contract-{new_uuid()[:8]}-1"
    memory = _memory(index) if request.param == "memory" else _real(request, index)
    assert memory.engine.create_index(
        index, mapping=ASSET_INDEX.mapping, settings=ASSET_INDEX.settings
    )
    return memory


def _memory(index: str) -> Cluster:
    engine = MemorySearchEngine()
    return Cluster("memory", engine, index, lambda name: engine.document(index, name))


def _real(request: pytest.FixtureRequest, index: str) -> Cluster:
    engines: RealEngines = request.getfixturevalue("engines")
    client = OpenSearch(engines.url("opensearch"), timeout=120, max_retries=0)

    def document(name: str) -> JsonObject | None:
        try:
            return client.get(index=index, id=name)["_source"]
        except NotFoundError:
            return None

    return Cluster("OpenSearch", OpenSearchEngine(client), index, document)
