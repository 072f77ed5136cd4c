"""Rhino files: meshes, render meshes, blocks, layers and units; files without meshes."""

import base64
import ctypes
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import rhino3dm

from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers.models import read_model
from backend.processing.scene import Material
from tests.unit.processing.samples import CORNERS, SIDES, Asset, facts_without_pictures, png

_LIBRARY: Any = rhino3dm
BOX = CORNERS.astype(np.float64) * [1, 2, 3]


def mesh(places: np.ndarray = BOX) -> Any:
    box = _LIBRARY.Mesh()
    for place in places:
        box.Vertices.Add(*map(float, place))
    for side in SIDES:
        box.Faces.AddFace(*side)
    return box


def solid(*, has_mesh: bool) -> Any:
    """A box of surfaces, of which one has the mesh of all."""
    box = _LIBRARY.BoundingBox(_LIBRARY.Point3d(0, 0, 0), _LIBRARY.Point3d(1, 2, 3))
    brep = _LIBRARY.Brep.CreateFromBox(_LIBRARY.Box(box))
    if has_mesh:
        held = mesh()
        brep.Faces[0].SetMesh(held, _LIBRARY.MeshType.Render)
        # The face frees its mesh: Python must not free it, too.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
    return brep


def saved(*builders: Callable[[Any], None]) -> bytes:
    file = _LIBRARY.File3dm()
    file.Settings.ModelUnitSystem = _LIBRARY.UnitSystem.Inches
    for build in builders:
        build(file)
    return base64.b64decode(file.Encode())


def add_mesh(file: Any) -> None:
    file.Objects.AddMesh(mesh())


def add_block(file: Any) -> None:
    """A block of the box, placed twice, of which one is moved by 10 along x."""
    attributes = (_LIBRARY.ObjectAttributes(),)
    file.InstanceDefinitions.Add(
        "block", "", "", "", _LIBRARY.Point3d(0, 0, 0), (mesh(),), attributes
    )
    (definition,) = file.InstanceDefinitions
    for moved in (0, 10):
        transform = _LIBRARY.Transform.Translation(moved, 0, 0)
        file.Objects.AddInstanceObject(_LIBRARY.InstanceReference(definition.Id, transform))


def add_layers(file: Any) -> None:
    for name, visible in (("Wände", True), ("图层", False)):
        layer = _LIBRARY.Layer()
        layer.Name, layer.Visible, layer.Color = name, visible, (255, 0, 0, 255)
        file.Layers.Add(layer)
        attributes = _LIBRARY.ObjectAttributes()
        attributes.LayerIndex = len(file.Layers) - 1
        file.Objects.AddMesh(mesh(BOX * len(file.Layers)), attributes)


FILES = {
    "mesh.3dm": saved(add_mesh),
    "solid.3dm": saved(lambda file: file.Objects.AddBrep(solid(has_mesh=True))),
    "block.3dm": saved(add_block),
    "layers.3dm": saved(add_layers),
}


@pytest.mark.parametrize("name", FILES)
def test_meshes_have_their_counts_bounds_and_unit(name: str) -> None:
    inspection = inspect(name, FILES[name], Asset())
    assert inspection.refused is None
    facts = inspection.facts
    times = 2 if name == "block.3dm" else 1
    assert (facts["triangles"], facts["meshes"], facts["unit"], facts["upAxis"]) == (
        *(12 * times, times),
        *("inch", "z"),
    )
    size = (facts["sizeX"], facts["sizeY"], facts["sizeZ"])
    assert size == (11 if name == "block.3dm" else 1, 2, 3)
    if times == 1:
        assert facts["volume"] == pytest.approx(6)
    assert inspection.thumbnail
    assert inspection.glb


def test_objects_of_hidden_layers_are_left_out_and_layers_are_counted() -> None:
    facts = facts_without_pictures("a.3dm", FILES["layers.3dm"])
    assert (facts["layers"], facts["leftOut"]) == (2, "1 objects that are hidden")
    scene = read_model(FILES["layers.3dm"], "a.3dm", "3dm", Files(Asset()))
    assert [material.color for material in scene.materials] == [(1, 0, 0, 1)]
    # A new layer is black, which would hide the edges of surfaces.
    plain = read_model(FILES["mesh.3dm"], "a.3dm", "3dm", Files(Asset()))
    assert [material.color for material in plain.materials] == [Material().color]


