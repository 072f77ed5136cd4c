"""Search queries: what a request becomes. What OpenSearch makes of it is tested with the engine."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from backend.core.errors import InvalidInputError
from backend.search.query.conditions import MAX_CONDITIONS
from backend.search.query.models import SearchBody, SimpleSearchBody
from backend.search.query.plan import to_opensearch
from backend.search.query.queries import plan_search, plan_simple_search

EVERYTHING: dict[str, Any] = {"match_all": {}}


def simple(**fields: Any) -> Any:
    return to_opensearch(plan_simple_search(SimpleSearchBody.model_validate(fields), EVERYTHING))


def full(**fields: Any) -> Any:
    return to_opensearch(plan_search(SearchBody.model_validate(fields), EVERYTHING))


def test_tombstones_and_archived_documents_are_left_out() -> None:
    excluded = simple(query="pump")["query"]["bool"]["must_not"]
    assert excluded == [{"term": {"deleted": True}}, {"term": {"bool_archived": True}}]


def test_archived_documents_are_found_on_request() -> None:
    excluded = simple(query="pump", includeArchived=True)["query"]["bool"]["must_not"]
    assert excluded == [{"term": {"deleted": True}}]


def test_what_the_caller_may_see_is_part_of_the_query() -> None:
    visible = {"terms": {"str_databaseid.keyword": ["mine"]}}
    request = to_opensearch(plan_search(SearchBody(), visible))
    assert visible in request["query"]["bool"]["filter"]


def test_named_fields_are_exact_without_case() -> None:
    filters = simple(databaseId="Gallery", fileExtension="GLB")["query"]["bool"]["filter"]
    for field, value in (("str_databaseid", "Gallery"), ("str_fileext", ".GLB")):
        assert {"term": {f"{field}.keyword": {"value": value, "case_insensitive": True}}} in filters


def test_a_star_makes_a_pattern() -> None:
    filters = simple(fileKey="*/pump*.glb")["query"]["bool"]["filter"]
    pattern = {"value": "*/pump*.glb", "case_insensitive": True}
    assert {"wildcard": {"str_key.keyword": pattern}} in filters


def test_tags_are_alternatives() -> None:
    filters = simple(tags=["red", "blue"])["query"]["bool"]["filter"]
    (tags,) = [f for f in filters if "bool" in f]
    assert len(tags["bool"]["should"]) == 2
    assert tags["bool"]["minimum_should_match"] == 1


def test_metadata_key_and_value_meet_in_one_pair() -> None:
    filters = simple(metadataKey="maker", metadataValue="Acme*")["query"]["bool"]["filter"]
    (_, _, metadata) = filters
    pairs = [query["nested"] for query in metadata["bool"]["should"]]
    assert [pair["path"] for pair in pairs] == ["metadata", "attributes"]
    for pair in pairs:
        assert len(pair["query"]["bool"]["filter"]) == 2


def test_a_metadata_query_is_a_list_of_pairs() -> None:
    filters = full(metadataQuery="maker:Acme AND year:19*")["query"]["bool"]["filter"]
    (both,) = filters[2:]
    assert len(both["bool"]["filter"]) == 2


def test_a_metadata_query_has_alternatives_of_which_and_binds_closer() -> None:
    text = 'MD_str_maker:Acme Motor AND "two words":x OR AB_num_parts:7'
    (either,) = full(metadataQuery=text)["query"]["bool"]["filter"][2:]
    (both, other) = either["bool"]["should"]
    assert len(both["bool"]["filter"]) == 2
    (path, value) = both["bool"]["filter"][0]["nested"].values()
    assert path == "metadata"
    assert value["bool"]["filter"][1] == {
        "term": {"metadata.string": {"value": "Acme Motor", "case_insensitive": True}}
    }
    assert other["nested"]["path"] == "attributes"


def test_a_metadata_query_without_a_key_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="metadataQuery: ':Acme' is not key:value"):
        full(metadataQuery=":Acme")


@pytest.mark.parametrize("mode", ["key", "value", "both"])
@pytest.mark.parametrize("query", ["maker:Acme AND ", "OR", "a:b OR OR c:d", " AND "])
def test_an_operator_without_an_element_beside_it_is_refused(query: str, mode: str) -> None:
    with pytest.raises(InvalidInputError, match="metadataQuery: AND and OR need an element on"):
        full(metadataQuery=query, metadataSearchMode=mode)


@pytest.mark.parametrize("mode", ["key", "value"])
def test_a_key_or_value_that_is_empty_is_refused(mode: str) -> None:
    with pytest.raises(InvalidInputError, match=f"metadataQuery: ':' is not a {mode}"):
        full(metadataQuery=":", metadataSearchMode=mode)


def test_a_key_with_nothing_behind_its_colon_matches_an_empty_value() -> None:
    typed, quoted = (full(metadataQuery=query)["query"] for query in ("maker:", 'maker:""'))
    assert typed == quoted


def test_the_metadata_value_of_a_simple_search_may_be_a_part() -> None:
    (metadata,) = simple(metadataKey="MD_maker", metadataValue="cme")["query"]["bool"]["filter"][2:]
    key, value = metadata["nested"]["query"]["bool"]["filter"]
    names = [condition["regexp"]["metadata.key"]["value"] for condition in key["bool"]["should"]]
    assert names == ["md_ma[k\u212a]er", "ma[k\u212a]er"]
    assert {"wildcard": {"metadata.string.inner": {"value": "*cme*", "boost": 1}}} in value["bool"][
        "should"
    ]


def test_a_metadata_query_has_a_hundred_elements_at_most() -> None:
    full(metadataQuery=" AND ".join(["a:b"] * 100))
    with pytest.raises(InvalidInputError, match="metadataQuery: has 101 elements; at most 100"):
        full(metadataQuery=" AND ".join(["a:b"] * 101))


def filters(*texts: str) -> list[dict[str, Any]]:
    return [{"query_string": {"query": text}} for text in texts]


def test_filters_have_so_many_conditions_in_all_and_no_more() -> None:
    ten = "str_key:(" + " OR ".join(map(str, range(MAX_CONDITIONS // 100))) + ")"
    full(filters=filters(*[ten] * 100))
    with pytest.raises(InvalidInputError, match="filters: has 1001 conditions or more; at most"):
        full(filters=filters(*[ten] * 99, f"{ten} OR num_filesize:1"))


def test_filters_have_ten_wildcards_in_all_and_no_more() -> None:
    full(filters=filters(*["str_key:a*b"] * 10, "str_key:*"))
    with pytest.raises(InvalidInputError, match="filters: has 11 wildcards or more; at most 10"):
        full(filters=filters(*["str_key:a*b"] * 11))


def test_facets_count_by_type_extension_database_asset_and_tag() -> None:
    assert set(full()["aggs"]) == {
        "str_assettype",
        "str_fileext",
        "str_assetid",
        "str_databaseid",
        "list_tags",
    }
    assert "aggs" not in full(aggregations=False)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (["num_filesize"], {"num_filesize": "asc"}),
        ([{"str_assetname": "desc"}], {"str_assetname.sort": "desc"}),
        ([{"date_lastmodified": {"order": "desc"}}], {"date_lastmodified": "desc"}),
        ([{"field": "str_key", "order": "asc"}], {"str_key.sort": "asc"}),
        (["_score"], {"_score": "desc"}),
    ],
)
def test_sort_takes_the_usual_shapes(sent: Any, expected: dict[str, str]) -> None:
    first = full(sort=sent)["sort"][0]
    assert {field: how["order"] for field, how in first.items()} == expected


def test_a_page_is_ordered_by_as_many_texts_as_the_engine_can_hold() -> None:
    texts: list[Any] = [{"field": f"metadata.k{number}"} for number in range(10)]
    numbers = [{"field": "metadata.k", "type": "number"}] * 10
    full(sort=texts, size=400)
    full(sort=numbers, size=2000)
    with pytest.raises(InvalidInputError, match=r"10 metadata keys sort by text: .* at most 400"):
        full(sort=texts, size=401)


def test_a_sort_field_that_is_not_declared_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="sort"):
        full(sort=["hash"])


@pytest.mark.parametrize(
    "fields",
    [
        {"size": 2001},
        {"from": -1},
        {"from": 9000, "size": 1001},
        {"query": "x" * 5001},
        {"assetName": "x" * 1025},
        {"entityTypes": ["workflow"]},
        {"tags": [""]},
        {"tags": ["t"] * 101},
        {"assetName": "a\u0000b"},
        {"query": "\ud800"},
    ],
)
def test_what_is_out_of_bounds_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SimpleSearchBody.model_validate(fields)


def test_more_than_ten_patterns_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="wildcards"):
        simple(tags=[f"t{number}*" for number in range(11)])


def test_a_request_is_plain_json() -> None:
    body = full(query="pump", sort=["_score"], includeHighlights=True, explainResults=True)
    assert json.loads(json.dumps(body)) == body
