"""Tickets, names of indexes, geographic keys, and states of objects."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.objects import ObjectVersion, VersionPage, key_before
from backend.core.tables import Tables
from backend.core.transactions import Item, Update, Write
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.indexes import MappingDiffersError, ensure_indexes
from backend.search.indexing.object_states import ObjectState, states
from backend.search.indexing.state import FIRST_POINTER, Pointer, SearchNotSetUpError, SearchState
from backend.search.values import MAX_GEO_KEYS, MAX_KEYS_OF_DATABASE
from backend.spec.search_indexes import ASSET_INDEX, BREAKERS
from backend.spec.tables.operations import SEARCH_STATE
from tests.factories.search import NOON
from tests.fakes.counting import requests_of
from tests.fakes.objects import MemoryObjects
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
    engine.mappings["files-1"]["properties"]["gp_place"] = {"type": "geo_point"}
    ensure_indexes(engine, state)  # a template added the field
    engine.mappings["files-1"]["properties"]["num_filesize"] = {"type": "text"}
    with pytest.raises(MappingDiffersError, match="files-1: num_filesize") as caught:
        ensure_indexes(engine, state)
    assert len(caught.value.differences) == 1


def test_another_analysis_of_texts_is_reported(state: SearchState) -> None:
    engine = MemorySearchEngine()
    ensure_indexes(engine, state)
    engine.analyses["files-1"] = {"normalizer": {}}
    with pytest.raises(MappingDiffersError, match="files-1: the analysis of texts differs"):
        ensure_indexes(engine, state)


def add(tables: Tables, keys: Iterable[str], database_id: str = "museum") -> frozenset[str]:
    return GeoKeys(tables).add_keys(dict.fromkeys(keys, database_id))


def fill(tables: Tables, *, but: int) -> None:
    """Take all places but some, for databases within their shares."""
    for start in range(0, MAX_GEO_KEYS - but, MAX_KEYS_OF_DATABASE):
        stop = min(start + MAX_KEYS_OF_DATABASE, MAX_GEO_KEYS - but)
        keys = {f"k{n}" for n in range(start, stop)}
        assert add(tables, keys, f"database-{start}") == keys


def test_new_keys_are_allowed_and_known_to_all_writers(tables: Tables) -> None:
    assert add(tables, ["a", "b"]) == {"a", "b"}
    assert add(tables, ["b", "c"]) == {"b", "c"}


def test_beyond_two_hundred_keys_only_old_ones_are_allowed(tables: Tables) -> None:
    fill(tables, but=1)
    assert len(add(tables, ["new-1", "new-2"])) == 1
    assert add(tables, ["new-3", "k0"]) == {"k0"}


def test_one_database_takes_its_share_only(tables: Tables) -> None:
    many = [f"k{n:03}" for n in range(MAX_GEO_KEYS)]
    assert add(tables, many) == set(many[:MAX_KEYS_OF_DATABASE])
    assert add(tables, ["late", "k000"]) == {"k000"}
    assert add(tables, ["late"], "zoo") == {"late"}
    assert add(tables, ["late"]) == {"late"}


def test_two_writers_that_add_the_same_key_take_one_place(tables: Tables) -> None:
    writers = [GeoKeys(tables), GeoKeys(tables)]
    for writer in writers:  # the second one has read nothing yet
        writer.add_keys({"a": "museum"})
    fill(tables, but=1)
    assert add(tables, ["b"], "zoo") == set()


def test_keys_that_are_added_while_others_are_freed_remain(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The share of a database is counted again, and a key of an earlier release has none."""
    fill(tables, but=MAX_GEO_KEYS - MAX_KEYS_OF_DATABASE)
    tables.write(
        Update(
            table=SEARCH_STATE, key={"stateKey": "geoKeys"}, set={"key#old": True}, add={"count": 1}
        )
    )
    write, late = type(tables).write, ["late"]

    def add_first(self: Tables, *writes: Write) -> Item | None:
        if late:
            assert add(tables, [late.pop()], "zoo") == {"late"}
        return write(self, *writes)

    monkeypatch.setattr(type(tables), "write", add_first)
    GeoKeys(tables).free(["k0", "k1", "absent"])
    assert GeoKeys(tables).all_keys() == {"old", "late", *(f"k{n}" for n in range(2, 20))}
    assert len(add(tables, ["k0", "k1", "more"], "database-0")) == 2


BUCKET = "assetbucket"


def put(objects: S3Objects, key: str, body: bytes = b"x") -> None:
    objects.put(BUCKET, key, body, content_type="text/plain", metadata={})


def preview_key(state: ObjectState) -> str | None:
    return None if state.preview is None else state.preview.key


def archive(objects: S3Objects, key: str) -> None:
    objects.client.delete_object(Bucket=BUCKET, Key=key)


