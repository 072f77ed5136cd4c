"""The shipped samples are what the script makes, and are valid files of their formats."""

import csv
import json
import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import laspy
import numpy as np
import pypdfium2
import pytest
from PIL import Image

from samples.describe import FIELDS, rows
from samples.make import library, write

LIBRARY = Path(__file__).parents[3] / "samples" / "library"
FILES = {
    path.relative_to(LIBRARY).as_posix(): path.read_bytes()
    for path in sorted(LIBRARY.rglob("*"))
    if path.is_file()
}
FOLDERS = {name.partition("/")[0] for name in FILES}
COMPONENTS = {5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def of(extension: str) -> list[str]:
    files = [name for name in FILES if name.endswith(extension)]
    assert files, f"no sample ends with {extension}"
    return files


def test_the_script_makes_the_committed_files_byte_for_byte(tmp_path: Path) -> None:
    made = library()
    assert sorted(made) == sorted(FILES)
    assert [name for name in FILES if made[name] != FILES[name]] == []
    target = tmp_path / "library"
    assert write(target, made) == len(FILES)
    written = {p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file()}
    assert written == set(FILES)


def test_the_samples_are_small_described_and_refer_to_assets_that_exist() -> None:
    assert sum(len(content) for content in FILES.values()) < 4_000_000
    assert all("/" in name for name in FILES)
    about = rows()
    assert {row["asset"] for row in about} == FOLDERS
    assert [row["asset"] for row in about if not row["tags"] or len(row["description"]) < 4] == []
    others = {name for row in about for name in (row["parts"] + " " + row["related"]).split()}
    assert others <= FOLDERS
    assert list(FIELDS) == [key for key in about[0] if key in FIELDS]
    primary = [row["asset"] + row["primary"] for row in about if row["primary"]]
    assert [name for name in primary if name not in FILES] == []


@pytest.mark.parametrize("name", of(".glb"))
def test_a_binary_gltf_has_chunks_that_fill_it(name: str) -> None:
    content = FILES[name]
    magic, version, length = struct.unpack_from("<4sII", content)
    assert (magic, version, length) == (b"glTF", 2, len(content))
    json_length, json_kind = struct.unpack_from("<I4s", content, 12)
    binary_length, binary_kind = struct.unpack_from("<I4s", content, 20 + json_length)
    assert (json_kind, binary_kind) == (b"JSON", b"BIN\0")
    assert 28 + json_length + binary_length == length
    check_gltf(json.loads(content[20 : 20 + json_length]), content[28 + json_length :])


def test_a_gltf_names_its_buffer_and_models_that_move_have_animations() -> None:
    for name in of(".gltf"):
        document, folder = json.loads(FILES[name]), name.rpartition("/")[0]
        check_gltf(document, FILES[f"{folder}/{document['buffers'][0]['uri']}"])
    moving = ("planetary-gear", "robot-arm", "wind-turbine")
    for name in moving:
        content = FILES[f"{name}/{name}.glb"]
        document = json.loads(content[20 : 20 + struct.unpack_from("<I", content, 12)[0]])
        [animation] = document["animations"]
        for channel in animation["channels"]:
            assert channel["target"]["node"] < len(document["nodes"])
            assert channel["sampler"] < len(animation["samplers"])


def check_gltf(document: dict[str, Any], binary: bytes) -> None:
    """Views are inside the buffer, indices name points, limits are those of the points."""
    assert document["buffers"][0]["byteLength"] == len(binary)
    for view in document["bufferViews"]:
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] + view["byteLength"] <= len(binary)
    arrays = [array_of(document, binary, item) for item in document["accessors"]]
    for accessor, values in zip(document["accessors"], arrays, strict=True):
        if "min" in accessor:
            assert accessor["min"] == values.min(0).tolist()
            assert accessor["max"] == values.max(0).tolist()
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            attributes = {name: arrays[at] for name, at in primitive["attributes"].items()}
            assert len({len(values) for values in attributes.values()}) == 1
            assert arrays[primitive["indices"]].max() < len(attributes["POSITION"])
            lengths = np.linalg.norm(attributes["NORMAL"], axis=1)
            assert np.abs(lengths - 1).max() < 0.002


def array_of(document: dict[str, Any], binary: bytes, accessor: dict[str, Any]) -> Any:
    kind, width = COMPONENTS[accessor["componentType"]], WIDTHS[accessor["type"]]
    start = document["bufferViews"][accessor["bufferView"]]["byteOffset"]
    flat = np.frombuffer(binary, kind, accessor["count"] * width, start)
    return flat.reshape(accessor["count"], width)


