"""Hostile files: each ends in bounded time and memory, with facts or with a reason."""

import json
import math
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from backend.processing.jail.confinement import Bounds
from backend.processing.jail.parent import Jail, Outcome
from tests.integration.processing.test_jail import Folder, run
from tests.unit.processing import cad, samples
from tests.unit.processing.samples import RELATIONS, archive
from tests.unit.processing.test_documents import cloud, pdf
from tests.unit.processing.test_models import CUBES, draco_glb

LARGEST = 800 << 20
LONGEST = 25


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


def lying_archive() -> bytes:
    """An archive of a few bytes whose directory declares a file of 4 GB."""
    whole = archive(("3D/3dmodel.model", b"<model/>"))
    at = whole.index(b"PK\x01\x02")
    return whole[: at + 24] + struct.pack("<I", 0xFFFFFFF0) + whole[at + 28 :]


def zip_bomb() -> bytes:
    """A 3MF of 4 MB whose model has 4 GB, as its directory declares."""
    blocks = 255
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = (block.compress(bytes(1 << 24)) + block.flush(zlib.Z_FULL_FLUSH)) * blocks
    name = b"3D/m.model"
    sizes = struct.pack("<III", 0, len(zeros), blocks << 24)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes
    local += struct.pack("<HH", len(name), 0) + name + zeros
    whole = archive(("_rels/.rels", RELATIONS))
    at = whole.index(b"PK\1\2")
    listed = whole[at : whole.index(b"PK\5\6")]
    listed += b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes
    listed += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, at) + name
    end = struct.pack("<HHHHIIH", 0, 0, 2, 2, len(listed), at + len(local), 0)
    return whole[:at] + local + listed + b"PK\5\6" + end


def zip_slip() -> bytes:
    relations = b'<Relationships><Relationship Target="/../../../etc/passwd"/></Relationships>'
    return archive(("../../../../tmp/slipped.model", b"<model/>"), ("_rels/.rels", relations))


def textured_slip() -> bytes:
    """A model whose texture and part are outside of its archive."""
    corners = "".join(f'<vertex x="{x:g}" y="{y:g}" z="{z:g}"/>' for x, y, z in samples.CORNERS)
    triangles = "".join(
        f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in samples.TRIANGLES.tolist()
    )
    mesh = f"<mesh><vertices>{corners}</vertices><triangles>{triangles}</triangles></mesh>"
    model = (
        '<model unit="millimeter" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02">'
        '<resources><texture2d id="2" path="/../../../etc/passwd" contenttype="image/png"/>'
        f'<object id="1" type="model">{mesh}</object></resources>'
        '<build><item objectid="1"/></build></model>'
    )
    return archive(
        ("_rels/.rels", RELATIONS),
        ("3D/m.model", model.encode()),
        ("../../../../tmp/slipped.model", b"slipped"),
    )


def compressed_bomb() -> bytes:
    """Ten gigabytes of zeros in 10 MB, as one stream of zlib."""
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = block.compress(bytes(1 << 24)) + block.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\x9c" + zeros * 640


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


def referring(kind: str, reference: str) -> bytes:
    """A model that has something at `reference`."""
    if kind == "obj":
        return samples.cube_obj(f"mtllib {reference}\n")
    if kind == "gltf":
        return gltf(images=[{"uri": reference}], textures=[{"source": 0}], materials=[PAINTED])
    head = 'AC3Db\nMATERIAL "m" rgb 1 1 1 amb 1 1 1 emis 0 0 0 spec 0 0 0 shi 0 trans 0\n'
    corners = "numvert 3\n0 0 0\n1 0 0\n0 1 0\n"
    surface = "numsurf 1\nSURF 0x20\nmat 0\nrefs 3\n0 0 0\n1 1 0\n2 0 1\nkids 0\n"
    group = f'OBJECT world\nkids 1\nOBJECT poly\ntexture "{reference}"\n'
    return f"{head}{group}{corners}{surface}".encode()


PAINTED = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}


def cloud_without_bounds() -> bytes:
    data = bytearray(cloud(compressed=False))
    struct.pack_into("<6d", data, 131, *[math.nan] * 3, *[math.inf] * 3)  # scales and offsets
    return bytes(data)


