"""The newest versions of keys, over an object store in memory."""

import pytest

from backend.core.delete_markers import markers_hiding, newest
from tests.fakes.objects import MemoryObjects

KEYS = ["a/1", "a/2 +ä", "a/3", "a/5"]


def put(objects: MemoryObjects, key: str) -> str:
    return objects.put("b", key, b"x", content_type="text/plain", metadata={}).version_id


@pytest.fixture
def objects() -> MemoryObjects:
    return MemoryObjects()


def test_the_newest_version_and_the_one_below_are_reported_of_each_key(
    objects: MemoryObjects,
) -> None:
    first = [put(objects, key) for key in ("a/0", *KEYS, "a/6")]
    second = put(objects, "a/3")
    objects.delete("b", "a/5")
    put(objects, "a/4")
    found = {one.version.key: one for one in newest(objects, "b", "a/", KEYS)}
    assert list(found) == KEYS
    assert (found["a/1"].version.version_id, found["a/1"].below) == (first[1], None)
    assert found["a/3"].version.version_id == second
    below = found["a/3"].below
    assert below is not None
    assert below.version_id == first[3]
    (hidden,) = markers_hiding(objects, "b", "a/", KEYS)
    assert (hidden.version.key, hidden.below and hidden.below.version_id) == ("a/5", first[4])


def test_no_keys_take_no_request(objects: MemoryObjects) -> None:
    requests: list[str] = []
    objects.before = requests.append
    assert newest(objects, "b", "a/", []) == []
    assert requests == []


def test_histories_of_any_length_are_passed_over(objects: MemoryObjects) -> None:
    last = {key: [put(objects, key) for _ in range(100)][-1] for key in KEYS}
    requests: list[str] = []
    objects.before = requests.append
    found = newest(objects, "b", "a/", KEYS)
    assert {one.version.key: one.version.version_id for one in found} == last
    assert len(requests) == len(KEYS)


def test_a_version_below_that_is_on_the_next_page_is_reported(
    objects: MemoryObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.core.delete_markers._LISTED", 1)
    monkeypatch.setattr("backend.core.delete_markers._LEAST_LISTED", 1)
    version = put(objects, "a/1")
    objects.delete("b", "a/1")
    (hidden,) = markers_hiding(objects, "b", "a/", ["a/1"])
    assert hidden.below is not None
    assert hidden.below.version_id == version
