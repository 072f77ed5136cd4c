"""Who holds places of cursors, and whose are closed for others, over an engine that only counts."""

from dataclasses import dataclass, field

import pytest

from backend.core.search_engine import TooManyPointsInTimeError
from backend.core.tables import Tables
from backend.search.query.cursor_places import (
    FOR_OTHERS,
    MAX_OPEN,
    PAUSE_SECONDS,
    PLACES,
    CursorPlaces,
    TooManyCursorsError,
)
from tests.factories.search import NOON
from tests.fakes.search_engine import MemorySearchEngine
from tests.fakes.tables import MemoryTables

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