BOUNDLESS: dict[str, Callable[[], bytes]] = {
    "stl": lambda: samples.cube_stl()[:84] + struct.pack("<12fH", *[math.nan] * 12, 0) * 12,
    "glb": lambda: samples.glb(
        samples.cube_gltf(),
        struct.pack("<24f", *[math.nan, math.inf, 1] * 8) + samples.TRIANGLES.tobytes(),
    ),
    "off": lambda: b"OFF\n3 1 0\nnan nan nan\ninf 0 0\n0 1e999 0\n3 0 1 2\n",
    "las": cloud_without_bounds,
}
SAMPLES: dict[str, Callable[[], bytes]] = {
    "cube.glb": lambda: samples.glb(samples.cube_gltf(), samples.cube_binary()),
    "cube.obj": samples.cube_obj,
    "cube.ply": lambda: samples.cube_ply(binary=True),
    "cube.stl": samples.cube_stl,
    "cube.off": lambda: CUBES["off"],
    "cube.step": cad.cube_step,
    "slip.3mf": textured_slip,
    "draco.glb": draco_glb,
    "plan.pdf": pdf,
    "scan.las": lambda: cloud(compressed=False),
    "scan.laz": lambda: cloud(compressed=True),
    "photo.png": lambda: samples.png((64, 64)),
}
_DEEP = b'{"asset":{"version":"2.0"},"extras":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
REFUSED: dict[str, Callable[[], bytes]] = {
    "bomb.png": png_bomb,
    "huge.gltf": huge_accessor,
    "huge.glb": lying_glb,
    "instances.gltf": instances,
    "deep.gltf": lambda: _DEEP,
    "cycle.gltf": lambda: gltf(nodes=[{"children": [1]}, {"children": [0]}]),
    "loop.lws": lambda: b"LWSC\n3\n\nLoadObjectLayer 1 1000 loop.lws\n",
    "count.stl": lambda: b"\0" * 80 + struct.pack("<I", 0xFFFFFFFF) + b"\0" * 50,
    "count.ply": lambda: ply(4_000_000_000),
    "count2.ply": lambda: ply(11_000_000),
    "count.off": lambda: b"OFF\n2000000000 2000000000 0\n0 0 0\n",
    "count.las": las_header,
    "header.ply": lambda: b"ply\nformat ascii 1.0\n" + b"property float x\n" * 100_000,
    "header.stl": lambda: b"solid " + b"x" * 5_000_000,
    "header.glb": lambda: struct.pack("<4sIIII", b"glTF", 2, 20, 0xFFFFFFFF, 0x4E4F534A),
    "laughs.dae": laughs,
    "archive.3mf": lying_archive,
    "bomb.3mf": zip_bomb,
    "slip.3mf": zip_slip,
    "truncated.glb": lambda: samples.glb(samples.cube_gltf(), samples.cube_binary())[:300],
    "truncated.stl": lambda: samples.cube_stl()[:-20],
    "image.glb": samples.png,
    "model.png": samples.cube_obj,
    "model.pdf": samples.cube_obj,
    "image.stl": samples.png,
    "image.las": samples.png,
    "image.step": samples.png,
    "archive.ply": lambda: archive(("a.ply", samples.cube_ply(binary=True))),
    "program.obj": lambda: b"\x7fELF\2\1\1" + b"\0" * 4000,
    "external.gltf": lambda: gltf(buffers=[{"byteLength": 240, "uri": "https://example.com/a"}]),
    "outside.gltf": lambda: gltf(buffers=[{"byteLength": 240, "uri": "../../../etc/passwd"}]),
    "absolute.gltf": lambda: gltf(buffers=[{"byteLength": 240, "uri": "file:///etc/passwd"}]),
}


def assert_bounded(found: Outcome) -> None:
    """No content of a file takes much time or memory."""
    assert found.usage.peak_bytes < LARGEST
    assert found.usage.seconds < LONGEST


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_with_a_reason(name: str, jail: Jail, tmp_path: Path) -> None:
    asset = Folder(secret=b"")
    done = run(jail, tmp_path, f"models/{name}", REFUSED[name](), asset)
    assert done.result.refused
    assert "crash" not in done.result.refused
    assert done.result.facts == {}
    assert asset.fetched == []
    assert_bounded(done)


def test_a_compressed_bomb_ends_at_the_bound_of_memory(
    jail: Jail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jail, "bounds", Bounds(memory_bytes=256 << 20))
    done = run(jail, tmp_path, "bomb.zgl", compressed_bomb())
    assert done.result.refused == "needs more memory than allowed"
    assert done.usage.peak_bytes < 512 << 20
    assert done.usage.seconds < LONGEST


@pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_truncated_file_has_facts_or_a_reason(
    name: str, part: float, jail: Jail, tmp_path: Path
) -> None:
    data = SAMPLES[name]()
    done = run(jail, tmp_path, name, data[: int(len(data) * part)])
    assert bool(done.result.refused) != bool(done.result.facts)
    assert "crash" not in (done.result.refused or "")
    assert_bounded(done)


@pytest.mark.parametrize(
    ("reference", "state"),
    [
        ("https://example.com/a.png", "external"),
        ("//example.com/a.png", "absolute"),
        ("file:///etc/passwd", "absolute"),
        ("/etc/passwd", "absolute"),
        ("C:\\Windows\\win.ini", "absolute"),
        ("../../../etc/passwd", "outside"),
        ("..\\..\\..\\etc\\passwd", "outside"),
        ("%2e%2e/%2e%2e/%2e%2e/etc/passwd", "outside"),
    ],
)
@pytest.mark.parametrize("kind", ["gltf", "obj", "ac"])
def test_a_reference_out_of_the_asset_is_reported_and_not_followed(
    kind: str, reference: str, state: str, jail: Jail, tmp_path: Path
) -> None:
    if kind != "gltf":  # the other names are no URIs
        reference = unquote(reference)
    files: dict[str, bytes] = {"models/cube__bin": samples.cube_binary()}
    asset = Folder(**files)
    done = run(jail, tmp_path, f"models/a.{kind}", referring(kind, reference), asset)
    assert done.result.refused is None
    assert [item.state for item in done.result.references if item.kind != "buffer"] == [state]
    assert set(asset.fetched) <= {"models/cube.bin"}
    assert_bounded(done)


def test_an_archive_that_leads_out_of_itself_is_read_without_that(
    jail: Jail, tmp_path: Path
) -> None:
    done = run(jail, tmp_path, "slip.3mf", textured_slip())
    assert done.result.refused is None
    assert done.result.facts["triangles"] == 12
    assert not Path("/tmp/slipped.model").exists()
    assert_bounded(done)


@pytest.mark.parametrize("kind", BOUNDLESS)
def test_bounds_that_are_no_numbers_are_no_facts(kind: str, jail: Jail, tmp_path: Path) -> None:
    done = run(jail, tmp_path, f"nan.{kind}", BOUNDLESS[kind]())
    assert "crash" not in (done.result.refused or "")
    assert not {"boundsMin", "boundsMax", "sizeX", "area", "volume"} & done.result.facts.keys()
    json.dumps(done.result.facts, allow_nan=False)
    assert_bounded(done)


def test_a_hundred_thousand_empty_meshes_are_counted(jail: Jail, tmp_path: Path) -> None:
    done = run(jail, tmp_path, "empty.gltf", empty_meshes())
    assert done.result.refused is None
    assert done.result.facts["meshes"] == 100_000
    assert_bounded(done)


def test_coordinates_that_are_no_numbers_are_left_out(jail: Jail, tmp_path: Path) -> None:
    lines = "v nan inf 1e999\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 2 3 4\nf 2 99999999 -5\n"
    done = run(jail, tmp_path, "nan.obj", lines.encode())
    assert json.loads(str(done.result.facts["boundsMax"])) == [1.0, 1.0, 1.0]
    assert done.thumbnail is not None
    assert done.glb is not None


def test_a_reference_to_itself_ends(jail: Jail, tmp_path: Path) -> None:
    data = b"mtllib loop.obj\n" + samples.cube_obj()
    done = run(jail, tmp_path, "loop.obj", data, Folder(loop__obj=data))
    assert [reference.state for reference in done.result.references] == ["found"]
    assert done.result.facts["triangles"] == 12
    assert_bounded(done)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_gltf_with_a_byte_order_mark_is_read_or_refused(
    encoding: str, jail: Jail, tmp_path: Path
) -> None:
    text = gltf(nodes=[{}]).decode()
    done = run(jail, tmp_path, "a.gltf", text.encode(encoding), Folder())
    without = run(jail, tmp_path, "b.gltf", text.encode(), Folder())
    if encoding == "utf-8-sig":
        assert done.result.refused == without.result.refused
    else:
        assert done.result.refused == "not a glTF document: its JSON is not valid"
