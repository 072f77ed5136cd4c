"""Weights of searches: what is refused by name, and what takes from a budget of its user."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from backend.core.errors import InvalidInputError, RateLimitedError
from backend.core.tables import Tables
from backend.search.indexing.state import WEIGHT_PER_MINUTE, SearchState
from backend.search.query.models import SearchBody, SimpleSearchBody
from backend.search.query.queries import plan_search, plan_simple_search
from backend.search.query.weights import LIGHT, MAX_WEIGHT, check_weight
from tests.factories.search import NOON

STOCK = Path(__file__).resolve().parents[2] / "events" / "stock" / "10_search.toml"
ALL: dict[str, Any] = {"match_all": {}}
PAGE: dict[str, Any] = {
    "size": 50,
    "foldFiles": True,
    "previews": True,
    "includeHighlights": False,
    "didYouMean": True,
    "metadataFacets": [
        {"key": "fact_format", "size": 20},
        {"key": "fact_watertight", "size": 2},
        {"key": "fact_unit", "size": 20},
        {"key": "fact_triangles", "size": 1, "ranges": [{"from": 10**n} for n in range(7)]},
        {"key": "fact_taken", "size": 1},
    ],
    "histograms": ["num_filesize", "date_lastmodified"],
}


def weight(**body: Any) -> float:
    return check_weight(plan_search(SearchBody.model_validate(body), ALL))


def stock_bodies() -> list[tuple[str, dict[str, Any]]]:
    calls = tomllib.loads(STOCK.read_text())["request"]
    return [
        (entry["call"], entry.get("body", {}))
        for entry in calls
        if entry["call"].startswith("POST /search") and entry.get("status", 200) == 200
    ]


def test_no_search_of_a_stock_client_is_counted() -> None:
    weights: list[float] = []
    for call, body in stock_bodies():
        if call == "POST /search/simple":
            plan = plan_simple_search(SimpleSearchBody.model_validate(body), ALL)
        else:
            plan = plan_search(SearchBody.model_validate(body), ALL)
        weights.append(check_weight(plan))
    assert len(weights) > 10
    assert max(weights) <= LIGHT


@pytest.mark.parametrize(
    "text", ["", "gear", "cast iron gear", "PF-76000-A Pipe Flange", "模型文件"]
)
def test_no_search_of_the_page_is_counted(text: str) -> None:
    choices = [{"facet": "fact_format", "values": ["OBJ", "GLB"]}]
    filters = [{"query_string": {"query": "num_filesize:[1 TO 1000]"}}]
    assert weight(**PAGE, query=text, facetChoices=choices, filters=filters) <= LIGHT


def negated(count: int) -> list[dict[str, Any]]:
    text = " ".join(f"-str_assetname:word{n}" for n in range(100))
    return [{"query_string": {"query": text}}] * (count // 100)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"filters": negated(900)}, "filters"),
        ({"query": " ".join(f"{'ab' * 15}{n:02}" for n in range(10))}, "query"),
        ({"metadataQuery": " OR ".join(f"*{'ab' * 50}{n}*" for n in range(10))}, "filters"),
    ],
)
def test_a_search_above_the_limit_is_refused_by_name(body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError, match=f"at most {MAX_WEIGHT} is allowed") as refused:
        weight(**body)
    assert refused.value.fields[0].field == field


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (" ".join(f"word{n}~1" for n in range(6)), "has 6 words with ~; at most 5 are allowed"),
        ("gear~2 wheel~ pump~2", "has 3 words with ~ or ~2; at most 2 are allowed"),
        ("transmissions~2", "'transmissions' has 13 letters; with ~2 at most 12 are allowed"),
    ],
)
def test_misspelt_words_are_limited(text: str, fact: str) -> None:
    with pytest.raises(InvalidInputError, match=fact) as refused:
        weight(query=text)
    assert refused.value.fields[0].field == "query"
    weight(query="gear~2 wheel~ pump~1 valve~1 shaft~1")


def test_a_users_heavy_searches_have_a_budget_of_each_minute(tables: Tables) -> None:
    now = [NOON]
    state = SearchState(tables, lambda: now[0])
    state.add_search_weight("ann", WEIGHT_PER_MINUTE)
    with pytest.raises(RateLimitedError, match="above 160 within this minute") as refused:
        state.add_search_weight("ann", 1)
    assert refused.value.retry_after == 60
    state.add_search_weight("bob", WEIGHT_PER_MINUTE)
    now[0] = NOON.replace(minute=1)
    state.add_search_weight("ann", WEIGHT_PER_MINUTE)
