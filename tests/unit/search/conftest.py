"""The indexing path over AWS in process and an engine in memory."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.state import SearchState
from tests.factories.buckets import stored_bucket
from tests.factories.search import NOON, rebuilder
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine


@pytest.fixture
def engine(tables: Tables) -> MemorySearchEngine:
    """An engine with both indexes, whose names the state knows; the asset bucket is registered."""
    engine = MemorySearchEngine()
    ensure_indexes(engine, SearchState(tables, lambda: NOON))
    stored_bucket(tables)
    return engine


@pytest.fixture
def sent() -> MemoryQueues:
    return MemoryQueues()


@pytest.fixture
def indexing(
    tables: Tables, objects: S3Objects, sent: MemoryQueues, engine: MemorySearchEngine
) -> Rebuilder:
    return rebuilder(tables, objects, sent, engine)
