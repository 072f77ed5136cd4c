"""Which conditions each facet counts under, and what choices are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from backend.core.errors import InvalidInputError
from backend.search.query.models import SearchBody
from backend.search.query.queries import full_query

VISIBLE: dict[str, Any] = {"term": {"list_tags.keyword": "open"}}
GLB: dict[str, Any] = {"terms": {"str_fileext.keyword": [".glb"]}}
RED: dict[str, Any] = {"terms": {"list_tags.keyword": ["red"]}}
CHOICES: list[dict[str, Any]] = [
    {"facet": "str_fileext", "values": [".glb"]},
    {"facet": "list_tags", "values": ["red"]},
]


def full(**fields: Any) -> Any:
    return full_query(SearchBody.model_validate(fields), VISIBLE)


def test_a_facet_counts_under_all_choices_but_its_own() -> None:
    request = full(facetChoices=CHOICES, histograms=["num_filesize"])
    assert request["post_filter"] == {"bool": {"filter": [GLB, RED]}}
    counted = {name: one["filter"] for name, one in request["aggs"].items()}
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
    ],
)
def test_a_choice_that_no_facet_offers_is_refused(choices: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        full(facetChoices=choices)


@pytest.mark.parametrize(
    "more", [{"after": ""}, {"entityTypes": ["asset"]}, {"size": 101}], ids=str
)
def test_folded_pages_are_short_and_of_both_types(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SearchBody.model_validate({"foldFiles": True, **more})
