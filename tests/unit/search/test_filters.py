"""Filters in Lucene's syntax: what they become, and what is refused."""

import pytest

from backend.core.errors import InvalidInputError
from backend.core.search_engine import JsonObject
from backend.search.query.conditions import Budget
from backend.search.query.filters import filter_query


def entry_query(entry: JsonObject) -> JsonObject:
    return filter_query(entry, field="filters.0", budget=Budget())


def query(text: str) -> JsonObject:
    return entry_query({"query_string": {"query": text}})


def exact(field: str, value: str) -> JsonObject:
    return {"term": {f"{field}.keyword": {"value": value, "case_insensitive": True}}}


def words(field: str, value: str) -> JsonObject:
    return {"match": {field: {"query": value, "operator": "and"}}}


def like(field: str, value: str) -> JsonObject:
    return {"wildcard": {field: {"value": value, "case_insensitive": True}}}


def word_like(field: str, value: str) -> JsonObject:
    return {"wildcard": {field: {"value": value}}}


def any_of(*queries: JsonObject) -> JsonObject:
    return {"bool": {"should": [*queries], "minimum_should_match": 1}}


def test_a_field_of_ids_is_compared_as_a_whole() -> None:
    assert query("str_fileext:.glb") == exact("str_fileext", ".glb")
    assert query('str_databaseid:("my-db")') == exact("str_databaseid", "my-db")
    assert query("str_fileext:glb") == any_of(
        exact("str_fileext", "glb"), exact("str_fileext", ".glb")
    )


def test_a_field_of_texts_is_compared_by_words() -> None:
    assert query("str_assetname:Gear") == words("str_assetname", "Gear")
    assert query('str_description:"cast iron"') == words("str_description", "cast iron")
    assert query("str_assetname.keyword:Gear") == exact("str_assetname", "Gear")
    assert query('str_description:"--"') == exact("str_description", "--")


def test_a_phrase_keeps_its_blanks_and_wildcards() -> None:
    assert query('str_assetname.keyword:"old * pump"') == exact("str_assetname", "old * pump")


def test_a_word_without_a_field_is_searched_in_all() -> None:
    (fields, metadata, attributes) = query("gear")["bool"]["should"]
    assert fields["multi_match"]["query"] == "gear"
    assert [query["nested"]["path"] for query in (metadata, attributes)] == [
        "metadata",
        "attributes",
    ]
    assert query("ge*")["bool"]["should"][0] == word_like("str_assetname", "ge*")


def test_wildcards_are_searched_in_words_and_in_whole_values() -> None:
    assert query("str_assetname:*ear") == any_of(
        word_like("str_assetname", "*ear"), like("str_assetname.keyword", "*ear")
    )
    assert query("str_databaseid:*glb") == like("str_databaseid.keyword", "*glb")


def test_a_field_may_be_requested() -> None:
    assert query("_exists_:str_previewfilekey") == {
        "exists": {"field": "str_previewfilekey.keyword"}
    }
    assert query("_exists_:MD_maker")["nested"]["path"] == "metadata"


def test_keys_of_metadata_are_fields() -> None:
    pairs = query("MD_bool_ready:Training")["nested"]
    names, value = pairs["query"]["bool"]["filter"]
    keys = [term["term"]["metadata.key"]["value"] for term in names["bool"]["should"]]
    assert keys == ["MD_bool_ready", "bool_ready", "ready"]
    assert value["term"]["metadata.string"]["value"] == "Training"
    assert query("AB_.maker:x")["nested"]["path"] == "attributes"
    inner = query("MD_num_parts:[1 TO 5}")["nested"]["query"]["bool"]["filter"][1]
    assert inner == {"range": {"metadata.number": {"gte": 1.0, "lt": 5.0}}}
    inner = query("MD_date_made:>=2026-01-01")["nested"]["query"]["bool"]["filter"][1]
    assert inner == {"range": {"metadata.date": {"gte": "2026-01-01"}}}


