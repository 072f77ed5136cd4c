"""Which conditions of a search hold for the files of the assets that meet them."""

from typing import Any

from backend.search.query.files_under_assets import assets_request
from backend.search.query.inheritance import (
    assets_meeting,
    conditions_of_assets,
    with_conditions_on_assets,
)
from backend.search.query.models import SearchBody
from backend.search.query.plan import NOT_SHOWN, to_opensearch
from backend.search.query.queries import plan_search

VISIBLE: dict[str, Any] = {"term": {"list_tags.keyword": "open"}}


def full(**fields: Any) -> Any:
    return plan_search(SearchBody.model_validate({"foldFiles": True, **fields}), VISIBLE)


def filters(*texts: str) -> list[dict[str, Any]]:
    return [{"query_string": {"query": text}} for text in texts]


def test_conditions_of_assets_are_those_on_metadata_and_on_fields_that_only_assets_have() -> None:
    assert conditions_of_assets(full(query="oak", metadataFacets=[{"key": "maker"}])) == []
    of_both = filters("str_assetname:oak", "list_tags:red", "num_filesize:>3", "_exists_:str_key")
    of_files = [{"key": "fact_triangles", "op": "gt", "value": 3}]
    assert conditions_of_assets(full(filters=of_both, metadataFilters=of_files)) == []
    of_assets = filters(
        "str_description:oak",
        "NOT str_assettype:folder",
        "_exists_:str_description",
        "date_asset_version_createdate:>2020",
        "MD_maker:Holm",
        "bool_isdistributable:true",
    )
    # An extension may be sent without its dot: two conditions.
    assert len(conditions_of_assets(full(filters=of_assets))) == 7


def test_a_choice_is_inherited_wherever_it_is_a_condition() -> None:
    plan = full(facetChoices=[{"facet": "metadata.maker", "values": ["Holm"]}])
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
    plan = full(filters=filters("MD_maker:Holm", "MD_material:oak"))
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
    assets = assets_request(full(query="oak"), heads)["query"]["bool"]
    (_, files) = assets["should"]
    assert VISIBLE in assets["filter"]
    assert VISIBLE in files["bool"]["filter"]
