"""Conditions in any case and Unicode form: which expression, and over which letters."""

import sys
import unicodedata

from backend.search.query import letters
from backend.search.query.letters import equals, matches, normalize


def test_the_letters_that_normalization_changes_are_all_known() -> None:
    changed = {
        letter
        for letter in map(chr, range(0x80, sys.maxunicode + 1))
        if unicodedata.category(letter) not in {"Cn", "Co", "Cs"} and normalize(letter) != letter
    }
    sources = letters.sources_by_form()
    assert {letter for letters in sources.values() for letter in letters} == changed


def test_a_text_of_plain_letters_needs_no_expression() -> None:
    assert equals("f", "a.b") == {"term": {"f": {"value": "a.b", "case_insensitive": True}}}
    assert matches("f", "a*") == {"wildcard": {"f": {"value": "a*", "case_insensitive": True}}}
    assert equals("f", "") == {"term": {"f": {"value": ""}}}


def test_an_expression_has_all_letters_of_one_form_and_no_other_meaning() -> None:
    expected = {"value": "o(\u00d6|\u00f6|O\u0308|o\u0308)\\.\\*.*.", "flags": "NONE"}
    condition = matches("f", "O\u00d6.\\**?")
    assert condition == {"regexp": {"f": {**expected, "case_insensitive": True}}}
    assert "(\u00df|\u1e9e|[s\u017f][s\u017f])" in equals("f", "SS")["regexp"]["f"]["value"]


def test_a_text_beyond_the_limit_of_expressions_is_compared_by_its_usual_cases() -> None:
    queries = equals("f", "\u0436" * 900)["bool"]["should"]
    assert [query["term"]["f"]["value"] for query in queries] == ["\u0436" * 900, "\u0416" * 900]
