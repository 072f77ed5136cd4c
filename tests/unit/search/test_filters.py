"""Filters in Lucene's syntax: what they become, and what is refused."""

import pytest

from backend.core.errors import InvalidInputError
from backend.search.filters import filter_query, leaves


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


def test_and_binds_closer_than_or_and_or_closer_than_a_blank() -> None:
    a, b, c, d = (exact("str_key", name) for name in "abcd")
    both = {"bool": {"filter": [b, c]}}
    either = {"bool": {"should": [a, both], "minimum_should_match": 1}}
    text = "str_key:a OR str_key:b AND str_key:c str_key:d"
    assert query(text) == {"bool": {"filter": [either, d]}}
    assert query("str_key:(a OR b AND c d)") == query(text)
    assert query("+str_key:a -str_key:b") == {"bool": {"filter": [a, {"bool": {"must_not": [b]}}]}}


def test_words_of_the_syntax_are_values_where_they_can_be_nothing_else() -> None:
    assert query("str_key:TO") == exact("str_key", "TO")
    assert query("str_key:ANDROID") == exact("str_key", "ANDROID")
    assert query("date_lastmodified:2026-01-01T10:20:30Z") == {
        "term": {"date_lastmodified": {"value": "2026-01-01T10:20:30Z"}}
    }


def test_numbers_and_dates_have_ranges() -> None:
    assert query("num_filesize:[10 TO 20}") == {
        "range": {"num_filesize": {"gte": "10", "lt": "20"}}
    }
    assert query("num_filesize:>=10") == {"range": {"num_filesize": {"gte": "10"}}}
    assert query("date_lastmodified:[2026-01-01 TO *]") == {
        "range": {"date_lastmodified": {"gte": "2026-01-01"}}
    }


def test_bounds_may_be_negative_and_quoted() -> None:
    assert query("num_filesize:[-2 TO -1]") == {
        "range": {"num_filesize": {"gte": "-2", "lte": "-1"}}
    }
    assert query('num_filesize:[-"2" TO "1e3"]') == {
        "range": {"num_filesize": {"gte": "-2", "lte": "1e3"}}
    }
    assert query('date_lastmodified:>="2026-01-01"') == {
        "range": {"date_lastmodified": {"gte": "2026-01-01"}}
    }


def test_what_is_escaped_is_meant_as_it_is() -> None:
    assert query(r"str_assetname:pump\ \(old\)\:\*") == exact("str_assetname", "pump (old):*")
    assert query(r'str_assetname:"a \"b\" \\ c"') == exact("str_assetname", r'a "b" \ c')
    assert query(r"str_assetname:pump\ \?*") == {
        "wildcard": {"str_assetname.keyword": {"value": r"pump\ \?*", "case_insensitive": True}}
    }


def test_a_truth_may_be_in_capitals() -> None:
    assert query("bool_archived:TRUE") == {"term": {"bool_archived": {"value": "true"}}}


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
        ("(" * 1900 + "str_key:a" + ")" * 1900 + "^2", "deeper than"),
        ("NOT " * 1000 + "str_key:a", "deeper than"),
        ("str_key:a~.", "not supported"),
        ("str_key:a^1.1.1", "not supported"),
        ('str_key:"a b"~.', "proximity in '\"a b\"~.' is not supported"),
        ("str_key:roam~2", "fuzziness in 'roam~2' is not supported"),
        ("str_key:a AND", "is not a filter: unexpected end"),
        ("str_key:a)", "is not a filter: unexpected '\\)' at position 9"),
        ("AND str_key:a", "is not a filter: unexpected 'AND' at position 0"),
        ("str_key:'a", 'is not a filter: unexpected "\'" at position 8'),
        ("str_key:[a TO", "is not a filter: unexpected end"),
        ("x" * 200 + ":a", "is not a field"),
        ("num_filesize:large", "num_filesize: 'large' is not a number from"),
        ("num_filesize:[NaN TO *]", "is not a number from"),
        ("num_filesize:>1e400", "is not a number from"),
        ("num_filesize:9223372036854775808", "is not a number from"),
        ('num_filesize:""', "is not a number from"),
        ("num_filesize:1_0", "is not a number from"),
        ("num_filesize:1*", "num_filesize takes no wildcards"),
        ("date_lastmodified:20*", "date_lastmodified takes no wildcards"),
        ("bool_archived:soon", "bool_archived is true or false, not 'soon'"),
    ],
)
def test_what_is_not_let_through_is_named(text: str, fact: str) -> None:
    with pytest.raises(InvalidInputError, match=fact) as caught:
        query(text)
    assert caught.value.fields[0].field == "filters.0"


def test_a_filter_of_another_shape_is_refused() -> None:
    entries: list[dict[str, object]] = [
        {"script": {"source": "1"}},
        {"query_string": "str_key:a"},
        {"query_string": ["str_key:a"]},
        {"query_string": {"query": 1}},
        {"query_string": None},
    ]
    for entry in entries:
        with pytest.raises(InvalidInputError, match="must be"):
            filter_query(entry, field="filters.0")


def test_the_conditions_of_a_filter_are_counted_at_any_depth() -> None:
    text = "str_key:a AND NOT (list_tags:(b OR c*) OR num_filesize:[1 TO 2]) -bool_archived:*"
    found = list(leaves(filter_query({"query_string": {"query": text}}, field="filters.0")))
    assert [next(iter(each)) for each in found] == ["term", "term", "wildcard", "range", "exists"]
