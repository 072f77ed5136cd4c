"""Pages by cursor on a real OpenSearch: all hits, each once, whatever is written meanwhile."""

from typing import Any

import pytest

from backend.core.errors import GoneError, InvalidInputError, TooLargeError
from backend.core.identity import Identity
from backend.core.search_engine import JsonObject
from backend.search.query.models import SearchBody
from backend.search.query.service import SearchService
from backend.spec.search_indexes import KEYWORD_CHARS
from tests.factories.access import OnlyUser
from tests.integration.search.conftest import CALLER, Library, asset, no_freshness

MANY = 12_000
PAGE = 2000
ORDERS: tuple[list[Any], ...] = (
    [{"field": "metadata.height", "order": "asc", "type": "number"}],
    [{"field": "metadata.height", "order": "desc", "type": "number"}],
    [{"field": "metadata.height", "order": "asc"}],
    [{"field": "metadata.height", "order": "desc", "type": "date"}],
    [{"field": "metadata.height", "order": "asc", "type": "boolean"}],
    [{"date_lastmodified": "desc"}],
    [{"date_asset_version_createdate": "asc"}],
    [{"num_filesize": "asc"}, "_score"],
    [{"str_key": "desc"}],
    [{"bool_archived": "asc"}],
)


def numbered_document(number: int, **fields: Any) -> dict[str, JsonObject]:
    """Every third document is a file, one in seven has a height, many have the same height."""
    name = f"a{number:06}"
    pairs: list[JsonObject] = []
    if number % 7 == 0:
        pairs = [{"key": "height", "string": str(number % 5), "number": number % 5}]
    document = {**asset(name, pairs), "str_assetname": f"pump {number}", **fields}
    if number % 3:
        return {f"museum:{name}": document}
    key = f"{name}/pump{number}.glb"
    return {f"museum:{name}:{key}": {**document, "_rectype": "file", "str_key": key}}


def fill_library(library: Library, count: int) -> set[str]:
    documents = {k: v for number in range(count) for k, v in numbered_document(number).items()}
    library.put(documents)
    return set(documents)


def test_every_hit_beyond_the_window_comes_once_while_documents_are_written(
    library: Library,
) -> None:
    expected = fill_library(library, MANY)
    seen: list[str] = []
    after, pages = "", 0
    while True:
        reply = library.search(size=PAGE, after=after, query="pump")
        hits = [hit["_id"] for hit in reply["hits"]["hits"]]
        seen += hits
        pages += 1
        if "after" not in reply:
            break
        assert len(hits) == PAGE
        assert ("aggregations" in reply) == (pages == 1)
        after = reply["after"]
        # Before the returned hits, among them and after them: added, changed, deleted.
        library.put(
            {
                **numbered_document(MANY + pages),
                **numbered_document(3 * pages, str_assetname="valve"),
                **numbered_document(MANY - 3 * pages - 1, deleted=True),
                **numbered_document(0, str_assetname="pump pump pump"),
            }
        )
    assert pages == MANY // PAGE
    assert len(seen) == len(set(seen)) == MANY
    assert set(seen) == expected


def test_pages_follow_any_order_past_documents_without_a_value(library: Library) -> None:
    expected = fill_library(library, 60)
    for sort in ORDERS:
        whole = [hit["_id"] for hit in library.search(size=100, sort=sort)["hits"]["hits"]]
        seen: list[str] = []
        after: str | None = ""
        while after is not None:
            reply = library.search(size=7, after=after, sort=sort)
            seen += [hit["_id"] for hit in reply["hits"]["hits"]]
            after = reply.get("after")
        assert seen == whole, sort
        assert set(seen) == expected


def test_a_cursor_is_of_one_caller_and_one_query(library: Library) -> None:
    fill_library(library, 5)
    after = library.search(size=2, after="", query="pump")["after"]
    body = SearchBody(size=2, after=after, query="pump")
    assert len(library.service.search(CALLER, body)["hits"]["hits"]) == 2
    for caller, changed in (
        (Identity("mallory"), {}),
        (CALLER, {"query": "valve"}),
        (CALLER, {"includeArchived": True}),
        (CALLER, {"metadataFilters": [{"key": "height", "op": "exists"}]}),
        (CALLER, {"after": after[:-2] + "AA"}),
    ):
        fields = {"size": 2, "after": after, "query": "pump", **changed}
        with pytest.raises(InvalidInputError, match=r"^after: "):
            library.search(caller, **fields)


def test_an_order_too_long_for_a_cursor_is_refused_with_the_first_page(library: Library) -> None:
    long = "語" * KEYWORD_CHARS  # a sort key has 500 characters, here of three bytes
    library.put({"a": asset("a", [{"key": "k", "string": long}]), "b": asset("b")})
    sort = [{"field": "metadata.k"}] * 10
    assert "after" in library.search(size=1, after="", sort=sort[:1])
    assert "after" not in library.search(size=2, after="", sort=sort)
    library.engine.close_all()
    with pytest.raises(TooLargeError, match="sort: the values of 'a' are too long for a cursor"):
        library.search(size=1, after="", sort=sort)
    assert library.engine.still_open() == set()


def test_a_cursor_dies_with_its_point_in_time(library: Library) -> None:
    fill_library(library, 5)
    after = library.search(size=2, after="")["after"]
    library.engine.close_all()
    with pytest.raises(GoneError, match=r"^after: has expired"):
        library.search(size=2, after=after)


def test_no_point_in_time_is_left_when_the_last_page_was_answered(library: Library) -> None:
    fill_library(library, 5)
    assert "after" not in library.search(size=5, after="")
    after = library.search(size=3, after="")["after"]
    assert "after" not in library.search(size=3, after=after)
    no_date = {"query_string": {"query": "date_lastmodified:[soon TO later]"}}
    with pytest.raises(InvalidInputError):
        library.search(size=3, after="", filters=[no_date])
    assert library.engine.still_open() == set()


def test_a_page_has_what_the_caller_may_see_now(library: Library) -> None:
    fill_library(library, 9)
    after = library.search(size=3, after="")["after"]
    service = library.service
    shut = SearchService(
        service.engine,
        service.state,
        OnlyUser("nobody"),
        service.cursors,
        no_freshness,
        service.previews,
    )
    body = SearchBody(size=3, after=after)
    assert shut.search(CALLER, body)["hits"]["hits"] == []