def test_filters_in_the_form_of_opensearch_are_about_one_field() -> None:
    assert entry_query({"term": {"str_databaseid": "my-db"}}) == exact("str_databaseid", "my-db")
    assert entry_query({"term": {"str_assetname": "Gear"}}) == exact("str_assetname", "Gear")
    assert entry_query({"term": {"str_fileext": "png"}}) == query("str_fileext:png")
    assert entry_query({"term": {"str_fileext.keyword": "png"}}) == exact("str_fileext", "png")
    assert entry_query({"terms": {"list_tags.keyword": ["red", "blue"]}}) == any_of(
        exact("list_tags", "red"), exact("list_tags", "blue")
    )
    assert entry_query({"range": {"num_filesize": {"gte": 1}}}) == {
        "range": {"num_filesize": {"gte": "1"}}
    }
    assert entry_query({"exists": {"field": "bool_archived"}}) == {
        "exists": {"field": "bool_archived"}
    }


def test_a_star_as_field_and_value_finds_everything() -> None:
    assert query("*:*") == query("*") == {"match_all": {}}
    with pytest.raises(InvalidInputError, match=r"'\*' is not a field .* \(column 1\)"):
        query("*:gear")


def test_words_combine_by_and_or_not() -> None:
    colours = [words("list_tags", "red"), words("list_tags", "blue")]
    either = {"bool": {"should": colours, "minimum_should_match": 1}}
    name = words("str_assetname", "gear")
    text = "str_assetname:gear AND NOT (list_tags:red OR list_tags:blue)"
    assert query(text) == {"bool": {"filter": [name], "must_not": [either]}}
    assert query("-list_tags:red -list_tags:blue") == {"bool": {"must_not": colours}}


def test_and_binds_closer_than_or_and_or_closer_than_a_blank() -> None:
    a, b, c, d = (words("str_key", name) for name in "abcd")
    both = {"bool": {"filter": [b, c]}}
    either = {"bool": {"should": [a, both], "minimum_should_match": 1}}
    text = "str_key:a OR str_key:b AND str_key:c str_key:d"
    assert query(text) == {"bool": {"filter": [either, d]}}
    assert query("str_key:(a OR b AND c d)") == query(text)
    assert query("+str_key:a -str_key:b") == {"bool": {"filter": [a], "must_not": [b]}}


def test_words_of_the_syntax_are_values_where_they_can_be_nothing_else() -> None:
    assert query("str_key:TO") == words("str_key", "TO")
    assert query("str_key:ANDROID") == words("str_key", "ANDROID")
    both = {"bool": {"filter": [words("str_key", "a"), words("str_key", "b")]}}
    assert query("str_key:a && str_key:b") == both
    assert query("!str_key:a") == {"bool": {"must_not": [words("str_key", "a")]}}
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
    assert query(r"str_databaseid:pump\ \(old\)\:\*") == exact("str_databaseid", "pump (old):*")
    assert query(r'str_databaseid:"a \"b\" \\ c"') == exact("str_databaseid", r'a "b" \ c')
    assert query(r"str_databaseid:pump\ \?*") == like("str_databaseid.keyword", r"pump\ \?*")


def test_a_truth_may_be_in_capitals() -> None:
    assert query("bool_archived:TRUE") == {"term": {"bool_archived": {"value": "true"}}}


def test_a_star_alone_matches_documents_with_the_field() -> None:
    assert query("str_previewfilekey:*") == {"exists": {"field": "str_previewfilekey.keyword"}}


