"""Orders, pages, texts and large documents of searches."""

import unicodedata
from functools import partial
from typing import Any

import pytest
from pydantic import ValidationError

from backend.core.errors import GoneError, InvalidInputError, TooLargeError
from backend.core.identity import Identity
from backend.core.search_engine import JsonObject
from backend.core.transactions import Update
from backend.search.query.cursors import CursorExpiredError
from backend.search.query.hits import DOCUMENT_BYTES, PAGE_BYTES, with_sources
from backend.search.query.models import MAX_QUERY_CHARS, MAX_TERMS, SearchBody
from backend.search.query.plan import to_opensearch
from backend.search.query.queries import plan_search
from backend.search.query.service import SearchService
from backend.search.query.words import (
    MAX_PART_CHARS,
    MAX_PART_WORDS,
    MAX_SIMILAR_WORDS,
    MAX_WORDS,
)
from backend.spec.search_indexes import KEYWORD_CHARS, MAPPING_VERSION, MAX_CLAUSES, SORT_FROM
from backend.spec.tables.operations import SEARCH_STATE
from tests.factories.access import OnlyUser
from tests.integration.search.conftest import CALLER, Library, asset, no_freshness
from tests.integration.search.test_meaning import text

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


IDEOGRAPHS = "".join(map(chr, range(0x4E00, 0x4E00 + MAX_QUERY_CHARS)))


@pytest.fixture
def pumps(library: Library) -> Library:
    library.put({"a": asset("a", str_assetname="Pump house"), "b": asset("b")})
    return library


def test_hits_are_highlighted_unless_the_request_disables_it(pumps: Library) -> None:
    [hit] = pumps.search(query="pump")["hits"]["hits"]
    assert hit["highlight"] == {"str_assetname": ["<em>Pump</em> house"]}
    [hit] = pumps.search(query="pump", includeHighlights=False)["hits"]["hits"]
    assert "highlight" not in hit


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * MAX_QUERY_CHARS, set[str]()),
        (IDEOGRAPHS, set[str]()),
        ("pump " * MAX_WORDS, {"a"}),
        (" ".join(chr(ord("a") + n) * MAX_PART_CHARS for n in range(MAX_PART_WORDS)), set[str]()),
        (" | ".join(["pump", *(f"word{n}" for n in range(MAX_WORDS - 1))]), {"a"}),
        ("p* " * MAX_WORDS, {"a"}),
        ("pumb~1 " * MAX_SIMILAR_WORDS, {"a"}),
        ('"pump house" ' * (MAX_WORDS // 2), {"a"}),
    ],
    ids=["long", "ideographs", "words", "parts", "alternatives", "beginnings", "nearly", "phrases"],
)
def test_the_most_that_is_taken_is_searched(pumps: Library, text: str, expected: set[str]) -> None:
    assert pumps.ids(query=text) == expected


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("ab, " * (MAX_WORDS + 1), f"query: has {MAX_WORDS + 1} words; at most {MAX_WORDS}"),
        ("(" * MAX_QUERY_CHARS, "must not nest parentheses"),
        ("pump " * MAX_QUERY_CHARS, f"at most {MAX_QUERY_CHARS} characters"),
    ],
    ids=["words", "brackets", "characters"],
)
def test_a_larger_request_is_refused_with_the_reason(pumps: Library, text: str, fact: str) -> None:
    with pytest.raises((InvalidInputError, ValidationError), match=fact):
        pumps.search(query=text)


def test_more_conditions_than_the_engine_takes_are_refused_in_words(pumps: Library) -> None:
    words = [{"term": {"str_description": f"word{n}"}} for n in range(MAX_CLAUSES + 1)]
    with pytest.raises(InvalidInputError, match="too many words or conditions"):
        pumps.engine.search([pumps.pointer.assets_read], {"query": {"bool": {"should": words}}})


