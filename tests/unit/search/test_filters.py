"""Filters, in Lucene's syntax and by metadata: what they become, and what is refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from backend.core.errors import InvalidInputError
from backend.core.search_engine import JsonObject
from backend.search.query.conditions import Budget
from backend.search.query.filters import filter_query
from backend.search.query.metadata_queries import facet_reply
from backend.search.query.models import MetadataFacet, SearchBody
from backend.search.query.plan import to_opensearch
from backend.search.query.queries import plan_search


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


def bounds(field: str, **limits: str) -> JsonObject:
    return {"range": {field: limits}}


def all_of(**clauses: list[JsonObject]) -> JsonObject:
    return {"bool": clauses}


A, B, C, D = (words("str_key", name) for name in "abcd")
RED, BLUE = words("list_tags", "red"), words("list_tags", "blue")
PREVIEW = {"exists": {"field": "str_previewfilekey.keyword"}}
EITHER = all_of(filter=[any_of(A, all_of(filter=[B, C])), D])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A field of ids is compared as a whole.
        ("str_fileext:.glb", exact("str_fileext", ".glb")),
        ('str_databaseid:("my-db")', exact("str_databaseid", "my-db")),
        ("str_fileext:glb", any_of(exact("str_fileext", "glb"), exact("str_fileext", ".glb"))),
        ('_rectype:("asset")', {"term": {"_rectype": {"value": "asset"}}}),
        # A field of texts is compared by words.
        ("str_assetname:Gear", words("str_assetname", "Gear")),
        ('str_description:"cast iron"', words("str_description", "cast iron")),
        ("str_assetname.keyword:Gear", exact("str_assetname", "Gear")),
        ('str_description:"--"', exact("str_description", "--")),
        # A phrase keeps its blanks and wildcards.
        ('str_assetname.keyword:"old * pump"', exact("str_assetname", "old * pump")),
        # Wildcards are searched in words and in whole values; a star alone is any value.
        (
            "str_assetname:*ear",
            any_of(word_like("str_assetname", "*ear"), like("str_assetname.keyword", "*ear")),
        ),
        ("str_databaseid:*glb", like("str_databaseid.keyword", "*glb")),
        ("_exists_:str_previewfilekey", PREVIEW),
        ("str_previewfilekey:*", PREVIEW),
        ("*:*", {"match_all": {}}),
        ("*", {"match_all": {}}),
        # AND binds closer than OR, and OR closer than a blank.
        (
            "str_assetname:gear AND NOT (list_tags:red OR list_tags:blue)",
            all_of(filter=[words("str_assetname", "gear")], must_not=[any_of(RED, BLUE)]),
        ),
        ("-list_tags:red -list_tags:blue", all_of(must_not=[RED, BLUE])),
        ("str_key:a OR str_key:b AND str_key:c str_key:d", EITHER),
        ("str_key:(a OR b AND c d)", EITHER),
        ("+str_key:a -str_key:b", all_of(filter=[A], must_not=[B])),
        ("str_key:a && str_key:b", all_of(filter=[A, B])),
        ("!str_key:a", all_of(must_not=[A])),
        # Words of the syntax are values where they can be nothing else.
        ("str_key:TO", words("str_key", "TO")),
        ("str_key:ANDROID", words("str_key", "ANDROID")),
        (
            "date_lastmodified:2026-01-01T10:20:30Z",
            {"term": {"date_lastmodified": {"value": "2026-01-01T10:20:30Z"}}},
        ),
        ("bool_archived:TRUE", {"term": {"bool_archived": {"value": "true"}}}),
        # Numbers and dates have ranges, whose bounds may be negative and quoted.
        ("num_filesize:[10 TO 20}", bounds("num_filesize", gte="10", lt="20")),
        ("num_filesize:>=10", bounds("num_filesize", gte="10")),
        ("date_lastmodified:[2026-01-01 TO *]", bounds("date_lastmodified", gte="2026-01-01")),
        ("num_filesize:[-2 TO -1]", bounds("num_filesize", gte="-2", lte="-1")),
        ('num_filesize:[-"2" TO "1e3"]', bounds("num_filesize", gte="-2", lte="1e3")),
        ('date_lastmodified:>="2026-01-01"', bounds("date_lastmodified", gte="2026-01-01")),
        # What is escaped is meant as it is.
        (r"str_databaseid:pump\ \(old\)\:\*", exact("str_databaseid", "pump (old):*")),
        (r'str_databaseid:"a \"b\" \\ c"', exact("str_databaseid", r'a "b" \ c')),
        (r"str_databaseid:pump\ \?*", like("str_databaseid.keyword", r"pump\ \?*")),
    ],
)
def test_a_text_becomes_conditions_on_fields(text: str, expected: JsonObject) -> None:
    assert query(text) == expected


def test_a_word_without_a_field_is_searched_in_all() -> None:
    (fields, metadata, attributes) = query("gear")["bool"]["should"]
    assert fields["multi_match"]["query"] == "gear"
    paths = [query["nested"]["path"] for query in (metadata, attributes)]
    assert paths == ["metadata", "attributes"]
    assert query("ge*")["bool"]["should"][0] == word_like("str_assetname", "ge*")


def test_keys_of_metadata_are_fields() -> None:
    pairs = query("MD_bool_ready:Training")["nested"]
    names, value = pairs["query"]["bool"]["filter"]
    keys = [term["term"]["metadata.key"]["value"] for term in names["bool"]["should"]]
    assert keys == ["MD_bool_ready", "bool_ready", "ready"]
    assert value["term"]["metadata.string"]["value"] == "Training"
    assert query("_exists_:MD_maker")["nested"]["path"] == "metadata"
    assert query("AB_.maker:x")["nested"]["path"] == "attributes"
    for text, expected in (
        ("MD_num_parts:[1 TO 5}", {"metadata.number": {"gte": 1.0, "lt": 5.0}}),
        ("MD_date_made:>=2026-01-01", {"metadata.date": {"gte": "2026-01-01"}}),
    ):
        inner = query(text)["nested"]["query"]["bool"]["filter"][1]
        assert inner == {"range": expected}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"term": {"str_databaseid": "my-db"}}, exact("str_databaseid", "my-db")),
        ({"term": {"str_assetname": "Gear"}}, exact("str_assetname", "Gear")),
        ({"term": {"str_fileext": "png"}}, query("str_fileext:png")),
        ({"term": {"str_fileext.keyword": "png"}}, exact("str_fileext", "png")),
        (
            {"terms": {"list_tags.keyword": ["red", "blue"]}},
            any_of(exact("list_tags", "red"), exact("list_tags", "blue")),
        ),
        ({"range": {"num_filesize": {"gte": 1}}}, bounds("num_filesize", gte="1")),
        ({"exists": {"field": "bool_archived"}}, {"exists": {"field": "bool_archived"}}),
    ],
)
def test_filters_in_the_form_of_opensearch_are_about_one_field(
    entry: JsonObject, expected: JsonObject
) -> None:
    assert entry_query(entry) == expected


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("rev:7", "not a field"),
        ("*:gear", r"'\*' is not a field .* \(column 1\)"),
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
    for bound in ("from", "to"):
        for number in (2**53 + 1, -(2**53), "9007199254740992", 10**400):
            with pytest.raises(ValidationError, match="compared up to 9007199254740991, and"):
                query_of(metadataFacets=[{"key": "serial", "ranges": [{bound: number}]}])
    query_of(metadataFacets=[{"key": "serial", "ranges": [{"from": 1e16, "to": None}]}])
    choice = {"facet": "fact_triangles", "values": [2**53, 10**20]}
    query_of(facetChoices=[choice])  # as the buckets have them
    for number in (2**53 + 1, 10**400):
        with pytest.raises(ValidationError, match="compared up to 9007199254740991, and"):
            query_of(facetChoices=[{**choice, "values": [number]}])


def query_of(**fields: Any) -> Any:
    return to_opensearch(plan_search(SearchBody.model_validate(fields), {"match_all": {}}))


def query_filtered(op: str, value: Any = None, **fields: Any) -> Any:
    condition = {"key": "height", "op": op, "value": value, **fields}
    return query_of(metadataFilters=[{"key": "made", "op": "exists"}, condition])


def test_key_and_value_are_of_one_pair() -> None:
    (*_, last) = query_filtered("gte", 3)["query"]["bool"]["filter"]
    assert last["nested"]["query"]["bool"]["filter"] == [
        {"term": {"metadata.key": "height"}},
        {"range": {"metadata.number": {"gte": 3.0}}},
    ]


@pytest.mark.parametrize(
    ("op", "value", "fact"),
    [
        ("eq", None, "eq takes texts, numbers, true or false"),
        ("eq", {"a": 1}, "eq takes texts"),
        ("eq", "x" * 1025, "at most 1024 characters"),
        ("eq", "a\u0000", "no NUL"),
        ("eq", "\ud800", "must be valid Unicode"),
        ("eq", 10**400, "outside the range of numbers"),
        ("eq", 2**53, "whole numbers are compared up to 9007199254740991, and 9007199254740992"),
        ("in", [1, -(2**53)], "whole numbers are compared up to 9007199254740991"),
        ("lte", 10**20, "send an approximate one such as 1e16"),
        ("between", [1, 2**60], "whole numbers are compared up to 9007199254740991"),
        ("in", 3, "in takes a list"),
        ("in", [], "has 0 values; 1 to 100"),
        ("in", ["x"] * 101, "has 101 values"),
        ("in", [1, "1"], "different types"),
        ("gt", "soon", "must be an ISO 8601 date"),
        ("gt", True, "ranges require numbers or dates"),
        ("between", 3, "between takes a list"),
        ("between", [1], "has 1 values; 2 are allowed"),
        ("between", [2, 1], "must not be greater than the second"),
        ("between", [1, "2024-01-01"], "different types"),
        ("exists", "yes", "exists takes true, false or no value"),
        ("geoDistance", [1, 2], "geoDistance takes lat, lon, meters"),
        ("geoDistance", {"lat": 91, "lon": 0, "meters": 1}, "lat must be between -90 and 90"),
        ("geoDistance", {"lat": 0, "lon": 0, "meters": 0}, "meters must be at least 0.001"),
        ("geoDistance", {"lat": 0, "lon": 0, "meters": 0.0004}, "meters must be at least 0.001"),
        ("geoDistance", {"lat": 0, "lon": 0, "meters": "1"}, "must be a number"),
        ("geoBox", {"top": 1, "left": 0, "bottom": 2, "right": 1}, "top must be above bottom"),
        ("geoBox", {"top": 1, "left": 0, "bottom": 1, "right": 1}, "top must be above bottom"),
        ("geoBox", {"top": 1, "left": 2, "bottom": 0, "right": 2}, "left and right must differ"),
        ("geoBox", {"top": 1, "left": 0, "bottom": 2}, "geoBox takes top, left, bottom, right"),
    ],
)
def test_a_value_that_the_operator_does_not_take_is_refused(op: str, value: Any, fact: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        query_filtered(op, value)
    assert refused.value.fields[0].field == "metadataFilters.1.value"
    assert fact in refused.value.message


@pytest.mark.parametrize(
    ("key", "op", "is_advised"),
    [
        ("maker", "eq", True),
        ("maker", "gt", False),
        ("fact_triangles", "eq", False),
        ("fact_triangles", "lte", False),
    ],
)
def test_a_large_number_is_advised_as_a_text_only_where_texts_are_taken(
    key: str, op: str, is_advised: bool
) -> None:
    with pytest.raises(InvalidInputError, match="send an approximate one") as refused:
        query_filtered(op, 2**53 + 1, key=key)
    assert ("as a text" in refused.value.message) == is_advised


@pytest.mark.parametrize(
    ("value", "kind", "fact"),
    [
        ("3", "number", "must be a number"),
        (3, "string", "must be a text"),
        ("true", "boolean", "must be true or false"),
        (3, "date", "must be an ISO 8601 date"),
    ],
)
def test_a_value_of_another_type_than_named_is_refused(value: Any, kind: str, fact: str) -> None:
    with pytest.raises(InvalidInputError, match=fact):
        query_filtered("eq", value, type=kind)


def test_there_is_one_zero() -> None:
    (*_, last) = query_filtered("in", [-0.0, 0])["query"]["bool"]["filter"]
    (_, of_values) = last["nested"]["query"]["bool"]["filter"]
    assert str(of_values["terms"]["metadata.number"]) == "[0.0, 0.0]"


def test_texts_have_no_ranges() -> None:
    with pytest.raises(InvalidInputError, match="ranges require numbers or dates"):
        query_filtered("lt", "2024-01-01", type="string")


@pytest.mark.parametrize(
    "fields",
    [
        {"metadataFilters": [{"key": "k", "op": "exists"}] * 21},
        {"metadataFilters": [{"key": "k", "op": "like", "value": "x"}]},
        {"metadataFilters": [{"key": "", "op": "exists"}]},
        {"metadataFilters": [{"key": "k" * 257, "op": "exists"}]},
        {"metadataFilters": [{"op": "exists"}]},
        {"metadataFacets": [{"key": "k"}] * 11},
        {"metadataFacets": [{"key": "k", "size": 101}]},
        {"sort": [{"field": "metadata.height", "type": "point"}]},
        {"after": "", "from": 1},
        {"after": "", "size": 0},
        {"after": "x" * 16_385},
    ],
)
def test_what_is_beyond_the_limits_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SearchBody.model_validate(fields)


def test_a_metadata_key_to_sort_by_may_hold_anything_and_is_not_empty() -> None:
    (first, *_) = query_of(sort=[{"field": "metadata.a.b keyword", "type": "number"}])["sort"]
    assert first["metadata.number"]["nested"]["filter"] == {"term": {"metadata.key": "a.b keyword"}}
    (first, *_) = query_of(sort=["metadata.keyword"])["sort"]
    of_keyword = {"term": {"metadata.key": "keyword"}}
    assert first["metadata.string.sort"]["nested"]["filter"] == of_keyword
    with pytest.raises(InvalidInputError):
        query_of(sort=["metadata."])


def test_what_no_number_holds_is_left_out_of_a_facet() -> None:
    counted: dict[str, Any] = {
        "doc_count": 2,
        "values": {"buckets": [], "sum_other_doc_count": 0, "doc_count_error_upper_bound": 0},
        "number": {"count": 2, "min": 1.0, "max": 1.7e308, "avg": "Infinity", "sum": "Infinity"},
    }
    facet = facet_reply("height", counted)
    assert facet["number"] == {"count": 2, "min": 1.0, "max": 1.7e308}


@pytest.mark.parametrize("field", ["shape", "attributes", "attributes.number", "attributes.key"])
def test_no_query_of_a_caller_names_the_shape_or_pairs(field: str) -> None:
    for body in (
        {"sort": [field]},
        {"filters": [{"query_string": {"query": f"{field}:*"}}]},
    ):
        with pytest.raises(InvalidInputError):
            query_of(**body)


@pytest.mark.parametrize("key", ["fact_trianglez", "fact_shape", "fact_references", "fact_"])
def test_what_is_no_fact_is_named(key: str) -> None:
    for body in (
        {"metadataFilters": [{"key": key, "op": "exists"}]},
        {"metadataFacets": [{"key": key}]},
        {"sort": [key]},
    ):
        with pytest.raises(
            InvalidInputError, match=f"'{key}' is not a fact; the facts are fact_format, "
        ):
            query_of(**body)


@pytest.mark.parametrize(
    ("fields", "fact"),
    [
        ({"key": "fact_triangles", "op": "gt", "value": "9"}, "must be a number"),
        (
            {"key": "fact_triangles", "op": "eq", "value": 9, "type": "string"},
            "has the type number",
        ),
        ({"key": "fact_format", "op": "gt", "value": "OBJ"}, "ranges require numbers or dates"),
        ({"key": "fact_watertight", "op": "eq", "value": "true"}, "must be true or false"),
        ({"key": "AB_maker", "op": "eq", "value": 3}, "must be a text"),
        (
            {"key": "AB_place", "op": "geoDistance", "value": {"lat": 0, "lon": 0, "meters": 1}},
            "has the type string, which is not a location",
        ),
    ],
)
def test_a_fact_is_compared_by_its_own_type_only(fields: dict[str, Any], fact: str) -> None:
    with pytest.raises(InvalidInputError, match=fact) as refused:
        query_of(metadataFilters=[fields])
    assert refused.value.fields[0].field.startswith("metadataFilters.0.")


def test_a_fact_orders_by_its_own_type_whatever_the_request_names() -> None:
    for kind in ("string", "number", "date"):
        (first, *_) = query_of(sort=[{"field": "fact_area", "type": kind}], size=2000)["sort"]
        assert list(first) == ["attributes.number"]
    with pytest.raises(InvalidInputError, match="sort by text"):
        query_of(sort=["fact_format", "fact_generator", "AB_maker"], size=2000)


@pytest.mark.parametrize("wrong", [{}, {"from": float("nan")}, {"to": "soon"}])
def test_a_range_of_a_facet_has_a_finite_bound(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MetadataFacet.model_validate({"key": "fact_area", "ranges": [wrong]})
