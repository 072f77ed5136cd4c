"""The shipped samples are what the script makes, and are valid files of their formats."""

import json
import struct
import zlib
from pathlib import Path

import pytest

from samples.make import library, write

LIBRARY = Path(__file__).parents[3] / "samples" / "library"
FILES = {
    path.relative_to(LIBRARY).as_posix(): path.read_bytes()
    for path in sorted(LIBRARY.rglob("*"))
    if path.is_file()
}


def of(extension: str) -> list[str]:
    found = [name for name in FILES if name.endswith(extension)]
    assert found, f"no sample ends with {extension}"
    return found


def test_the_script_makes_the_committed_files_byte_for_byte(tmp_path: Path) -> None:
    assert write(tmp_path) == len(FILES)
    made = {
        path.relative_to(tmp_path).as_posix(): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert made == FILES == library()


def test_the_samples_are_small_and_lie_in_five_folders_and_beside_them() -> None:
    assert sum(len(content) for content in FILES.values()) < 500_000
    assert len({name.partition("/")[0] for name in FILES if "/" in name}) == 5
    assert [name for name in FILES if "/" not in name] == ["about.csv"]


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


def test_the_gltf_names_its_buffer() -> None:
    document = json.loads(FILES["lamp/lamp.gltf"])
    assert document["buffers"][0]["uri"] == "lamp.bin"
    check_gltf(document, FILES["lamp/lamp.bin"])


def check_gltf(document: dict[str, list[dict[str, int]]], binary: bytes) -> None:
    """Views lie in the buffer, indices point at existing points, limits are the points' own."""
    assert document["buffers"][0]["byteLength"] == len(binary)
    position, index = document["accessors"]
    index_view, position_view = document["bufferViews"]
    for view in (index_view, position_view):
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] + view["byteLength"] <= len(binary)
    indices = struct.unpack_from(f"<{index['count']}H", binary, index_view["byteOffset"])
    assert max(indices) < position["count"]
    count = position["count"]
    assert position_view["byteLength"] == 12 * count
    flat = struct.unpack_from(f"<{3 * count}f", binary, position_view["byteOffset"])
    columns = [flat[axis::3] for axis in range(3)]
    assert position["min"] == [min(column) for column in columns]
    assert position["max"] == [max(column) for column in columns]


@pytest.mark.parametrize("name", of(".obj"))
def test_an_obj_uses_points_and_a_material_that_exist(name: str) -> None:
    lines = [line.split() for line in FILES[name].decode().splitlines()]
    points = sum(words[0] == "v" for words in lines)
    faces = [words[1:] for words in lines if words[0] == "f"]
    assert faces
    assert all(1 <= int(corner) <= points for face in faces for corner in face)
    [library_name] = [words[1] for words in lines if words[0] == "mtllib"]
    [material] = [words[1] for words in lines if words[0] == "usemtl"]
    materials = FILES[f"{name.rpartition('/')[0]}/{library_name}"].decode()
    assert f"newmtl {material}\n" in materials


def test_the_binary_stl_has_the_facets_that_it_counts() -> None:
    content = FILES["machine-parts/gear.stl"]
    (facets,) = struct.unpack_from("<I", content, 80)
    assert facets > 0
    assert len(content) == 84 + 50 * facets


def test_the_text_stl_closes_what_it_opens() -> None:
    text = FILES["machine-parts/bolt.stl"].decode()
    assert text.startswith("solid bolt\n")
    assert text.endswith("endsolid bolt\n")
    assert text.count("facet normal") == text.count("endfacet") == text.count("vertex") / 3 == 12


@pytest.mark.parametrize("name", of(".ply"))
def test_a_ply_has_the_elements_that_its_header_counts(name: str) -> None:
    header, _, body = FILES[name].partition(b"end_header\n")
    lines = header.decode().splitlines()
    assert lines[0] == "ply"
    counts = {words[1]: int(words[2]) for words in map(str.split, lines) if words[0] == "element"}
    if "binary" in lines[1]:
        assert len(body) == 15 * counts["vertex"]
    else:
        assert len(body.splitlines()) == counts["vertex"] + counts["face"]


def test_the_point_cloud_holds_its_points_within_its_limits() -> None:
    content = FILES["survey/hills.las"]
    assert content[:4] == b"LASF"
    assert content[24:26] == b"\x01\x02"
    header_size, offset = struct.unpack_from("<HI", content, 94)
    point_format, length, points = struct.unpack_from("<BHI", content, 104)
    assert (header_size, offset, point_format, length) == (227, 227, 0, 20)
    assert points == 1_600
    assert len(content) == offset + points * length
    scale = struct.unpack_from("<3d", content, 131)
    limits = struct.unpack_from("<6d", content, 179)
    for index in range(points):
        record = struct.unpack_from("<3i", content, offset + index * length)
        for axis in range(3):
            value = record[axis] * scale[axis]
            assert limits[2 * axis + 1] - 1e-9 <= value <= limits[2 * axis] + 1e-9


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
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + 3 * width)
