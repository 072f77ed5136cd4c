"""Texts are sorted without case and accents, and numbers in them by their size."""

import unicodedata
from typing import Any

import pytest

from backend.core.transactions import Update
from backend.search.query.cursors import CursorExpiredError
from backend.spec.search_indexes import MAPPING_VERSION, SORT_FROM
from backend.spec.tables.operations import SEARCH_STATE
from tests.integration.search.conftest import Library, asset
from tests.integration.search.test_meaning import text

IN_ORDER = [
    *("1", "2", "10", "0011", "a", "Ä2", unicodedata.normalize("NFD", "ä10"), "B", "c", "part 2"),
    *("Part 10", "part 10 b", "PART 99999999999999999999", "Я", "件"),
]
LONG = "1a" * 4000


def name_all(library: Library) -> None:
    """Store an asset of each name, in another order than the names."""
    chosen = {f"a{n:02}": name for n, name in enumerate(reversed(IN_ORDER))}
    library.put(
        {
            key: asset(
                key,
                [text("label", name)],
                str_assetname=name,
                str_description=name,
                list_tags=[name],
            )
            for key, name in chosen.items()
        }
    )


def names(library: Library, **body: Any) -> list[str]:
    hits = library.search(size=100, **body)["hits"]["hits"]
    return [hit["_source"]["str_assetname"] for hit in hits]


def serve_version(library: Library, version: int) -> None:
    """Let the deployment state say that its indexes are of this mapping version."""
    versions = dict.fromkeys(library.pointer.names, version)
    key = {"stateKey": "search"}
    library.service.state.tables.write(
        Update(table=SEARCH_STATE, key=key, set={"mappingVersions": versions})
    )


@pytest.mark.parametrize("field", ["str_assetname", "str_description", "list_tags"])
def test_texts_are_sorted_by_letters_and_numbers(library: Library, field: str) -> None:
    name_all(library)
    for name in (field, f"{field}.keyword"):
        assert names(library, sort=[{"field": name}]) == IN_ORDER
        assert names(library, sort=[{"field": name, "order": "desc"}]) == IN_ORDER[::-1]
    assert names(library, sort=[{field: "asc"}], foldFiles=True) == IN_ORDER
    assert names(library, sort=[{"field": "metadata.label"}]) == IN_ORDER


def test_indexes_of_earlier_versions_are_sorted_as_before_until_a_reindex(library: Library) -> None:
    name_all(library)
    serve_version(library, SORT_FROM - 1)
    for field in ("str_assetname", "metadata.label"):
        assert names(library, sort=[{"field": field}]) == sorted(IN_ORDER)


def test_cursors_that_were_opened_before_a_reindex_expire(library: Library) -> None:
    name_all(library)
    serve_version(library, SORT_FROM - 1)
    sort = [{"field": "str_assetname"}]
    after = library.search(size=5, sort=sort, after="")["after"]
    after = library.search(size=5, sort=sort, after=after)["after"]
    serve_version(library, MAPPING_VERSION)
    with pytest.raises(CursorExpiredError):
        library.search(size=5, sort=sort, after=after)
    pages = library.search(size=5, sort=sort, after="")
    assert [hit["_source"]["str_assetname"] for hit in pages["hits"]["hits"]] == IN_ORDER[:5]


def test_no_text_is_too_long_to_be_sorted(library: Library) -> None:
    texts = {"digits": LONG, "signs": "⑽" * 7000, "letters": "x" * 9000}
    library.put(
        {
            name: asset(name, [text("label", value)], str_assetname=value)
            for name, value in texts.items()
        }
    )
    assert library.ids() == set(texts)
