"""Which objects are previews, and which of several is shown: the same for listings and search."""

from datetime import datetime, timedelta

import pytest

from backend.core.file_kinds import is_asset_preview, is_file, preview_base
from backend.core.paging import PageRequest
from backend.core.previews import asset_preview_key, find_previews, shown_preview_key
from backend.domains.files.service.entries import Entries
from backend.domains.files.service.rows import page_of
from backend.search.indexing.object_states import states
from tests.factories.search import NOON
from tests.fakes.objects import MemoryObjects

BUCKET = "assetbucket"
FILE = "pump/wheel.glb"
GIF, PNG, WEBP = (f"{FILE}.previewFile.{kind}" for kind in ("gif", "png", "webp"))


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def put(objects: MemoryObjects, *keys: str) -> None:
    for key in keys:
        objects.put(BUCKET, key, b"x", content_type="image/png", metadata={})


@pytest.mark.parametrize(
    ("key", "base"),
    [
        ("a/x.e57.previewFile.gif", "a/x.e57"),
        ("a/x.previewFile.JPEG", "a/x"),
        ("a/x.previewFile.png.previewFile.gif", "a/x.previewFile.png"),
        ("a/x.previewFile.webp", "a/x"),
        ("a/x.previewFile.WEBP", None),
        ("a/x.previewFile.txt", None),
        ("a/x.previewfile.jpg", None),
        ("a/.previewFile.png", None),
        ("a/previewFile.png", None),
        ("a/x.png", None),
    ],
)
def test_a_preview_names_the_file_that_it_shows(key: str, base: str | None) -> None:
    assert preview_base(key) == base
    assert is_file(key) == (base is None)


def test_a_folder_is_no_file() -> None:
    assert is_file("a/b")
    assert not is_file("a/b/")


@pytest.mark.parametrize("order", [(PNG, GIF), (GIF, PNG)])
@pytest.mark.parametrize("others", [0, 5])
@pytest.mark.parametrize("most", [1, 2, 1000])
def test_of_two_previews_listing_description_and_search_show_the_newest(
    order: tuple[str, str], others: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.files.service.entries.MAX_BATCH", most)
    objects = MemoryObjects(clock=Clock())
    put(objects, *order, FILE, *(f"pump/{number}.glb" for number in range(others)))
    wanted = [one.key for one in objects.list_objects(BUCKET, "pump/").objects if is_file(one.key)]
    rows = page_of(Entries(objects, BUCKET, "pump/", False), "pump/", PageRequest(100)).items
    listed = {item.key: item.preview_file for item, _ in rows}
    assert listed[FILE] == order[1]
    assert shown_preview_key(objects, BUCKET, FILE) == order[1]
    preview = states(objects, BUCKET, wanted)[FILE].preview
    assert preview is not None
    assert preview.key == order[1]


@pytest.mark.parametrize("others", [0, 5])
@pytest.mark.parametrize(
    ("order", "shown", "small"),
    [
        ((PNG, WEBP), PNG, WEBP),
        ((WEBP, PNG), PNG, None),
        ((PNG, WEBP, GIF), GIF, None),
        ((GIF, WEBP), GIF, None),
        ((WEBP,), None, None),
    ],
)
def test_a_small_picture_is_shown_of_the_preview_that_it_was_written_after(
    order: tuple[str, ...], shown: str | None, small: str | None, others: int
) -> None:
    objects = MemoryObjects(clock=Clock())
    put(objects, FILE, *order, *(f"pump/{number}.glb" for number in range(others)))
    wanted = [FILE, *(f"pump/{number}.glb" for number in range(others))]
    found = states(objects, BUCKET, wanted)[FILE]
    keys = [None if one is None else one.key for one in (found.preview, found.small)]
    assert keys == [shown, small]
    rows = page_of(Entries(objects, BUCKET, "pump/", False), "pump/", PageRequest(100)).items
    assert {item.key: item.preview_file for item, _ in rows}[FILE] == shown
    assert shown_preview_key(objects, BUCKET, FILE) == shown
    assert [one.key for one in find_previews(objects, BUCKET, FILE)] == sorted(order)


@pytest.mark.parametrize(
    ("key", "is_preview"),
    [
        *(
            (f"pump/preview.{extension}", True)
            for extension in ("png", "jpg", "jpeg", "svg", "gif")
        ),
        ("pump/preview.PNG", False),
        ("pump/preview.webp", False),
        ("pump/Preview.png", False),
        ("pump/parts/preview.png", False),
        ("other/preview.png", False),
        ("pump/preview.png/part.glb", False),
    ],
)
def test_the_preview_of_an_asset_is_at_its_root(key: str, is_preview: bool) -> None:
    assert is_asset_preview("pump/", key) is is_preview
    objects = MemoryObjects()
    put(objects, key)
    assert asset_preview_key(objects, BUCKET, "pump/") == (key if is_preview else None)


@pytest.mark.parametrize("folder", ["preview.a", "preview.gif", "preview.png", "preview.t"])
def test_keys_that_begin_as_an_assets_preview_cost_few_requests(folder: str) -> None:
    requests: list[str] = []
    objects = MemoryObjects(clock=Clock(), before=requests.append)
    put(objects, *(f"pump/{folder}/{number:03}.glb" for number in range(400)))
    put(objects, "pump/preview.svg", "pump/preview.jpg")
    requests.clear()
    assert asset_preview_key(objects, BUCKET, "pump/") == "pump/preview.jpg"
    assert len(requests) <= 5
