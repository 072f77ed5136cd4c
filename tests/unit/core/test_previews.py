"""Which objects are previews; the type and disposition by which the server returns a file."""

import re
from datetime import datetime, timedelta
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.file_kinds import (
    can_run_script,
    is_asset_preview,
    is_file,
    preview_base,
    serving_of,
)
from backend.core.paging import PageRequest
from backend.core.previews import asset_preview_key, find_previews, shown_preview_key
from backend.domains.files.service.rows import Entries, page_of
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


def test_a_preview_names_the_file_that_it_shows() -> None:
    for key, base in (
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
    ):
        assert preview_base(key) == base
        assert is_file(key) == (base is None)
    assert is_file("a/b")
    assert not is_file("a/b/")


@pytest.mark.parametrize("order", [(PNG, GIF), (GIF, PNG)])
@pytest.mark.parametrize("others", [0, 5])
@pytest.mark.parametrize("most", [1, 2, 1000])
def test_of_two_previews_listing_description_and_search_show_the_newest(
    order: tuple[str, str], others: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.files.service.rows.MAX_BATCH", most)
    objects = MemoryObjects(clock=Clock())
    put(objects, *order, FILE, *(f"pump/{number}.glb" for number in range(others)))
    wanted = [
        item.key for item in objects.list_objects(BUCKET, "pump/").objects if is_file(item.key)
    ]
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
    state = states(objects, BUCKET, wanted)[FILE]
    keys = [None if item is None else item.key for item in (state.preview, state.small)]
    assert keys == [shown, small]
    rows = page_of(Entries(objects, BUCKET, "pump/", False), "pump/", PageRequest(100)).items
    assert {item.key: item.preview_file for item, _ in rows}[FILE] == shown
    assert shown_preview_key(objects, BUCKET, FILE) == shown
    assert [item.key for item in find_previews(objects, BUCKET, FILE)] == sorted(order)


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


SAVED = [
    "a.html", "a.HTM", "a.xhtml", "a.xht", "a.xml", "a.XML", "a.xsl", "a.xslt", "a.js", "a.mjs",
    "a.swf", "a.mht", "a.mhtml", "a.eml", "a.rdf", "a.dae", "a.x3d", "a.hta", "a.jar", "a.shtml",
]  # fmt: skip
SHOWN = {
    "a.png": "image/png",
    "a.JPG": "image/jpeg",
    "a.glb": "model/gltf-binary",
    "a.gltf": "model/gltf+json",
    "a.pdf": "application/pdf",
    "a.txt": "text/plain",
    "a.json": "application/json",
    "a.mp4": "video/mp4",
}


def test_what_can_run_a_script_or_is_unknown_is_saved_and_the_rest_is_shown() -> None:
    for name in SAVED:
        serving = serving_of(f"statue/{name}")
        assert serving.content_type == "application/octet-stream"
        assert serving.disposition == f"attachment; filename*=UTF-8''{name}"
    serving = serving_of("statue/a.svg")
    assert serving.content_type == "image/svg+xml"
    assert serving.disposition.startswith("attachment; ")
    for name, content_type in SHOWN.items():
        serving = serving_of(f"statue/{name}")
        assert serving.content_type == content_type
        assert serving.disposition.startswith("inline; ")
    for name in ("a", "a.", ".html", "a.unheard", "a.svgz", "a.bin", "a.zip"):
        serving = serving_of(f"statue/{name}")
        assert serving.disposition.startswith("attachment; ")
        assert not can_run_script(serving.content_type)


@given(
    name=st.text(st.characters(exclude_categories=["Cs"]), max_size=40), prefix=st.text(max_size=5)
)
def test_no_name_ends_the_header_or_begins_another(name: str, prefix: str) -> None:
    key = f"{prefix.encode(errors='replace').decode()}/{name}"
    serving = serving_of(key)
    assert re.fullmatch(
        r"(inline|attachment); filename\*=UTF-8''[A-Za-z0-9._~%-]*", serving.disposition
    )
    assert re.fullmatch(r"[a-z0-9]+/[A-Za-z0-9.+_-]+", serving.content_type)
    shown = unquote(serving.disposition.partition("''")[2])
    assert len(shown) == len(key.rsplit("/", 1)[-1])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ('a"; filename="b.exe', "a%22%3B%20filename%3D%22b.exe"),
        ("a\r\nSet-Cookie: b=c", "a__Set-Cookie%3A%20b%3Dc"),
        ("a\x00b\x1b\x85", "a_b__"),
        ("invoice\u202egpj.exe", "invoice_gpj.exe"),
        ("\u2066a\u2069", "_a_"),
        ("größe 1.glb", "gr%C3%B6%C3%9Fe%201.glb"),
        ("\U0001f468\u200d\U0001f469", "%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9"),
        ("a%0d%0ab", "a%250d%250ab"),
        ("a'b''c", "a%27b%27%27c"),
    ],
)
def test_a_name_goes_into_the_header_encoded(name: str, shown: str) -> None:
    assert serving_of(f"statue/{name}").disposition.partition("''")[2] == shown
