"""Search queries: what a request becomes. What OpenSearch makes of it is tested with the engine."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from backend.core.errors import InvalidInputError
from backend.search.query.conditions import MAX_CONDITIONS
from backend.search.query.files_under_assets import assets_request, counts_request, read_assets
from backend.search.query.inheritance import (
    assets_meeting,
    conditions_of_assets,
    with_conditions_on_assets,
)
from backend.search.query.models import SearchBody, SimpleSearchBody
from backend.search.query.plan import NOT_SHOWN, to_opensearch
from backend.search.query.queries import plan_search, plan_simple_search
from backend.spec.search_indexes import SOURCE_BYTES

VISIBLE: dict[str, Any] = {"term": {"list_tags.keyword": "open"}}


def simple(**fields: Any) -> Any:
    return to_opensearch(plan_simple_search(SimpleSearchBody.model_validate(fields), VISIBLE))


def full(**fields: Any) -> Any:
    return to_opensearch(plan_search(SearchBody.model_validate(fields), VISIBLE))


def test_hidden_and_deleted_documents_are_left_out() -> None:
    tombstone, archived = {"term": {"deleted": True}}, {"term": {"bool_archived": True}}
    for more, excluded in (({}, [tombstone, archived]), ({"includeArchived": True}, [tombstone])):
        assert simple(query="pump", **more)["query"]["bool"]["must_not"] == excluded
    assert VISIBLE in full()["query"]["bool"]["filter"]


@pytest.mark.parametrize(
    ("fields", "kind", "field", "value"),
    [
        ({"databaseId": "Gallery"}, "term", "str_databaseid", "Gallery"),
        ({"fileExtension": "GLB"}, "term", "str_fileext", ".GLB"),
        ({"fileKey": "*/pump*.glb"}, "wildcard", "str_key", "*/pump*.glb"),
    ],
)
def test_named_fields_are_exact_without_case_or_patterns(
    fields: dict[str, str], kind: str, field: str, value: str
) -> None:
    condition = {kind: {f"{field}.keyword": {"value": value, "case_insensitive": True}}}
    assert condition in simple(**fields)["query"]["bool"]["filter"]


def test_tags_are_alternatives_and_metadata_key_and_value_meet_in_one_pair() -> None:
    filters = simple(tags=["red", "blue"])["query"]["bool"]["filter"]
    (tags,) = [f for f in filters if "bool" in f]
    assert len(tags["bool"]["should"]) == 2
    assert tags["bool"]["minimum_should_match"] == 1
    (*_, metadata) = simple(metadataKey="maker", metadataValue="Acme*")["query"]["bool"]["filter"]
    pairs = [query["nested"] for query in metadata["bool"]["should"]]
    assert [pair["path"] for pair in pairs] == ["metadata", "attributes"]
    assert [len(pair["query"]["bool"]["filter"]) for pair in pairs] == [2, 2]


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


@pytest.mark.parametrize("mode", ["key", "value", "both"])
@pytest.mark.parametrize("query", ["maker:Acme AND ", "OR", "a:b OR OR c:d", " AND "])
def test_an_operator_without_an_element_beside_it_is_refused(query: str, mode: str) -> None:
    with pytest.raises(InvalidInputError, match="metadataQuery: AND and OR need an element on"):
        full(metadataQuery=query, metadataSearchMode=mode)


@pytest.mark.parametrize(
    ("text", "mode", "fact"),
    [
        (":Acme", "both", "':Acme' is not key:value"),
        (":", "key", "':' is not a key"),
        (":", "value", "':' is not a value"),
        (" AND ".join(["a:b"] * 101), "both", "has 101 elements; at most 100"),
    ],
)
def test_a_metadata_query_that_is_wrong_is_refused(text: str, mode: str, fact: str) -> None:
    full(metadataQuery=" AND ".join(["a:b"] * 100))
    with pytest.raises(InvalidInputError, match=f"metadataQuery: {fact}"):
        full(metadataQuery=text, metadataSearchMode=mode)


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


def filters(*texts: str) -> list[dict[str, Any]]:
    return [{"query_string": {"query": text}} for text in texts]


TEN = "str_key:(" + " OR ".join(map(str, range(MAX_CONDITIONS // 100))) + ")"


@pytest.mark.parametrize(
    ("most", "more", "fact"),
    [
        ([TEN] * 100, [*[TEN] * 99, f"{TEN} OR num_filesize:1"], "has 1001 conditions or more"),
        (["str_key:a*b"] * 10 + ["str_key:*"], ["str_key:a*b"] * 11, "has 11 wildcards or more"),
    ],
)
def test_filters_have_so_many_conditions_and_wildcards_in_all_and_no_more(
    most: list[str], more: list[str], fact: str
) -> None:
    full(filters=filters(*most))
    with pytest.raises(InvalidInputError, match=f"filters: {fact}; at most"):
        full(filters=filters(*more))


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


GLB: dict[str, Any] = {"terms": {"str_fileext.keyword": [".glb"]}}
RED: dict[str, Any] = {"terms": {"list_tags.keyword": ["red"]}}
CHOICES: list[dict[str, Any]] = [
    {"facet": "str_fileext", "values": [".glb"]},
    {"facet": "list_tags", "values": ["red"]},
]


def test_a_facet_counts_under_all_choices_but_its_own() -> None:
    request = full(facetChoices=CHOICES, histograms=["num_filesize"])
    assert request["post_filter"] == {"bool": {"filter": [GLB, RED]}}
    counted = {name: part["filter"] for name, part in request["aggs"].items()}
    file = {"term": {"_rectype": "file"}}
    assert counted["str_fileext"] == {"bool": {"filter": [file, RED]}}
    assert counted["list_tags"] == GLB
    assert counted["str_databaseid"] == {"bool": {"filter": [GLB, RED]}}
    assert counted["histogram_num_filesize"] == {"bool": {"filter": [GLB, RED]}}
    assert request["query"]["bool"]["filter"][0] == VISIBLE
    assert "post_filter" not in full()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ([CHOICES[0], CHOICES[0]], r"facetChoices\.1\.facet: is used twice"),
        ([{"facet": "fact_triangles", "values": ["many"]}], r"facetChoices\.0.*a number"),
        ([{"facet": "fact_none", "values": [1]}], r"facetChoices\.0\.facet.*is not a fact"),
        (
            [CHOICES[0], {"facet": "maker", "values": ["Acme"]}],
            r"facetChoices\.1\.facet: 'maker' is not a facet.*str_assettype.*metadata\.<key>",
        ),
        (
            [
                {"facet": "metadata.maker", "values": ["Acme"]},
                {"facet": "metadata.maker", "values": ["Gears Ltd"]},
            ],
            r"facetChoices\.1\.facet: is used twice",
        ),
    ],
)
def test_a_choice_that_no_facet_offers_is_refused(choices: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        full(facetChoices=choices)


def test_a_metadata_key_is_a_facet_if_it_is_counted_or_named_as_metadata() -> None:
    counted = full(
        facetChoices=[{"facet": "maker", "values": ["Acme"]}], metadataFacets=[{"key": "maker"}]
    )
    named = full(facetChoices=[{"facet": "metadata.maker", "values": ["Acme"]}])
    assert counted["post_filter"] == named["post_filter"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"facetChoices": [{"facet": "str_key", "values": ["a"]}]}, r"facetChoices\.0\.facet"),
        (
            {"facetChoices": [{"facet": "str_fileext.keyword", "values": ["a"]}]},
            r"facetChoices\.0\.facet",
        ),
        ({"metadataFacets": [{"key": "str_fileext"}]}, r"metadataFacets\.0\.key"),
        (
            {"metadataFilters": [{"key": "num_filesize", "op": "gt", "value": 1}]},
            r"metadataFilters\.0\.key",
        ),
        ({"sort": ["nothing"]}, "sort"),
        ({"sort": ["hash"]}, "sort"),
        ({"filters": [{"query_string": {"query": "nothing:x"}}]}, r"filters\.0"),
        ({"filters": [{"term": {"nothing": "x"}}]}, r"filters\.0"),
    ],
    ids=str,
)
def test_a_name_that_can_find_nothing_is_refused_by_its_place(body: Any, field: str) -> None:
    with pytest.raises(InvalidInputError, match=f"^{field}: .*"):
        full(**body)


@pytest.mark.parametrize(
    "more",
    [
        {"after": ""},
        {"entityTypes": ["asset"]},
        {"size": 101},
        {"foldFiles": False, "fileCounts": True},
    ],
    ids=str,
)
def test_folded_pages_are_short_and_of_both_types(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SearchBody.model_validate({"foldFiles": True, **more})


def folded(**fields: Any) -> Any:
    return plan_search(SearchBody.model_validate({"foldFiles": True, **fields}), VISIBLE)


def test_conditions_of_assets_are_those_on_metadata_and_on_fields_that_only_assets_have() -> None:
    assert conditions_of_assets(folded(query="oak", metadataFacets=[{"key": "maker"}])) == []
    of_both = filters("str_assetname:oak", "list_tags:red", "num_filesize:>3", "_exists_:str_key")
    of_files = [{"key": "fact_triangles", "op": "gt", "value": 3}]
    assert conditions_of_assets(folded(filters=of_both, metadataFilters=of_files)) == []
    of_assets = filters(
        "str_description:oak",
        "NOT str_assettype:folder",
        "_exists_:str_description",
        "date_asset_version_createdate:>2020",
        "MD_maker:Holm",
        "bool_isdistributable:true",
    )
    # An extension may be sent without its dot: two conditions.
    assert len(conditions_of_assets(folded(filters=of_assets))) == 7


def test_a_choice_is_inherited_wherever_it_is_a_condition() -> None:
    plan = folded(facetChoices=[{"facet": "metadata.maker", "values": ["Holm"]}])
    conditions = conditions_of_assets(plan)
    # The hits, and each of the five facets.
    assert len(conditions) == 6
    met = {str(n): {"doc_count": 1, "ids": {"buckets": [{"key": "chair"}]}} for n in range(6)}
    extended, exceeded = with_conditions_on_assets(plan, conditions, met)
    changed = to_opensearch(extended)
    wanted = {
        "bool": {
            "should": [conditions[0], {"terms": {"str_assetid.keyword": ["chair"]}}],
            "minimum_should_match": 1,
        }
    }
    assert exceeded is None
    assert changed["post_filter"] == {"bool": {"filter": [wanted]}}
    assert changed["aggs"]["list_tags"]["filter"] == wanted
    assert plan.chosen == {"bool": {"filter": [conditions[0]]}}


def test_assets_are_those_that_the_caller_may_see() -> None:
    plan = folded(filters=filters("MD_maker:Holm", "MD_material:oak"))
    request_for_assets = assets_meeting(plan, conditions_of_assets(plan))
    assert request_for_assets["query"] == {"bool": {"filter": [VISIBLE], "must_not": NOT_SHOWN}}
    assert request_for_assets["size"] == 0
    sizes = [
        aggregation["aggs"]["ids"]["terms"]["size"]
        for aggregation in request_for_assets["aggs"].values()
    ]
    assert sizes == [25_000, 25_000]


def test_assets_and_their_files_are_those_that_the_caller_may_see() -> None:
    heads = [{"fields": {"str_assetid.keyword": ["pump"]}}]
    assets = assets_request(folded(query="oak"), heads)["query"]["bool"]
    (_, files) = assets["should"]
    assert VISIBLE in assets["filter"]
    assert VISIBLE in files["bool"]["filter"]
    counted = counts_request(folded(query="oak"), ["pump"])["query"]["bool"]
    assert VISIBLE in counted["filter"]
    assert counted["must_not"] == NOT_SHOWN


def test_files_of_assets_are_counted_whether_they_are_found_or_not() -> None:
    plan = folded(query="oak", fileCounts=True)
    heads = [{"fields": {"str_assetid.keyword": [name]}} for name in ("pump", "empty", "gone")]
    found = [
        {"_id": name, "fields": {"source": [{"str_assetid": name}], SOURCE_BYTES: [1]}}
        for name in ("pump", "empty")
    ]

    def search(request: Any) -> Any:
        if request["size"]:
            buckets: Any = {"folded_assets": {"of_asset": {"buckets": []}}}
            return {"hits": {"hits": found}, "aggregations": buckets}
        return {"aggregations": {"of_asset": {"buckets": [{"key": "pump", "doc_count": 7}]}}}

    assets = read_assets(plan, heads, search)
    assert [(hit["_id"], hit["fileCount"]) for hit in assets] == [("pump", 7), ("empty", 0)]
