"""Tickets, the names of the indexes, and the indexes themselves."""

from datetime import timedelta

import pytest

from backend.core.tables import Tables
from backend.search.indexing.indexes import MappingDiffersError, ensure_indexes
from backend.search.indexing.state import FIRST_POINTER, Pointer, SearchNotSetUpError, SearchState
from backend.spec.search_indexes import ASSET_INDEX, BREAKERS
from backend.spec.tables.operations import SEARCH_STATE
from tests.factories.search import NOON
from tests.fakes.search_engine import MemorySearchEngine

NOON_MS = int(NOON.timestamp() * 1000)


@pytest.fixture
def state(tables: Tables) -> SearchState:
    return SearchState(tables, lambda: NOON)


def test_no_one_writes_before_the_indexes_are_named(state: SearchState) -> None:
    with pytest.raises(SearchNotSetUpError):
        state.issue_ticket()
    with pytest.raises(SearchNotSetUpError):
        state.pointer()


def test_every_ticket_is_one_higher_and_names_the_write_targets(state: SearchState) -> None:
    state.begin(FIRST_POINTER)
    first, second = state.issue_ticket(), state.issue_ticket()
    assert (first.number, second.number) == (NOON_MS + 1, NOON_MS + 2)
    assert second.pointer == FIRST_POINTER
    assert state.last_ticket() == second.number


def test_a_lost_counter_starts_above_all_tickets_given_before(tables: Tables) -> None:
    state = SearchState(tables, lambda: NOON)
    state.begin(FIRST_POINTER)
    last = [state.issue_ticket() for _ in range(5)][-1]
    tables.delete_many(SEARCH_STATE, [{"stateKey": "search"}])
    later = SearchState(tables, lambda: NOON + timedelta(seconds=1))
    later.begin(FIRST_POINTER)
    assert later.issue_ticket().number > last.number


def test_the_indexes_are_named_once(state: SearchState) -> None:
    other = Pointer("assets-9", ("assets-9",), "files-9", ("files-9",))
    assert state.begin(FIRST_POINTER) == FIRST_POINTER
    assert state.begin(other) == FIRST_POINTER


def test_indexes_are_made_with_mapping_and_alias_and_again_without_harm(state: SearchState) -> None:
    engine = MemorySearchEngine()
    assert ensure_indexes(engine, state).pointer == FIRST_POINTER
    assert engine.mappings["assets-1"] == ASSET_INDEX.mapping
    assert engine.aliases == {"assets": "assets-1", "files": "files-1"}
    assert engine.limits == BREAKERS
    assert ensure_indexes(engine, state).pointer == FIRST_POINTER


def test_settings_that_the_service_refuses_are_named_and_left_out(state: SearchState) -> None:
    engine = MemorySearchEngine(refusal="unknown setting [index.merge]")
    prepared = ensure_indexes(engine, state)
    assert prepared.pointer == FIRST_POINTER
    assert set(engine.indexes) == {"assets-1", "files-1"}
    assert prepared.refused == tuple(
        f"{effect}: unknown setting [index.merge]"
        for effect in ("memory is not limited", "assets-1 is not tuned", "files-1 is not tuned")
    )


def test_after_a_reindex_the_first_indexes_are_not_made_again(state: SearchState) -> None:
    engine = MemorySearchEngine()
    state.begin(Pointer("assets-2", ("assets-2",), "files-2", ("files-2",)))
    ensure_indexes(engine, state)
    assert set(engine.indexes) == {"assets-2", "files-2"}


def test_a_mapping_that_differs_is_reported_field_by_field(state: SearchState) -> None:
    engine = MemorySearchEngine()
    ensure_indexes(engine, state)
    engine.mappings["files-1"]["properties"]["num_filesize"] = {"type": "text"}
    with pytest.raises(MappingDiffersError, match="files-1: num_filesize") as caught:
        ensure_indexes(engine, state)
    assert len(caught.value.differences) == 1


def test_fields_that_templates_added_are_no_difference(state: SearchState) -> None:
    engine = MemorySearchEngine()
    ensure_indexes(engine, state)
    engine.mappings["files-1"]["properties"]["gp_place"] = {"type": "geo_point"}
    ensure_indexes(engine, state)
    assert "files-1" in engine.indexes


def test_another_analysis_of_texts_is_reported(state: SearchState) -> None:
    engine = MemorySearchEngine()
    ensure_indexes(engine, state)
    engine.analyses["files-1"] = {"normalizer": {}}
    with pytest.raises(MappingDiffersError, match="files-1: the analysis of texts differs"):
        ensure_indexes(engine, state)
