"""Limits of a user: the weight of searches, and places of cursors."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from backend.core.errors import InvalidInputError, RateLimitedError
from backend.core.search_engine import TooManyPointsInTimeError
from backend.core.tables import Tables
from backend.search.indexing.state import WEIGHT_PER_MINUTE, SearchState
from backend.search.query.cursors import (
    FOR_OTHERS,
    MAX_OPEN,
    PAUSE_SECONDS,
    PLACES,
    CursorPlaces,
    TooManyCursorsError,
)
from backend.search.query.models import SearchBody, SimpleSearchBody
from backend.search.query.plan import SearchPlan
from backend.search.query.queries import plan_search, plan_simple_search
from backend.search.query.weights import LIGHT, MAX_WEIGHT, check_weight
from backend.search.query.words import MAX_PART_WORDS, MAX_WORDS, text_query
from tests.factories.search import NOON
from tests.fakes.search_engine import MemorySearchEngine
from tests.fakes.tables import MemoryTables

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


def stock_plans() -> list[SearchPlan]:
    plans: list[SearchPlan] = []
    for entry in tomllib.loads(STOCK.read_text())["request"]:
        body = entry.get("body", {})
        if entry["call"] == "POST /search/simple":
            plans.append(plan_simple_search(SimpleSearchBody.model_validate(body), ALL))
        elif entry["call"] == "POST /search" and entry.get("status", 200) == 200:
            plans.append(plan_search(SearchBody.model_validate(body), ALL))
    return plans


def test_no_search_of_a_stock_client_is_counted() -> None:
    weights = [check_weight(plan) for plan in stock_plans()]
    assert len(weights) > 10
    assert max(weights) <= LIGHT


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("", LIGHT),
        ("gear", LIGHT),
        ("PF-76000-A Pipe Flange", LIGHT),
        ("模型文件", LIGHT),
        ("steel cast iron gear box wheel", LIGHT),
        ("helical " * MAX_PART_WORDS, MAX_WEIGHT),
        ("transmissions " * MAX_WORDS, MAX_WEIGHT),
        ("gear~2 wheel~ pump~1 valve~1 shaft~1", MAX_WEIGHT),
    ],
)
def test_few_searches_of_the_page_are_counted_and_none_is_refused(text: str, most: float) -> None:
    choices = [{"facet": "fact_format", "values": ["OBJ", "GLB"]}]
    filters = [{"query_string": {"query": "num_filesize:[1 TO 1000]"}}]
    assert weight(**PAGE, query=text, facetChoices=choices, filters=filters) <= most
    assert weight(query=text) <= most  # with the highlights of stock clients


def filters(*conditions: str) -> list[dict[str, Any]]:
    return [{"query_string": {"query": condition}} for condition in conditions]


LINE = {"type": "LineString", "coordinates": [[n / 100, n % 2] for n in range(9000)]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"filters": filters(*([" ".join(f"-MD_k{n}:w{n}" for n in range(100))] * 10))}, "filters"),
        ({"filters": filters(*([f"-{'*ab' * 30}"] * 10))}, "filters"),
        ({"filters": filters(*([f"-*{'ab' * 200}*"] * 10))}, "filters"),
        ({"filters": filters(*([f"str_assetid:{'é' * 60}"] * 99))}, "filters"),
        ({"metadataQuery": " OR ".join(["*a" * 15 + ":" + "*b" * 15] * 5)}, "metadataQuery"),
        ({"geoSearch": {"geoJson": LINE}, "foldFiles": True}, "geoSearch"),
        ({"query": "transmission~2 herringbones~2", "foldFiles": True}, "query"),
    ],
)
def test_a_search_above_the_limit_is_refused_by_name(body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError, match=f"at most {MAX_WEIGHT} is allowed") as refused:
        weight(**body)
    assert refused.value.fields[0].field == field


@pytest.mark.parametrize("letters", ["", "3", "9", "10", "1000", "4" * 4900, "\u0663"])
def test_a_word_differs_in_two_letters_at_most(letters: str) -> None:
    two, sent = (text_query(f"gear~{sent}", with_metadata=True) for sent in ("2", letters))
    assert sent.clauses["must"] == two.clauses["must"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            " ".join(f"word{n}~1" for n in range(6)),
            "has 6 words with ~, such as 'word5~1'; at most 5 are allowed",
        ),
        (
            "a.b.c~1 d.e.f~1",
            "has 2 words with ~ \\(6 when split at signs\\), such as 'd.e.f~1'; at most 5 are",
        ),
        (
            "gear~2 wheel~ pump~9",
            "has 3 words with ~ in which two letters may differ, such as 'pump~9'; at most 2 are",
        ),
        (
            "gear.wheel.pump~",
            "has 1 word with ~ .* \\(3 when split at signs\\), such as 'gear.wheel.pump~';",
        ),
        ("transmissions~9", "'transmissions~9' has 13 letters; at most 12 are allowed: use ~1"),
        ("a.transmissions~2", "'transmissions' in 'a.transmissions~2' has 13 letters; at most 12"),
    ],
)
def test_misspelt_words_are_limited(text: str, fact: str) -> None:
    with pytest.raises(InvalidInputError, match=fact) as refused:
        weight(query=text)
    assert refused.value.fields[0].field == "query"


def test_a_users_heavy_searches_have_a_budget_of_each_minute(tables: Tables) -> None:
    now = [NOON]
    state = SearchState(tables, lambda: now[0])
    state.add_search_weight("ann", WEIGHT_PER_MINUTE)
    with pytest.raises(RateLimitedError, match="above 240 within this minute") as refused:
        state.add_search_weight("ann", 1)
    assert refused.value.retry_after == 60
    state.add_search_weight("bob", WEIGHT_PER_MINUTE)
    now[0] = NOON.replace(minute=1)
    state.add_search_weight("ann", WEIGHT_PER_MINUTE)


BOTH = ("assets-1", "files-1")


@dataclass
class Counting(MemorySearchEngine):
    """Keeps points in time, as many as `most`, until they are closed."""

    most: int = 150
    open_cursors: list[str] = field(default_factory=list[str])
    number: int = 0

    def open_point_in_time(self, indexes: object, *, seconds: int) -> str:
        assert (tuple(indexes), seconds) == (BOTH, PAUSE_SECONDS)  # type: ignore[call-overload]
        if len(self.open_cursors) >= self.most:
            raise TooManyPointsInTimeError
        self.number += 1
        self.open_cursors.append(f"point-{self.number}")
        return self.open_cursors[-1]

    def points_in_time(self) -> frozenset[str]:
        return frozenset(self.open_cursors)

    def close_point_in_time(self, point_in_time: str) -> None:
        self.open_cursors.remove(point_in_time)


@pytest.fixture
def engine() -> Counting:
    return Counting()


@pytest.fixture
def places(tables: Tables) -> CursorPlaces:
    return CursorPlaces(tables, lambda: NOON)


def open_cursors(places: CursorPlaces, engine: Counting, user: str, count: int = 1) -> list[str]:
    return [places.open(user, BOTH, engine=engine) for _ in range(count)]


def test_the_eleventh_cursor_closes_the_oldest(places: CursorPlaces, engine: Counting) -> None:
    anns = open_cursors(places, engine, "ann", MAX_OPEN)
    bobs = open_cursors(places, engine, "bob")
    assert engine.open_cursors == [*anns, *bobs]
    later = open_cursors(places, engine, "ann", 2)
    assert engine.open_cursors == [*anns[2:], *bobs, *later]
    assert [
        places.was_replaced_by_later_cursor("ann", cursor) for cursor in (*anns[:3], *bobs)
    ] == [*(True, True, False, False)]
    assert not places.was_replaced_by_later_cursor("bob", anns[0])


def test_cursors_that_have_ended_take_no_place(places: CursorPlaces, engine: Counting) -> None:
    first = open_cursors(places, engine, "ann", MAX_OPEN)
    for cursor in first[3:]:
        engine.close_point_in_time(cursor)
    later = open_cursors(places, engine, "ann", MAX_OPEN - 3)
    assert engine.open_cursors == [*first[:3], *later]
    assert not any(places.was_replaced_by_later_cursor("ann", cursor) for cursor in first)


def test_the_last_places_are_for_users_who_have_none(
    places: CursorPlaces, engine: Counting
) -> None:
    first = open_cursors(places, engine, "ann", 2)
    engine.open_cursors += [f"other-{n}" for n in range(PLACES - FOR_OTHERS - 2)]
    (mine,) = open_cursors(places, engine, "ann")
    assert [cursor for cursor in engine.open_cursors if cursor.startswith("point")] == [
        first[1],
        mine,
    ]
    assert places.was_replaced_by_later_cursor("ann", first[0])
    for number in range(FOR_OTHERS):
        open_cursors(places, engine, f"user-{number}")
    assert len(engine.open_cursors) == PLACES


def test_when_all_places_are_taken_a_new_user_is_sent_away_for_a_while(
    places: CursorPlaces, engine: Counting
) -> None:
    (mine,) = open_cursors(places, engine, "ann")
    engine.open_cursors += [f"other-{n}" for n in range(PLACES - 1)]
    with pytest.raises(TooManyCursorsError) as caught:
        open_cursors(places, engine, "bob")
    assert caught.value.retry_after == PAUSE_SECONDS
    (later,) = open_cursors(places, engine, "ann")
    assert (mine in engine.open_cursors, later in engine.open_cursors) == (False, True)


def test_an_engine_that_is_full_sends_away_too(places: CursorPlaces, engine: Counting) -> None:
    engine.most = 0
    with pytest.raises(TooManyCursorsError):
        open_cursors(places, engine, "ann")


def test_requests_at_the_same_moment_lose_no_cursor() -> None:
    tables, engine = MemoryTables(), Counting()
    places = CursorPlaces(tables, lambda: NOON)
    again = CursorPlaces(tables, lambda: NOON)
    others: list[str] = []

    class Interrupted(Counting):
        def open_point_in_time(self, indexes: object, *, seconds: int) -> str:
            if len(others) < 3:
                others.append(again.open("ann", BOTH, engine=engine))
            return engine.open_point_in_time(indexes, seconds=seconds)

    interrupted = Interrupted(open_cursors=engine.open_cursors)
    mine = places.open("ann", BOTH, engine=interrupted)
    assert sorted(engine.open_cursors) == sorted([*others, mine])
    open_cursors(places, engine, "ann", MAX_OPEN)
    assert all(places.was_replaced_by_later_cursor("ann", cursor) for cursor in (*others, mine))
    assert len(engine.open_cursors) == MAX_OPEN


def test_without_end_of_conflicts_the_point_in_time_is_closed_again() -> None:
    tables, engine = MemoryTables(), Counting()
    places = CursorPlaces(tables, lambda: NOON)
    other = CursorPlaces(tables, lambda: NOON)

    class CompetingEngine(Counting):
        def points_in_time(self) -> frozenset[str]:
            remaining = frozenset(engine.open_cursors)
            other.open("ann", BOTH, engine=engine)
            return remaining

    overtaken = CompetingEngine(open_cursors=engine.open_cursors, number=1000)
    with pytest.raises(TooManyCursorsError) as caught:
        places.open("ann", BOTH, engine=overtaken)
    assert caught.value.retry_after == 1
    assert "point-1001" not in engine.open_cursors