def test_a_type_is_compared_as_it_is() -> None:
    assert query('_rectype:("asset")') == {"term": {"_rectype": {"value": "asset"}}}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("rev:7", "not a field"),
        ("str_key:/a.*/", "not supported"),
        ("str_key:roam~", "not supported"),
        ("str_key:a^2", "not supported"),
        ("str_key:[a TO b]", "does not support ranges"),
        ("str_key:(a", "is not a valid filter"),
        ("(" * 30 + "str_key:a" + ")" * 30, "deeper than"),
        ("str_key:" + "a" * 5000, "must have at most 4,?[0-9]+ characters"),
        ("(" * 1900 + "str_key:a" + ")" * 1900 + "^2", "deeper than"),
        ("NOT " * 1000 + "str_key:a", "deeper than"),
        ("str_key:a~.", "not supported"),
        ("str_key:a^1.1.1", "not supported"),
        ('str_key:"a b"~.', "proximity in '\"a b\"~.' is not supported"),
        ("str_key:roam~2", "fuzziness in 'roam~2' is not supported"),
        ("str_key:a AND", "is not a valid filter: unexpected end"),
        ("str_key:a)", "is not a valid filter: unexpected '\\)' in column 10"),
        ("AND str_key:a", "is not a valid filter: unexpected 'AND' in column 1"),
        ("str_key:'a", "is not a valid filter: unexpected ''' in column 9"),
        ("str_key:[a TO", "is not a valid filter: unexpected end"),
        ("x" * 200 + ":a", "is not a field"),
        ("num_filesize:large", "num_filesize: 'large' is not a number from"),
        ("num_filesize:[NaN TO *]", "is not a number from"),
        ("num_filesize:>1e400", "is not a number from"),
        ("num_filesize:9223372036854775808", "is not a number from"),
        ('num_filesize:""', "is not a number from"),
        ("num_filesize:1_0", "is not a number from"),
        ("num_filesize:1*", "num_filesize does not support wildcards"),
        ("date_lastmodified:20*", "date_lastmodified does not support wildcards"),
        ("bool_archived:soon", "bool_archived must be true or false, not 'soon'"),
        ("bool_archived:true AND rev:7", r"is not a field of the search indexes \(column 24\)"),
        ("date_lastmodified:yesterday", "'yesterday' is not a date"),
        ("date_lastmodified:2026-13-01", "'2026-13-01' is not a date"),
        ("MD_made:[a TO b]", "'a' is not a date"),
        ("[1 TO 2]", "a range requires a field name"),
        ("_exists_:rev", "not a field"),
        ("_exists_:[1 TO 2]", "requires a field name"),
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
            entry_query(entry)


def test_the_conditions_of_a_filter_are_counted_at_any_depth() -> None:
    text = "str_key:a AND NOT (list_tags:(b OR c*) OR num_filesize:[1 TO 2]) -bool_archived:* d"
    budget = Budget()
    filter_query({"query_string": {"query": text}}, field="filters.0", budget=budget)
    assert (budget.conditions, budget.wildcards, budget.words) == (6, 1, 1)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (" ".join(["str_key:*a"] * 11), "filters: has 11 wildcards or more"),
        (" ".join(["MD_*:a"] * 11), "filters: has 11 wildcards or more"),
        (" ".join(["a"] * 51), "filters: has 51 words without a field name or more"),
    ],
    ids=["wildcards", "keys", "words"],
)
def test_what_filters_cost_has_limits(text: str, fact: str) -> None:
    with pytest.raises(InvalidInputError, match=fact):
        query(text)


@pytest.mark.parametrize(
    "date",
    [
        "2026",
        "2026-03",
        "2026-03-01T12",
        "2026-03-01T12Z",
        "2026-03-01T12:00:00.5+01:00",
        "now-7d/d",
    ],
)
def test_dates_are_taken_as_people_shorten_them(date: str) -> None:
    assert query(f'date_lastmodified:"{date}"') == {"term": {"date_lastmodified": {"value": date}}}


def test_whole_numbers_that_are_not_distinguished_are_compared_as_texts_or_refused() -> None:
    (metadata, _) = query("MD_serial:9007199254740993 OR MD_serial:12")["bool"]["should"]
    assert "metadata.number" not in str(metadata)
    with pytest.raises(InvalidInputError, match="compared up to 9007199254740991"):
        query("MD_serial:[1 TO 9007199254740992]")
    query("MD_serial:[1 TO 1e16]")
