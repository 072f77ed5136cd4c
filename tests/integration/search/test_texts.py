"""Texts that people enter into the search field, up to its maximum length."""

import pytest
from pydantic import ValidationError

from backend.core.errors import InvalidInputError
from backend.search.query.models import MAX_QUERY_CHARS, MAX_TERMS
from backend.search.query.words import (
    MAX_PART_CHARS,
    MAX_PART_WORDS,
    MAX_SIMILAR_WORDS,
    MAX_WORDS,
)
from backend.spec.search_indexes import MAX_CLAUSES
from tests.integration.search.conftest import Library, asset

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
