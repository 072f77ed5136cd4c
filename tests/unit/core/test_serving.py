"""The server decides type and disposition of a file, whatever its name is."""

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.file_kinds import can_run_script, serving_of

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


@pytest.mark.parametrize("name", SAVED)
def test_what_can_run_a_script_is_saved_as_a_type_that_means_nothing(name: str) -> None:
    found = serving_of(f"statue/{name}")
    assert found.content_type == "application/octet-stream"
    assert found.disposition == f"attachment; filename*=UTF-8''{name}"


def test_an_svg_is_an_image_in_a_page_and_saved_by_itself() -> None:
    found = serving_of("statue/a.svg")
    assert found.content_type == "image/svg+xml"
    assert found.disposition.startswith("attachment; ")


@pytest.mark.parametrize("name", SHOWN)
def test_images_models_and_plain_texts_are_shown(name: str) -> None:
    found = serving_of(f"statue/{name}")
    assert found.content_type == SHOWN[name]
    assert found.disposition.startswith("inline; ")


@pytest.mark.parametrize("name", ["a", "a.", ".html", "a.unheard", "a.svgz", "a.bin", "a.zip"])
def test_what_is_unknown_is_saved(name: str) -> None:
    found = serving_of(f"statue/{name}")
    assert found.disposition.startswith("attachment; ")
    assert not can_run_script(found.content_type)


@given(
    name=st.text(st.characters(exclude_categories=["Cs"]), max_size=40), prefix=st.text(max_size=5)
)
def test_no_name_ends_the_header_or_begins_another(name: str, prefix: str) -> None:
    key = f"{prefix.encode(errors='replace').decode()}/{name}"
    found = serving_of(key)
    assert re.fullmatch(
        r"(inline|attachment); filename\*=UTF-8''[A-Za-z0-9._~%-]*", found.disposition
    )
    assert re.fullmatch(r"[a-z0-9]+/[A-Za-z0-9.+_-]+", found.content_type)
    shown = unquote(found.disposition.partition("''")[2])
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