def test_one_file_and_many_files_get_equal_documents(objects: S3Objects) -> None:
    names = ["a", "a-1", "a.b", "dir/a", "dir/b", "gone", "z é"]
    for name in names:
        put(objects, f"p/{name}")
        put(objects, f"p/{name}", b"second")
    put(objects, "p/a.previewFile.png")
    put(objects, "p/dir/b.previewFile.jpg")
    archive(objects, "p/dir/b.previewFile.jpg")
    archive(objects, "p/gone")
    wanted = [f"p/{name}" for name in [*names, "never", "dir"]]
    listed = states(objects, BUCKET, wanted)
    alone: dict[str, Any] = {}
    for key in wanted:
        alone |= states(objects, BUCKET, [key])
    assert set(listed) == set(alone) == {f"p/{name}" for name in names}
    for key in listed:
        assert listed[key].preview == alone[key].preview
        for field in ("version_id", "is_delete_marker", "size", "etag"):
            assert getattr(listed[key].version, field) == getattr(alone[key].version, field)
    assert preview_key(listed["p/a"]) == "p/a.previewFile.png"
    assert listed["p/dir/b"].preview is None
    assert listed["p/gone"].version.is_delete_marker


@pytest.mark.parametrize("most", [1, 2, 1000])
def test_below_markers_the_last_content_is_found(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.search.indexing.object_states._PAGE", most)
    monkeypatch.setattr("backend.search.indexing.object_states._LONE_VERSIONS", most)
    objects = MemoryObjects()
    for body in (b"1", b"22"):
        objects.put(BUCKET, "p/gone", body, content_type="text/plain", metadata={})
    for key in ("p/gone", "p/gone", "p/gone", "p/markers", "p/markers"):
        objects.delete_many(BUCKET, [(key, None)])
    for key in ("p/gone.x", "p/zoo", "p/markers.x"):
        objects.put(BUCKET, key, b"x", content_type="text/plain", metadata={})
    wanted = ["p/gone", "p/gone.x", "p/markers", "p/markers.x", "p/zoo"]
    listed = states(objects, BUCKET, wanted)
    for key in wanted:
        assert states(objects, BUCKET, [key]) == {key: listed[key]}
    content = listed["p/gone"].content
    assert content is not None
    assert (content.size, listed["p/gone"].version.is_delete_marker) == (2, True)
    assert listed["p/markers"].content is None
    assert listed["p/zoo"].content == listed["p/zoo"].version


def test_a_lone_file_takes_two_requests(objects: S3Objects) -> None:
    put(objects, "p/a")
    archive(objects, "p/gone")
    for key in ("p/a", "p/gone", "p/never"):
        with requests_of(objects.client) as counted:
            states(objects, BUCKET, [key])
        assert counted.total() <= 2


def test_a_hundred_files_of_a_folder_take_one_request(objects: S3Objects) -> None:
    keys = [f"p/{n:03}.glb" for n in range(100)]
    for key in keys:
        put(objects, key)
    with requests_of(objects.client) as counted:
        read = states(objects, BUCKET, keys)
    assert counted == Counter(ListObjectVersions=1)
    assert len(read) == 100


class Listed:
    """A bucket of many keys, listed in pages of a thousand; only what a listing needs."""

    def __init__(self, keys: list[str]) -> None:
        self.keys = sorted(keys)
        self.requests = 0

    def list_versions(
        self,
        bucket: str,
        prefix: str,
        *,
        limit: int = 1000,
        after_key: str | None = None,
        after_version_id: str | None = None,
    ) -> VersionPage:
        from tests.factories.search import NOON

        self.requests += 1
        keys = [k for k in self.keys if k.startswith(prefix) and k > (after_key or "")]
        page = tuple(ObjectVersion(key, "v", True, NOON) for key in keys[:limit])
        return VersionPage(page, page[-1].key if len(keys) > limit else None, "v")


@pytest.mark.parametrize("step", [1, 700, 5000])
def test_a_listing_never_takes_more_requests_than_there_are_files(step: int) -> None:
    listed = Listed([f"p/{n:06}.glb" for n in range(30_000)] + ["p/000000.glb.previewFile.png"])
    wanted = [f"p/{n:06}.glb" for n in range(0, 30_000, step)][:200]
    objects: Any = listed
    read = states(objects, BUCKET, wanted)
    assert set(read) == set(wanted)
    assert preview_key(read["p/000000.glb"]) == "p/000000.glb.previewFile.png"
    assert listed.requests <= min(len(wanted), 31)


@pytest.mark.parametrize("key", ["a", "dir/x.glb", "é", "a\ue000", "a ", "0", "😀"])
def test_a_text_just_below_a_key_is_less_than_it(key: str) -> None:
    assert key_before(key) < key
    key_before(key).encode()
