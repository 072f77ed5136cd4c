"""Which conditions each facet counts under, and what choices are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from backend.core.errors import InvalidInputError
from backend.search.query.models import SearchBody
from backend.search.query.plan import to_opensearch
from backend.search.query.queries import plan_search

VISIBLE: dict[str, Any] = {"term": {"list_tags.keyword": "open"}}
GLB: dict[str, Any] = {"terms": {"str_fileext.keyword": [".glb"]}}
RED: dict[str, Any] = {"terms": {"list_tags.keyword": ["red"]}}
CHOICES: list[dict[str, Any]] = [
    {"facet": "str_fileext", "values": [".glb"]},
    {"facet": "list_tags", "values": ["red"]},
]


def full(**fields: Any) -> Any:
    return to_opensearch(plan_search(SearchBody.model_validate(fields), VISIBLE))


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
        ({"filters": [{"query_string": {"query": "nothing:x"}}]}, r"filters\.0"),
        ({"filters": [{"term": {"nothing": "x"}}]}, r"filters\.0"),
    ],
    ids=str,
)
def test_a_name_that_can_find_nothing_is_refused_by_its_place(body: Any, field: str) -> None:
    with pytest.raises(InvalidInputError, match=f"^{field}: .*"):
        full(**body)


@pytest.mark.parametrize(
    "more", [{"after": ""}, {"entityTypes": ["asset"]}, {"size": 101}], ids=str
)
def test_folded_pages_are_short_and_of_both_types(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SearchBody.model_validate({"foldFiles": True, **more})
