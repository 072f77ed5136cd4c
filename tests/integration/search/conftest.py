"""Search over documents that the tests write to a real OpenSearch themselves."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from backend.aws.search_engine import OpenSearchEngine
from backend.core.identity import Identity
from backend.core.ids import new_uuid
from backend.core.page_tokens import PageTokens
from backend.core.search_engine import DocumentWrite, JsonObject
from backend.search.indexing.bulk import with_size
from backend.search.indexing.state import Pointer, SearchState
from backend.search.query.cursors import CursorPlaces, Cursors
from backend.search.query.freshness import Freshness
from backend.search.query.models import SearchBody
from backend.search.query.previews import PreviewQueries
from backend.search.query.service import SearchService
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX
from tests.engines import RealEngines
from tests.factories.access import OnlyUser
from tests.factories.search import NOON
from tests.fakes.tables import MemoryTables
from tests.integration.conftest import search_engine

CALLER = Identity("admin")


@dataclass(eq=False, repr=False)
class NotingEngine(OpenSearchEngine):
    """Records its searches, and the points in time that it opened.

    The cluster also has those of other tests.
    """

    opened: list[str] = field(default_factory=list[str])
    searches: list[JsonObject] = field(default_factory=list[JsonObject])

    def search(self, indexes: Sequence[str], body: JsonObject, *, copy: str = "") -> JsonObject:
        self.searches.append(body)
        return OpenSearchEngine.search(self, indexes, body, copy=copy)

    def open_point_in_time(self, indexes: Sequence[str], *, seconds: int) -> str:
        self.opened.append(OpenSearchEngine.open_point_in_time(self, indexes, seconds=seconds))
        return self.opened[-1]

    def still_open(self) -> set[str]:
        points: list[JsonObject] = self.client.get_all_pits().get("pits", [])
        return {point["pit_id"] for point in points} & set(self.opened)

    def close_all(self) -> None:
        """Close open points in time, as the cluster does when no page is requested."""
        if leaked := self.still_open():
            self.client.delete_pit(body={"pit_id": sorted(leaked)})


@dataclass
class Library:
    """Two indexes of a test's own, and the service that searches them."""

    engine: NotingEngine
    pointer: Pointer
    service: SearchService
    _version: list[int] = field(default_factory=lambda: [0])

    def put(
        self,
        documents: Mapping[str, JsonObject],
        *,
        refresh: bool = True,
        with_sizes: bool = True,
    ) -> None:
        """Write documents by id, each into the index of its `_rectype`."""
        self._version[0] += 1
        writes = [self._write(*document, with_sizes=with_sizes) for document in documents.items()]
        for start in range(0, len(writes), 2000):
            results = self.engine.bulk(writes[start : start + 2000])
            assert {result.status for result in results} <= {200, 201}
        if refresh:
            self.refresh()

    def refresh(self) -> None:
        self.engine.refresh((self.pointer.assets_read, self.pointer.files_read))

    def search(self, caller: Identity = CALLER, **body: Any) -> JsonObject:
        return self.service.search(caller, SearchBody.model_validate(body))

    def requests_of(self, **body: Any) -> int:
        """The number of requests to OpenSearch of a search."""
        self.engine.searches.clear()
        self.search(**body)
        return len(self.engine.searches)

    def ids(self, **body: Any) -> set[str]:
        return {hit["_id"] for hit in self.search(size=1000, **body)["hits"]["hits"]}

    def _write(self, name: str, body: JsonObject, *, with_sizes: bool) -> DocumentWrite:
        index = {"asset": self.pointer.assets_read, "file": self.pointer.files_read}
        text = json.dumps(body)
        text = with_size(text) if with_sizes else text
        return DocumentWrite(index[body["_rectype"]], name, self._version[0], text)


def asset(name: str, metadata: Iterable[JsonObject] = (), **fields: Any) -> JsonObject:
    """The document of an asset with these pairs of metadata."""
    return {
        "_rectype": "asset",
        "str_databaseid": "museum",
        "str_assetid": name,
        "metadata": list(metadata),
        **fields,
    }


def no_freshness() -> Freshness:
    raise AssertionError("no search waits here")


def no_previews() -> PreviewQueries:
    raise AssertionError("no search requests previews here")


@pytest.fixture(autouse=True)
def without_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of all tests within one minute of one user exceed the budget of heavy ones."""
    monkeypatch.setattr("backend.search.indexing.state.WEIGHT_PER_MINUTE", 10**9)


@pytest.fixture
def library(engines: RealEngines) -> Library:
    """Empty indexes."""
    engine = NotingEngine(search_engine(engines.url("opensearch")).client)
    name = new_uuid()[:8]
    pointer = Pointer(f"assets-{name}", (f"assets-{name}",), f"files-{name}", (f"files-{name}",))
    for index in (ASSET_INDEX, FILE_INDEX):
        (target,) = pointer.targets(index)
        engine.create_index(target, mapping=index.mapping, settings=index.settings)
    tables = MemoryTables()
    state = SearchState(tables, lambda: NOON)
    state.begin(pointer)
    places = CursorPlaces(tables, lambda: NOON)
    cursors = Cursors(PageTokens(lambda: b"key"), lambda: NOON, places)
    service = SearchService(engine, state, OnlyUser(), cursors, no_freshness, no_previews)
    return Library(engine, pointer, service)
