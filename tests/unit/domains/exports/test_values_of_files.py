"""How an export reads the metadata of many files."""

from typing import Any

import pytest

from backend.core.paging import Page, PageRequest
from backend.core.tables import Query
from backend.core.transactions import Item
from backend.domains.exports import service
from backend.domains.metadata.models import Entity
from tests.factories.exports import exports
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.exports.test_exports import describe


class CountedTables(MemoryTables):
    """Counts queries; those of all files of an asset have pages of the size that a test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.queries = 0
        self.page = 1000

    def query(self, query: Query, page: PageRequest) -> Page[Item]:
        self.queries += 1
        whole = query.index is not None and query.index.name == "DatabaseIdAssetIdIndex"
        return super().query(query, PageRequest(self.page if whole else page.limit, page.after))


def test_the_metadata_of_many_files_is_read_at_once() -> None:
    tables = CountedTables()
    museum = exports(tables, MemoryObjects())
    for asset, files in (("hall", 30), ("statue", 7)):
        describe(museum, Entity("museum", asset), "of", "the asset")
        describe(museum, Entity("museum", asset, "/01.glb", "attribute"), "seen", "yes")
        describe(museum, Entity("museum", asset, "/01.glb"), "first", "1")
        for number in range(files):
            museum.put(asset, f"/{number:02}.glb")
            entity = Entity("museum", asset, f"/{number:02}.glb")
            describe(museum, entity, "scale", f"1:{number}")
    alone: dict[str, Any] = {"fetchAssetRelationships": False}
    for asset, files, page, wanted in (
        ("hall", 30, 1000, 2),
        ("hall", 30, 10, 5),  # 32 values are four pages
        ("hall", 30, 1, 8 + 2 + 30),  # 32 pages are too many, those of attributes are not
        ("statue", 7, 1000, 14),
    ):
        tables.page, tables.queries = page, 0
        museum.export(asset, **alone, includeFileMetadata=False)
        without, tables.queries = tables.queries, 0
        (reply,) = museum.export(asset, **alone).body["assets"]
        assert tables.queries - without == wanted, (asset, page)
        found = [
            {key: one["value"] for key, one in file["metadata"].items()} for file in reply["files"]
        ]
        first = {"first": "1", "scale": "1:1"}
        assert found == [first if n == 1 else {"scale": f"1:{n}"} for n in range(files)]
        seen = [file["relativePath"] for file in reply["files"] if file["attributes"]]
        assert seen == ["/01.glb"]


def test_values_of_one_file_that_may_fill_a_query_are_queried_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = CountedTables()
    museum = exports(tables, MemoryObjects())
    for number in range(10):
        museum.put("hall", f"/{number}.glb")
    describe(museum, Entity("museum", "hall", "/3.glb"), "text", "x" * 20)
    counts: list[int] = []
    for most in (20, 19):
        monkeypatch.setattr(service, "_MOST_CHARS", most)
        tables.queries = 0
        (hall,) = museum.export(fetchAssetRelationships=False).body["assets"]
        assert hall["files"][3]["metadata"]["text"]["value"] == "x" * 20
        counts.append(tables.queries)
    assert counts[1] == counts[0] + 1
