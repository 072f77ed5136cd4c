"""Why hits were found, as the web application of VAMS shows it."""

from typing import Any

import pytest

from backend.search.query.explanations import explain_hits
from backend.search.query.models import SearchBody
from backend.search.query.replies import SearchHit


def hit(**fields: Any) -> dict[str, Any]:
    about: dict[str, Any] = {"_id": "1", "_index": "assets-1", "_index_type": "asset"}
    return {**about, "_source": {}, "_score": 4.2, **fields}


def explained(found: dict[str, Any], **query: Any) -> dict[str, Any]:
    explain_hits(SearchBody.model_validate(query), [found])
    SearchHit.model_validate(found)
    return found["explanation"]


def test_an_explanation_names_the_fields_with_the_words_and_the_score() -> None:
    marked = {"str_assetname": ["<em>Gear</em> box"], "list_tags": ["<em>gear</em>"]}
    explanation = explained(hit(highlight=marked), query="gear")
    assert explanation["matched_fields"] == ["list_tags", "str_assetname"]
    assert explanation["match_reasons"].keys() == marked.keys()
    assert explanation["index_type"] == "asset"
    assert explanation["score_breakdown"] == {
        "total_score": 4.2,
        "field_matches": 2,
        "highlight_matches": 2,
    }


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ({}, "none"),
        ({"query": "gear"}, "general"),
        ({"metadataQuery": "maker:Acme"}, "metadata"),
        ({"query": "gear", "metadataQuery": "maker:Acme"}, "combined"),
    ],
)
def test_an_explanation_repeats_the_request(query: dict[str, str], kind: str) -> None:
    assert explained(hit(), **query)["query_type"] == kind


def test_a_hit_without_a_score_has_a_number_all_the_same() -> None:
    assert explained(hit(_score=None))["score_breakdown"]["total_score"] == 0.0


def test_explanations_of_opensearch_are_kept_and_files_are_explained_too() -> None:
    own: dict[str, Any] = {"value": 4.2, "description": "sum of:", "details": []}
    found = hit(explanation=own, files=[hit(_index_type="file")])
    assert explained(found).items() >= own.items()
    assert found["files"][0]["explanation"]["index_type"] == "file"
