"""Why hits were found, as the web application of VAMS shows it."""

from typing import Any

import pytest

from backend.domains.access.policy.search_filter import EVERYTHING
from backend.search.query.answers import Answer, to_reply
from backend.search.query.models import EntityType, SearchBody
from backend.search.query.queries import plan_search
from backend.search.query.replies import SearchHit


def hit(**fields: Any) -> dict[str, Any]:
    return {"_id": "1", "_index": "assets-1", "_source": {}, "_score": 4.2, **fields}


def explanation_of(raw: dict[str, Any], **query: Any) -> dict[str, Any]:
    return shown(raw, **query)["explanation"]


def shown(raw: dict[str, Any], **query: Any) -> dict[str, Any]:
    body = SearchBody.model_validate({"explainResults": True, **query})
    response = {"took": 1, "timed_out": False, "hits": {"total": {"value": 1}}}
    kinds: dict[str, EntityType] = {"assets-1": "asset", "files-1": "file"}
    reply = to_reply(plan_search(body, EVERYTHING), Answer(response, [raw], kinds))
    (explained_hit,) = reply["hits"]["hits"]
    SearchHit.model_validate(explained_hit)
    return explained_hit


def test_an_explanation_names_the_fields_with_the_words_and_the_score() -> None:
    marked = {"str_assetname": ["<em>Gear</em> box"], "list_tags": ["<em>gear</em>"]}
    explanation = explanation_of(hit(highlight=marked), query="gear")
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
    assert explanation_of(hit(), **query)["query_type"] == kind


def test_a_hit_without_a_score_has_a_number_all_the_same() -> None:
    assert explanation_of(hit(_score=None))["score_breakdown"]["total_score"] == 0.0


def test_explanations_of_opensearch_are_kept_and_files_are_explained_too() -> None:
    own: dict[str, Any] = {"value": 4.2, "description": "sum of:", "details": []}
    reply = shown(hit(_explanation=own, files=[hit(_index="files-1")]))
    assert reply["explanation"].items() >= own.items()
    assert reply["files"][0]["explanation"]["index_type"] == "file"
