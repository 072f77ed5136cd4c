"""Files that mean harm: each ends in bounded time and memory, with facts or with a reason."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.processing.jail.parent import Jail
from tests.unit.processing import samples
from tests.unit.processing.test_jail import Folder, run

LARGEST = 800 << 20
LONGEST = 25


@pytest.fixture(scope="module")
def jail() -> Iterator[Jail]:
    started = Jail(seconds=LONGEST)
    yield started
    started.close()


def gltf(**changes: Any) -> bytes:
    return samples.encoded(samples.cube_gltf(**changes))


def huge_accessor() -> bytes:
    document = samples.cube_gltf()
    document["accessors"][0] = {"componentType": 5126, "count": 900_000_000, "type": "VEC3"}
    return samples.encoded(document)


def lying_glb() -> bytes:
    whole = samples.glb(samples.cube_gltf(), samples.cube_binary())
    return whole[:12] + struct.pack("<I", 0xFFFFFFF0) + whole[16:]


def instances() -> bytes:
    """A small file with 2 to the power of 40 instances: each node has the next one twice."""
    nodes: list[dict[str, Any]] = [{"children": [n + 1, n + 1]} for n in range(40)]
    return gltf(nodes=[*nodes, {"mesh": 0}])


def empty_meshes() -> bytes:
    count = 100_000
    nodes = [{"mesh": n} for n in range(count)]
    meshes: list[dict[str, Any]] = [{"primitives": [{"attributes": {}}]}] * count
    return gltf(nodes=nodes, meshes=meshes, scenes=[{"nodes": list(range(count))}])


def laughs() -> bytes:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    head = f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY e0 "ha">{entities}]>'
    return f'{head}<COLLADA version="1.4.1"><asset>&e11;</asset></COLLADA>'.encode()


def png_bomb() -> bytes:
    """An image of 3.6 gigapixels in a few kB."""

    def chunk(name: bytes, content: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + checksum

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    rows = chunk(b"IDAT", zlib.compress(b"\0" * 5_000_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + rows + chunk(b"IEND", b"")


def archive(*files: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in files:
            written.writestr(name, content)
    return out.getvalue()


def lying_archive() -> bytes:
    """An archive of a few bytes whose directory says that its file has 4 GB."""
    whole = archive(("3D/3dmodel.model", b"<model/>"))
    at = whole.index(b"PK\x01\x02")
    return whole[: at + 24] + struct.pack("<I", 0xFFFFFFF0) + whole[at + 28 :]


def zip_slip() -> bytes:
    relations = b'<Relationships><Relationship Target="/../../../etc/passwd"/></Relationships>'
    return archive(("../../../../tmp/slipped.model", b"<model/>"), ("_rels/.rels", relations))


def las_header() -> bytes:
    head = bytearray(227)
    head[:4] = b"LASF"
    head[24:26] = bytes((1, 2))
    struct.pack_into("<HII", head, 94, 227, 227, 0)
    struct.pack_into("<BHI", head, 104, 0, 20, 0xFFFFFFFF)
    return bytes(head)


def ply(count: int) -> bytes:
    header = f"ply\nformat binary_little_endian 1.0\nelement vertex {count}\nproperty float x\n"
    return header.encode() + b"property float y\nproperty float z\nend_header\n" + b"\0" * 60


_DEEP = b'{"asset":{"version":"2.0"},"extras":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
REFUSED: dict[str, Callable[[], bytes]] = {
    "bomb.png": png_bomb,
    "huge.gltf": huge_accessor,
    "huge.glb": lying_glb,
    "instances.gltf": instances,
    "deep.gltf": lambda: _DEEP,
    "cycle.gltf": lambda: gltf(nodes=[{"children": [1]}, {"children": [0]}]),
    "count.stl": lambda: b"\0" * 80 + struct.pack("<I", 0xFFFFFFFF) + b"\0" * 50,
    "count.ply": lambda: ply(4_000_000_000),
    "count2.ply": lambda: ply(11_000_000),
    "count.off": lambda: b"OFF\n2000000000 2000000000 0\n0 0 0\n",
    "count.las": las_header,
    "laughs.dae": laughs,
    "archive.3mf": lying_archive,
    "slip.3mf": zip_slip,
    "truncated.glb": lambda: samples.glb(samples.cube_gltf(), samples.cube_binary())[:300],
    "truncated.stl": lambda: samples.cube_stl()[:-20],
    "image.glb": samples.png,
    "model.png": samples.cube_obj,
    "model.pdf": samples.cube_obj,
    "external.gltf": lambda: gltf(buffers=[{"byteLength": 240, "uri": "https://example.com/a"}]),
    "outside.gltf": lambda: gltf(buffers=[{"byteLength": 240, "uri": "../../../etc/passwd"}]),
    "absolute.gltf": lambda: gltf(buffers=[{"byteLength": 240, "uri": "file:///etc/passwd"}]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_with_a_reason(name: str, jail: Jail, tmp_path: Path) -> None:
    asset = Folder(secret=b"")
    found = run(jail, tmp_path, f"models/{name}", REFUSED[name](), asset)
    assert found.result.refused
    assert "crash" not in found.result.refused
    assert found.result.facts == {}
    assert asset.fetched == []
    assert found.usage.peak_bytes < LARGEST
    assert found.usage.seconds < LONGEST


def test_a_hundred_thousand_empty_meshes_are_counted(jail: Jail, tmp_path: Path) -> None:
    found = run(jail, tmp_path, "empty.gltf", empty_meshes())
    assert found.result.refused is None
    assert found.result.facts["meshes"] == 100_000
    assert found.usage.peak_bytes < LARGEST


def test_coordinates_that_are_no_numbers_are_left_out(jail: Jail, tmp_path: Path) -> None:
    lines = "v nan inf 1e999\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 2 3 4\nf 2 99999999 -5\n"
    found = run(jail, tmp_path, "nan.obj", lines.encode())
    assert json.loads(str(found.result.facts["boundsMax"])) == [1.0, 1.0, 1.0]
    assert found.thumbnail is not None
    assert found.glb is not None


def test_a_reference_to_itself_ends(jail: Jail, tmp_path: Path) -> None:
    data = b"mtllib loop.obj\n" + samples.cube_obj()
    found = run(jail, tmp_path, "loop.obj", data, Folder(loop__obj=data))
    assert [each.state for each in found.result.references] == ["found"]
    assert found.result.facts["triangles"] == 12
