"""States of objects are the same whether keys are requested one by one or listed."""

from collections import Counter
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.objects import ObjectVersion, VersionPage, key_before
from backend.search.indexing.object_states import ObjectState, states
from tests.fakes.counting import requests_of
from tests.fakes.objects import MemoryObjects

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
