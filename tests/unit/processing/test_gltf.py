"""glTF: extensions that a document requires, instances, skins and moved textures."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from backend.processing.files import Files
from backend.processing.glb import write_glb
from backend.processing.readers import gltf
from backend.processing.scene import Scene
from tests.unit.processing import samples
from tests.unit.processing.samples import Asset, facts_without_pictures

_KINDS = {"f": (5126, "<f4"), "b": (5121, "u1"), "s": (5122, "<i2"), "i": (5125, "<u4")}
_SHAPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def document(arrays: list[tuple[str, Any]], **changes: Any) -> bytes:
    """A GLB; arrays are its accessors, and the first one is the positions of its triangle."""
    binary, views, accessors = b"", list[Any](), list[Any]()
    for kind, values in arrays:
        component, code = _KINDS[kind]
        array: NDArray[Any] = np.array(values, code)
        content = array.tobytes()
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(content)})
        shape = _SHAPES[array.shape[1]]
        normalized = {"normalized": True} if kind == "s" else {}
        accessors.append(
            {
                "bufferView": len(views) - 1,
                "componentType": component,
                **normalized,
                "count": len(array),
                "type": shape,
            }
        )
        binary += content + b"\0" * (-len(content) % 4)
    written: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(binary)}],
    }
    return samples.glb(written | changes, binary)


def bounds(data: bytes) -> tuple[list[float], list[float]]:
    facts = facts_without_pictures("a.glb", data)
    assert "refused" not in facts, facts
    return json.loads(str(facts["boundsMin"])), json.loads(str(facts["boundsMax"]))


def test_extensions_that_are_required_and_not_known_are_refused_by_name() -> None:
    for name in (
        "ACME_magic",
        "EXT_meshopt_compression",
        "KHR_meshopt_compression",
        "KHR_gaussian_splatting_compression_spz",
        "KHR_materials_of_tomorrow",
    ):
        for required in ([name], ["KHR_mesh_quantization", name]):
            facts = facts_without_pictures(
                "a.glb", document([("f", TRIANGLE)], extensionsRequired=required)
            )
            assert name in str(facts["refused"])
        used = facts_without_pictures("a.glb", document([("f", TRIANGLE)], extensionsUsed=[name]))
        assert used["triangles"] == 1, name
    known = [
        "KHR_materials_unlit",
        "KHR_texture_transform",
        "EXT_texture_webp",
        "KHR_lights_punctual",
    ]
    assert (
        facts_without_pictures("a.glb", document([("f", TRIANGLE)], extensionsRequired=known))[
            "triangles"
        ]
        == 1
    )


def instanced(attributes: dict[str, int], **node: Any) -> dict[str, Any]:
    return {
        "mesh": 0,
        **node,
        "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}},
    }


def test_instances_are_placed_or_refused() -> None:
    places = ("f", [[0, 0, 0], [10, 0, 0], [20, 0, 0]])
    for required in ([], ["EXT_mesh_gpu_instancing"]):
        data = document(
            [("f", TRIANGLE), places],
            nodes=[instanced({"TRANSLATION": 1})],
            extensionsRequired=required,
        )
        facts = facts_without_pictures("a.glb", data)
        assert (facts["triangles"], facts["sizeX"]) == (3, 21)
    scales = ("f", [[1, 1, 1], [2, 2, 2], [1, 3, 1]])
    half = 2**-0.5
    turns = ("s", [[0, 0, 0, 32767]] * 2 + [[0, 0, round(32767 * half), round(32767 * half)]])
    node = instanced({"TRANSLATION": 1, "SCALE": 2, "ROTATION": 3}, scale=[2, 2, 2])
    lowest, highest = bounds(document([("f", TRIANGLE), places, scales, turns], nodes=[node]))
    assert lowest == pytest.approx([0, 0, 0], abs=1e-3)
    assert highest == pytest.approx([40, 4, 0], abs=1e-3)
    places = ("f", [[0, 0, 0], [10, 0, 0]])
    for attributes in ({}, {"TRANSLATION": 1, "SCALE": 0}, {"TRANSLATION": 9}, {"ROTATION": 1}):
        data = document([("f", TRIANGLE), places], nodes=[instanced(attributes)])
        assert "refused" in facts_without_pictures("a.glb", data), attributes


def test_morph_targets_move_vertices_or_are_refused() -> None:
    for node, mesh, width in (
        ([], [], 1),
        ([1], [], 10),
        ([], [0.5], 5.5),
        ([1], [0.5], 10),
        ([0], [0.5], 1),
    ):
        primitive = {"attributes": {"POSITION": 0}, "targets": [{"POSITION": 1}]}
        data = document(
            [("f", TRIANGLE), ("f", [[0, 0, 0], [9, 0, 0], [0, 0, 0]])],
            nodes=[{"mesh": 0, "weights": node}],
            meshes=[{"primitives": [primitive], "weights": mesh}],
        )
        assert facts_without_pictures("a.glb", data)["sizeX"] == width
    primitive = {"attributes": {"POSITION": 0}, "targets": [{"POSITION": 1}]}
    for moves, weight in (([[0, 0, 0]], 1), (TRIANGLE, "x"), (TRIANGLE, True)):
        data = document(
            [("f", TRIANGLE), ("f", moves)],
            meshes=[{"primitives": [primitive], "weights": [weight]}],
        )
        assert "refused" in facts_without_pictures("a.glb", data), weight


def skinned(
    joint: dict[str, Any], inverse: Any = None, weights: Any = None, joints: Any = None
) -> bytes:
    arrays = [
        ("f", TRIANGLE),
        ("b", joints or [[0, 0, 0, 0]] * 3),
        ("f", weights or [[1, 0, 0, 0]] * 3),
    ]
    skin: dict[str, Any] = {"joints": [1]}
    if inverse is not None:
        arrays.append(("f", [np.array(inverse, np.float64).T.reshape(-1)]))
        skin["inverseBindMatrices"] = 3
    attributes = {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}
    return document(
        arrays,
        scenes=[{"nodes": [0, 1]}],
        nodes=[{"mesh": 0, "skin": 0, "scale": [0.01] * 3}, joint],
        meshes=[{"primitives": [{"attributes": attributes}]}],
        skins=[skin],
    )


def test_joints_move_the_vertices_of_a_skin_and_its_node_does_not() -> None:
    moved = skinned({"translation": [5, 0, 0]})
    assert bounds(moved) == ([5, 0, 0], [6, 1, 0])
    back = np.eye(4)
    back[0, 3] = -5
    assert bounds(skinned({"translation": [5, 0, 0]}, back)) == ([0, 0, 0], [1, 1, 0])
    for weights in ([[2, 2, 0, 0]] * 3, [[0, 0, 0, 0]] * 3):
        assert bounds(skinned({"translation": [5, 0, 0]}, None, weights)) == ([5, 0, 0], [6, 1, 0])
    # A joint that the skin does not have is left out.
    assert bounds(
        skinned({"translation": [5, 0, 0]}, None, [[0.5, 0.5, 0, 0]] * 3, [[0, 9, 0, 0]] * 3)
    ) == ([5, 0, 0], [6, 1, 0])


def textured(transform: dict[str, Any] | None, number: int = 0) -> Scene:
    arrays = [("f", TRIANGLE), ("f", [[0, 0], [1, 0], [0, 1]]), ("f", [[0, 0], [2, 0], [0, 2]])]
    texture: dict[str, Any] = {"index": 0, "texCoord": number}
    if transform is not None:
        texture["extensions"] = {"KHR_texture_transform": transform}
    attributes = {"POSITION": 0, "TEXCOORD_0": 1, "TEXCOORD_1": 2}
    data = document(
        arrays,
        meshes=[{"primitives": [{"attributes": attributes, "material": 0}]}],
        materials=[{"pbrMetallicRoughness": {"baseColorTexture": texture}}],
    )
    return gltf.read(data, Files(Asset()))


def test_textures_are_moved() -> None:
    cases: list[tuple[dict[str, Any] | None, int, list[list[float]]]] = [
        (None, 0, [[0, 0], [1, 0], [0, 1]]),
        (None, 1, [[0, 0], [2, 0], [0, 2]]),
        ({"offset": [0.5, 0.25], "scale": [2, 3]}, 0, [[0.5, 0.25], [2.5, 0.25], [0.5, 3.25]]),
        ({"rotation": np.pi / 2}, 0, [[0, 0], [0, -1], [1, 0]]),
        ({"texCoord": 1}, 0, [[0, 0], [2, 0], [0, 2]]),
        (
            {"scale": ["a", None], "rotation": "x", "texCoord": -4, "offset": 7},
            0,
            [[0, 0], [1, 0], [0, 1]],
        ),
    ]
    for transform, number, wanted in cases:
        uv = textured(transform, number).parts[0].uv
        assert uv is not None
        assert uv.tolist() == [pytest.approx(item) for item in wanted], (transform, number)


def test_colours_of_gltf_are_light_and_thumbnails_and_glbs_show_the_same_ones() -> None:
    light, shown = [0.21404, 0.21404, 1.0], [0.5, 0.5, 1.0]
    primitive = {"attributes": {"POSITION": 0, "COLOR_0": 1}, "material": 0}
    data = document(
        [("f", TRIANGLE), ("f", [[*light, 0.25]] * 3)],
        meshes=[{"primitives": [primitive]}],
        materials=[{"pbrMetallicRoughness": {"baseColorFactor": [*light, 0.5]}}],
    )
    scene = gltf.read(data, Files(Asset()))
    [part] = scene.parts
    assert part.colors is not None
    assert np.allclose(part.colors, [*shown, 0.25], atol=1e-4)
    assert np.allclose(scene.materials[0].color, [*shown, 0.5], atol=1e-4)
    written = write_glb(scene.parts, scene.materials, "y", None)
    assert written is not None
    again = gltf.read(written, Files(Asset()))
    assert again.parts[0].colors is not None
    assert np.allclose(again.parts[0].colors, [*shown, 0.25], atol=1e-4)
    length = int.from_bytes(written[12:16], "little")
    [material] = json.loads(written[20 : 20 + length])["materials"]
    factor = material["pbrMetallicRoughness"]["baseColorFactor"]
    assert np.allclose(factor, [*light, 0.5], atol=1e-4)


@pytest.mark.parametrize("odd", [0.0, "0", True, -1, None, [0]])
def test_an_index_that_is_no_whole_number_is_refused_and_not_read_as_absent(odd: object) -> None:
    skinned = [("f", TRIANGLE)]
    mesh = document(skinned, nodes=[{"mesh": odd}])
    joint = document(
        skinned, nodes=[{"mesh": 0, "skin": 0}, {}], skins=[{"joints": [odd]}], scenes=[]
    )
    for data, name in ((mesh, "mesh"), (joint, "joint")):
        refused = str(facts_without_pictures("a.glb", data).get("refused"))
        assert f"{name} is not a whole number" in refused