def test_a_file_without_meshes_has_facts_and_a_sentence() -> None:
    data = saved(
        lambda file: file.Objects.AddBrep(solid(has_mesh=False)),
        lambda file: file.Objects.AddCurve(
            _LIBRARY.LineCurve(_LIBRARY.Point3d(0, 0, 0), _LIBRARY.Point3d(1, 1, 1))
        ),
    )
    inspection = inspect("a.3dm", data, Asset())
    assert inspection.refused is None
    assert inspection.facts["leftOut"] == (
        "1 objects without a mesh (Brep); 1 objects without a mesh (Curve)"
    )
    assert inspection.facts["unit"] == "inch"
    assert inspection.thumbnail is None
    assert inspection.glb is None


def test_points_and_materials_with_a_texture_are_read() -> None:
    def build(file: Any) -> None:
        material = _LIBRARY.Material()
        material.Name, material.DiffuseColor = "Stein", (0, 0, 255, 255)
        material.SetBitmapTexture("stone.png")
        file.Materials.Add(material)
        attributes = _LIBRARY.ObjectAttributes()
        attributes.MaterialSource = _LIBRARY.ObjectMaterialSource.MaterialFromObject
        attributes.MaterialIndex = 0
        painted = mesh()
        span = _LIBRARY.Interval(0, 1)
        plane = _LIBRARY.Plane.WorldXY()
        mapping = _LIBRARY.TextureMapping.CreatePlaneMapping(plane, span, span, span)
        painted.SetTextureCoordinates(mapping, _LIBRARY.Transform.Identity(), False)
        file.Objects.AddMesh(painted, attributes)
        file.Objects.AddPoint(_LIBRARY.Point3d(9, 0, 0))
        cloud = _LIBRARY.PointCloud()
        cloud.Add(_LIBRARY.Point3d(0, 9, 0))
        file.Objects.AddPointCloud(cloud)

    data = saved(build)
    facts = facts_without_pictures("a.3dm", data, stone__png=png())
    assert (facts["points"], facts["materials"], facts["texturesFound"]) == (2, 1, 1)
    assert (facts["sizeX"], facts["sizeY"]) == (9, 9)
    painted = read_model(data, "a.3dm", "3dm", Files(Asset(stone__png=png()))).parts[0]
    assert painted.uv is not None
    assert np.allclose(painted.uv, np.column_stack([BOX[:, 0], 1 - BOX[:, 1]]))


def test_a_file_that_is_cut_is_refused() -> None:
    data = FILES["block.3dm"]
    for part in range(1, 20):
        facts = facts_without_pictures("a.3dm", data[: len(data) * part // 20])
        assert "truncated" in str(facts.get("refused"))


@pytest.mark.parametrize(
    ("at", "content", "reason"),
    [
        (0, bytes(64), "it does not begin with 3D Geometry File Format"),
        (24, b"       x", "has no version"),
        (36, b"\xff" * 8, "the chunk at byte 32 has the length -1"),
        (36, b"\xff\xff\xff\xff\0\0\0\0", "truncated"),
        (40, b"\xff" * 64, "the length -4294967"),
    ],
)
def test_a_file_with_a_broken_header_is_refused(at: int, content: bytes, reason: str) -> None:
    data = FILES["block.3dm"]
    broken = data[:at] + content + data[at + len(content) :]
    assert reason in str(facts_without_pictures("a.3dm", broken).get("refused"))


def test_a_block_that_is_missing_is_left_out() -> None:
    def build(file: Any) -> None:
        unknown = "00000000-0000-0000-0000-000000000001"
        transform = _LIBRARY.Transform.Identity()
        file.Objects.AddInstanceObject(_LIBRARY.InstanceReference(uuid.UUID(unknown), transform))

    facts = facts_without_pictures("a.3dm", saved(build))
    assert facts["leftOut"] == "1 objects of blocks that are missing or contain themselves"