def test_more_filters_than_the_engine_survives_never_reach_it(pumps: Library) -> None:
    words = "str_description:(" + " a" * 2000 + ")"
    with pytest.raises(InvalidInputError, match="filters: has 1001 conditions or more; at most"):
        pumps.search(filters=[{"query_string": {"query": words}}] * MAX_TERMS)


FACTS: JsonObject = {
    "str_assetname": "Pump",
    "str_description": "",
    "list_tags": ["a", "b"],
    "bool_archived": False,
    "num_filesize": 2**53,
    "date_lastmodified": "2026-03-01T12:00:00+00:00",
}


def document(name: str, size: int, **fields: Any) -> JsonObject:
    """The document of an asset of about `size` bytes."""
    text = "x" * 7000
    records = {f"k{number}": text for number in range(size // (2 * len(text)) + 1)}
    pairs = [{"key": key, "string": value} for key, value in records.items()]
    return asset(name, pairs, MD_=records, **FACTS, **fields)


def shown(library: Library, **body: Any) -> dict[str, JsonObject]:
    return {hit["_id"]: hit for hit in library.search(**body)["hits"]["hits"]}


@pytest.fixture
def mixed(library: Library) -> Library:
    """A small document, one that does not fit an equal share of a page, and a large one."""
    sizes = {"small": 1000, "middle": 90_000, "large": 2 * DOCUMENT_BYTES}
    library.put({name: document(name, size) for name, size in sizes.items()})
    return library


@pytest.mark.parametrize("more", [{}, {"after": ""}], ids=["window", "cursor"])
def test_only_a_large_document_comes_without_its_metadata(mixed: Library, more: JsonObject) -> None:
    hits = shown(mixed, size=1000, **more)
    for name in ("small", "middle"):
        whole = document(name, 90_000 if name == "middle" else 1000)
        assert hits[name]["_source"] == whole
        assert "metadataCut" not in hits[name]
    cut = asset("large", **FACTS)
    del cut["metadata"]
    assert hits["large"]["_source"] == cut
    assert hits["large"]["metadataCut"] is True


def test_words_are_marked_on_short_and_long_pages(mixed: Library) -> None:
    for size in (3, 1000):
        hits = shown(mixed, size=size, query="pump")
        marked = {name for name, hit in hits.items() if "highlight" in hit}
        assert marked == ({"small", "middle", "large"} if size == 3 else {"small", "middle"})
        assert hits["small"]["highlight"] == {"str_assetname": ["<em>Pump</em>"]}


def test_a_document_of_unknown_size_counts_as_a_large_one(library: Library) -> None:
    library.put({"old": document("old", 1000)}, with_sizes=False)
    assert shown(library)["old"]["metadataCut"] is True


def test_a_page_that_no_reply_holds_is_refused_and_a_smaller_one_continues(
    library: Library,
) -> None:
    count = PAGE_BYTES // 80_000 + 10
    library.put({f"a{n:03}": document(f"a{n:03}", 80_000) for n in range(count)})
    with pytest.raises(TooLargeError, match=r"size: results in a reply of"):
        library.search(size=count, after="")
    assert library.engine.still_open() == set()
    after = library.search(size=10, after="")["after"]
    with pytest.raises(TooLargeError):
        library.search(size=count, after=after)
    assert len(library.search(size=10, after=after)["hits"]["hits"]) == 10


def test_the_second_request_is_under_the_rules_of_the_caller(mixed: Library) -> None:
    plan = plan_search(SearchBody(size=1000), {"term": {"list_tags.keyword": "a"}})
    request = to_opensearch(plan)
    search = partial(mixed.engine.search, (mixed.pointer.assets_read,))
    heads = search(request)["hits"]["hits"]
    mixed.put({"middle": {**document("middle", 90_000), "list_tags": ["secret"]}})
    hits = with_sources(heads, request, search)
    assert {hit["_id"] for hit in hits} == {"small", "large"}
