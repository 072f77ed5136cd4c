"""Filters by metadata that are refused. Their results are tested on OpenSearch."""

from typing import Any

import pytest
from pydantic import ValidationError

from backend.core.errors import InvalidInputError
from backend.search.query.metadata_queries import facet_reply
from backend.search.query.models import MetadataFacet, SearchBody
from backend.search.query.plan import to_opensearch
from backend.search.query.queries import plan_search


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