@pytest.mark.parametrize("name", of(".obj"))
def test_an_obj_uses_points_and_materials_that_exist(name: str) -> None:
    lines = [line.split() for line in FILES[name].decode().splitlines()]
    counts = [sum(words[0] == kind for words in lines) for kind in ("v", "vt", "vn")]
    corners = [corner for words in lines if words[0] == "f" for corner in words[1:]]
    assert corners
    for corner in corners:
        numbers = map(int, corner.split("/"))
        assert all(1 <= at <= count for at, count in zip(numbers, counts, strict=True)), corner
    [library_name] = [words[1] for words in lines if words[0] == "mtllib"]
    materials = FILES[f"{name.rpartition('/')[0]}/{library_name}"].decode()
    used = [words[1] for words in lines if words[0] == "usemtl"]
    assert [item for item in used if f"newmtl {item}\n" not in materials] == []


def test_both_forms_of_stl_have_their_facets() -> None:
    content = FILES["gear/gear.stl"]
    (facets,) = struct.unpack_from("<I", content, 80)
    assert facets > 0
    assert len(content) == 84 + 50 * facets
    text = FILES["bolt/washer.stl"].decode()
    assert text.startswith("solid washer\n")
    assert text.endswith("endsolid washer\n")
    facets = text.count("facet normal")
    assert facets == text.count("endfacet") == text.count("vertex") / 3 == 192


@pytest.mark.parametrize("name", of(".ply"))
def test_a_ply_has_the_elements_that_its_header_counts(name: str) -> None:
    header, _, body = FILES[name].partition(b"end_header\n")
    lines = header.decode().splitlines()
    assert lines[0] == "ply"
    counts = {words[1]: int(words[2]) for words in map(str.split, lines) if words[0] == "element"}
    if "binary" in lines[1]:
        assert len(body) == 15 * counts["vertex"] + 13 * counts["face"]
    else:
        assert len(body.splitlines()) == counts["vertex"] + counts["face"]


@pytest.mark.parametrize("name", ["survey/hills.las", "survey/hills.laz"])
def test_a_point_cloud_has_its_points_within_its_limits_and_colours(name: str) -> None:
    reader: Any = laspy
    cloud: Any = reader.read(BytesIO(FILES[name]))
    assert len(cloud.x) == cloud.header.point_count > 1_000
    for axis, values in enumerate((cloud.x, cloud.y, cloud.z)):
        assert cloud.header.mins[axis] == pytest.approx(min(values))
        assert cloud.header.maxs[axis] == pytest.approx(max(values))
    assert cloud.header.are_points_compressed == name.endswith(".laz")
    assert len({*cloud.green}) > 20


@pytest.mark.parametrize("name", of(".png"))
def test_a_picture_has_right_checksums_and_all_its_rows(name: str) -> None:
    content = FILES[name]
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        data = content[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", content, at + 8 + length) == (zlib.crc32(kind + data),)
        chunks[kind] = data
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + width // 2)


@pytest.mark.parametrize("name", [name for name in of(".jpg") if name.startswith("photos/")])
def test_a_photo_notes_camera_time_and_place(name: str) -> None:
    with Image.open(BytesIO(FILES[name])) as image:
        exif = image.getexif()
        details, place = exif.get_ifd(0x8769), exif.get_ifd(0x8825)
    assert exif[0x0110] == "Sample Camera 1"
    assert details[0x9003] == exif[0x0132]
    assert (place[1], place[3]) == ("N", "E")


def test_the_step_file_the_drawing_and_the_table_are_complete() -> None:
    lines = (
        FILES["flange/flange.step"].decode().split("DATA;\n")[1].split("\nENDSEC")[0].split("\n")
    )
    defined = {line.partition("=")[0] for line in lines}
    used = {
        "#" + "".join(part[: next((i for i, c in enumerate(part) if not c.isdigit()), None)])
        for line in lines
        for part in line.partition("=")[2].split("#")[1:]
    }
    assert used - defined == set()
    reader: Any = pypdfium2
    document = reader.PdfDocument(FILES["flange/flange.pdf"])
    assert len(document) == 1
    document.close()
    [*parts] = csv.DictReader(FILES["planetary-gear/parts.csv"].decode().splitlines())
    assert sum(int(part["count"]) for part in parts) == 6
    assert all(float(part["mass_kg"]) > 0 for part in parts)
