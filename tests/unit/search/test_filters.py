"""Filters in Lucene's syntax: what they become, and what is refused."""

import pytest

from backend.core.errors import InvalidInputError
from backend.search.filters import filter_query


def query(text: str) -> object:
    return filter_query({"query_string": {"query": text}}, field="filters.0")


def exact(field: str, value: str) -> dict[str, object]:
    return {"term": {f"{field}.keyword": {"value": value, "case_insensitive": True}}}


def test_a_field_with_a_word_is_exact() -> None:
    assert query("str_fileext:.glb") == exact("str_fileext", ".glb")


def test_a_phrase_keeps_its_blanks_and_wildcards() -> None:
    assert query('str_assetname:"old * pump"') == exact("str_assetname", "old * pump")


def test_words_combine_by_and_or_not() -> None:
    assert query("str_fileext:.glb AND NOT list_tags:(red OR blue)") == {
        "bool": {
            "filter": [
                exact("str_fileext", ".glb"),
                {
                    "bool": {
                        "must_not": [
                            {
                                "bool": {
                                    "should": [
                                        exact("list_tags", "red"),
                                        exact("list_tags", "blue"),
                                    ],
                                    "minimum_should_match": 1,
                                }
                            }
                        ]
                    }
                },
            ]
        }
    }


def test_numbers_and_dates_have_ranges() -> None:
    assert query("num_filesize:[10 TO 20}") == {
        "range": {"num_filesize": {"gte": "10", "lt": "20"}}
    }
    assert query("num_filesize:>=10") == {"range": {"num_filesize": {"gte": "10"}}}
    assert query("date_lastmodified:[2026-01-01 TO *]") == {
        "range": {"date_lastmodified": {"gte": "2026-01-01"}}
    }


def test_a_star_alone_asks_whether_the_field_is_there() -> None:
    assert query("str_previewfilekey:*") == {"exists": {"field": "str_previewfilekey.keyword"}}


def test_a_type_is_compared_as_it_is() -> None:
    assert query('_rectype:("asset")') == {"term": {"_rectype": {"value": "asset"}}}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("glb", "names no field"),
        ("rev:7", "not a field"),
        ("str_key:/a.*/", "not supported"),
        ("str_key:roam~", "not supported"),
        ("str_key:a^2", "not supported"),
        ("str_key:*glb", "begins with a wildcard"),
        ("str_key:[a TO b]", "has no ranges"),
        ("str_key:(a", "is not a filter"),
        ("(" * 30 + "str_key:a" + ")" * 30, "deeper than"),
        ("str_key:" + "a" * 5000, "longer than"),
    ],
)
def test_what_is_not_let_through_is_named(text: str, fact: str) -> None:
    with pytest.raises(InvalidInputError, match=fact) as caught:
        query(text)
    assert caught.value.fields[0].field == "filters.0"


def test_a_filter_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must be"):
        filter_query({"script": {"source": "1"}}, field="filters.0")
