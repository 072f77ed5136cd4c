"""One cube in every format: the same facts, whatever file holds it."""

import io
import json
import struct
from typing import Any

import DracoPy
import numpy as np
import pytest
from PIL import Image, ImageSequence

from backend.processing.inspection import Inspection, inspect
from backend.spec.inspection_outputs import SMALL
from tests.unit.processing import samples
from tests.unit.processing.samples import Asset

CUBES = {
    "obj": samples.cube_obj(),
    "stl": samples.cube_stl(),
    "ascii.ply": samples.cube_ply(binary=False),
    "binary.ply": samples.cube_ply(binary=True),
    "gltf": samples.encoded(samples.cube_gltf()),
    "glb": samples.glb(samples.cube_gltf(), samples.cube_binary()),
    "off": b"OFF\n8 6 0\n"
    + "".join(f"{x:g} {y:g} {z:g}\n" for x, y, z in samples.CORNERS).encode()
    + "".join(f"4 {a} {b} {c} {d}\n" for a, b, c, d in samples.SIDES).encode(),
}


def inspected(name: str, data: bytes, **files: bytes) -> Inspection:
    return inspect(f"models/{name}", data, Asset(**files))


def draco_glb() -> bytes:
    # Draco names attributes by their number; those of `encode` are 0 for positions.
    draco: Any = DracoPy
    compressed: bytes = draco.encode(samples.CORNERS, samples.TRIANGLES, quantization_bits=14)
    document = samples.cube_gltf()
    extension = {"bufferView": 0, "attributes": {"POSITION": 0}}
    primitive = document["meshes"][0]["primitives"][0]
    primitive["extensions"] = {"KHR_draco_mesh_compression": extension}
    document["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    document["bufferViews"] = [{"buffer": 0, "byteLength": len(compressed)}]
    document["buffers"] = [{"byteLength": len(compressed)}]
    for accessor in document["accessors"]:
        del accessor["bufferView"]
    return samples.glb(document, compressed)


@pytest.mark.parametrize("name", CUBES)
def test_a_cube_has_the_same_facts_in_every_format(name: str) -> None:
    result = inspected(f"cube.{name}", CUBES[name], cube__bin=samples.cube_binary())
    assert result.refused is None
    wanted = {"triangles": 12, "area": 6.0, "volume": 1.0, "watertight": True, "sizeX": 1.0}
    assert {key: result.facts[key] for key in wanted} == wanted
    assert json.loads(str(result.facts["boundsMax"])) == [1.0, 1.0, 1.0]
    assert result.thumbnail is not None
    assert result.small is not None
    assert SMALL.begins(result.small)
    with Image.open(io.BytesIO(result.small)) as picture:
        assert (picture.size, picture.mode) == ((256, 256), "RGBA")
    assert result.glb is not None
    # glTF makes of a surface without a material a metal.
    document = json.loads(result.glb[20:].partition(b"BIN\0")[0][:-4])
    (primitive,) = document["meshes"][0]["primitives"]
    surface = document["materials"][primitive["material"]]["pbrMetallicRoughness"]
    assert surface["metallicFactor"] == 0


def test_compressed_and_quantized_cubes_are_read() -> None:
    result = inspected("cube.glb", draco_glb())
    assert result.refused is None
    assert result.facts["triangles"] == 12
    assert result.facts["watertight"] is True
    assert result.facts["area"] == pytest.approx(6, rel=1e-3)
    document = samples.cube_gltf(extensionsRequired=["KHR_mesh_quantization"])
    document["accessors"][0] |= {"componentType": 5123, "normalized": True}
    document["bufferViews"][0] |= {"byteStride": 8, "byteLength": 64}
    document["bufferViews"][1]["byteOffset"] = 64
    corners = np.zeros((8, 4), np.uint16)
    corners[:, :3] = samples.CORNERS * 65535
    binary = corners.tobytes() + samples.TRIANGLES.tobytes()
    document["buffers"][0]["byteLength"] = len(binary)
    result = inspected("cube.glb", samples.glb(document, binary))
    assert result.facts["volume"] == pytest.approx(1)


def test_nodes_move_meshes_and_corners_of_obj_count_back() -> None:
    group = {"children": [1, 2], "scale": [2, 2, 2]}
    nodes = [group, {"mesh": 0}, {"mesh": 0, "translation": [3, 0, 0]}]
    result = inspected(
        "cubes.gltf",
        samples.encoded(samples.cube_gltf(nodes=nodes)),
        cube__bin=samples.cube_binary(),
    )
    assert result.facts["triangles"] == 24
    assert json.loads(str(result.facts["boundsMax"])) == [8.0, 2.0, 2.0]
    assert result.facts["meshes"] == 1
    lines = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nf -3/1 2//1 3\nl 1 2 3\np 1\n"
    result = inspected("mixed.obj", lines.encode())
    wanted = {"triangles": 1, "lines": 2, "points": 1}
    assert {key: result.facts[key] for key in wanted} == wanted


def test_references_of_obj_are_read_through_its_materials() -> None:
    library = b"newmtl red\nKd 1 0 0\nmap_Kd -s 1 1 1 textures/red paint.png\nmap_Bump gone.png\n"
    asset: dict[str, bytes] = {"cube__mtl": library, "textures/red paint__png": samples.png()}
    result = inspected("cube.obj", samples.cube_obj("mtllib cube.mtl\nusemtl red\n"), **asset)
    found_references = {
        (reference.path, reference.kind, reference.state) for reference in result.references
    }
    assert found_references == {
        ("cube.mtl", "material", "found"),
        ("textures/red paint.png", "texture", "found"),
        ("gone.png", "texture", "missing"),
    }
    wanted = {"textures": 2, "texturesFound": 1, "texturesMissing": 1, "texturesEmbedded": 0}
    assert {key: result.facts[key] for key in wanted} == wanted


def test_text_stl_clouds_of_ply_and_elements_of_off_are_read() -> None:
    facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    text = f"solid tests\n{facet}endloop\nendfacet\nendsolid\n"
    assert inspected("one.stl", text.encode()).facts["triangles"] == 1
    header = "ply\nformat binary_little_endian 1.0\nelement vertex 2\nproperty double x\n"
    header += "property double y\nproperty double z\nend_header\n"
    cloud = inspected("two.ply", header.encode() + struct.pack("<6d", 0, 0, 0, 1, 2, 3))
    assert cloud.facts["points"] == 2
    assert cloud.facts["sizeZ"] == 3
    assert cloud.descriptor is None
    for text in (
        "OFF\n3 1 0\n0 0 0 1 0 0\n0 2 0\n3 0 1 2\n",
        "OFF 3 1 0 0 0\n0 1 0\n0 0 2 0 3\n0 1 2",
        "\ufeffOFF # a triangle\n3 1 0\n0 0 0 1 0 0 # two\n\n0 2 0 3 0 1 2\n",
    ):
        for end in ("\n", "\r\n", "\r"):
            facts = samples.facts_without_pictures("a.off", text.replace("\n", end).encode())
            assert (facts.get("triangles"), facts.get("sizeY")) == (1, 2), (text, end, facts)


def test_files_that_do_not_match_their_extension_are_refused_with_a_reason() -> None:
    for name in ("a.glb", "a.gltf", "a.obj", "a.ply", "a.stl", "a.fbx", "a.3mf", "a.las", "a.pdf"):
        result = inspected(name, b"\x89PNG\r\n not a model")
        assert result.refused, name
        assert result.facts == {}
        assert result.thumbnail is result.glb is None
    assert inspected("a.obj", b"").refused == "the file is empty"


def test_a_turntable_shows_a_model_of_one_size_from_eight_sides() -> None:
    """A tall box, whose height is the same in each picture, and whose width is not."""
    lines = "".join(f"v {x / 4:g} {4 * y:g} {z:g}\n" for x, y, z in samples.CORNERS)
    faces = "".join("f " + " ".join(str(c + 1) for c in side) + "\n" for side in samples.SIDES)
    result = inspect("box.obj", f"{lines}{faces}".encode(), Asset(), turntable=True)
    assert result.turntable is not None
    with Image.open(io.BytesIO(result.turntable)) as picture:
        frames = [frame.convert("RGBA").copy() for frame in ImageSequence.Iterator(picture)]
    boxes = [box for frame in frames if (box := frame.getchannel("A").getbbox())]
    assert len(boxes) == 8
    widths = [right - left for left, _, right, _ in boxes]
    assert max(widths) > 1.5 * min(widths)
    assert widths[:4] == pytest.approx(widths[4:], abs=1)  # the same box from behind
    assert len({frame.tobytes() for frame in frames}) == 4
    assert inspect("box.obj", f"{lines}{faces}".encode(), Asset()).turntable is None
