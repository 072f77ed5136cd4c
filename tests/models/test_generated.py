"""GLBs of odd models have no errors of Khronos' validator either."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from backend.processing.inspection import inspect
from benchmarks.glb_validator import errors_of
from tests.unit.processing import cad, samples
from tests.unit.processing.samples import Asset
from tests.unit.processing.test_documents import cloud
from tests.unit.processing.test_models import draco_glb


def _picture(mode: str, kind: str) -> bytes:
    out = io.BytesIO()
    Image.new(mode, (5000 if kind == "JPEG" else 7, 7)).save(out, kind)
    return out.getvalue()


def _textured(texture: str) -> bytes:
    """A square with texture coordinates, some of them not finite, and colours of vertices."""
    vertices = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 1\nv 0 1 0 1 1 1\n"
    coordinates = "vt 0 0\nvt 1 0\nvt nan inf\nvt 0 1\nvn 0 0 0\n"
    return (
        f"mtllib {texture}\nusemtl m\n{vertices}{coordinates}f 1/1/1 2/2/1 3/3/1 4/4/1\n".encode()
    )


def test_odd_models_become_valid_glbs(tmp_path: Path) -> None:
    far = "".join(f"v {5e6 + x} {4e8 + y} {z}\n" for x, y, z in samples.CORNERS) + "f 1 2 4 3\n"
    nan = "v nan inf 1e999\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 2 3 4\nl 1 2 3\np 1 4\n"
    huge = "v 1e38 -2e38 0\nv 1e39 0 0\nv 1 2 2e38\nv 1 1 1\nf 1 2 3\nf 1 3 4\n"
    flat = "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n"
    asset: dict[str, bytes] = {
        **{f"{n}__mtl": f"newmtl m\nKd 2 -1 nan\nmap_Kd {n}.img\n".encode() for n in "abcde"},
        "a__img": _picture("CMYK", "JPEG"),
        "b__img": _picture("I;16", "PNG"),
        "c__img": _picture("1", "BMP"),
        "d__img": _picture("RGB", "PNG")[:40],
        "e__img": _picture("P", "GIF"),
    }
    models: dict[str, bytes] = {
        "far.obj": far.encode(),
        "nan.obj": nan.encode(),
        "huge.obj": huge.encode(),
        "flat.obj": flat.encode(),
        "cloud.las": cloud(compressed=False),
        "cube.step": cad.cube_step(),
        "draco.glb": draco_glb(),
        **{f"{n}.obj": _textured(f"{n}.mtl") for n in "abcde"},
        "smooth.ply": _sphere(400),
    }
    for name, data in models.items():
        result = inspect(name, data, Asset(**asset))
        assert result.glb is not None, (name, result.refused)
        (tmp_path / f"{name}.glb").write_bytes(result.glb)
    assert errors_of(tmp_path) == dict.fromkeys((f"{name}.glb" for name in models), 0)


def _sphere(rows: int) -> bytes:
    """A mesh with more triangles than get flat normals."""
    header = f"ply\nformat binary_little_endian 1.0\nelement vertex {rows * rows}\n"
    header += "property float x\nproperty float y\nproperty float z\n"
    count = (rows - 1) ** 2
    header += f"element face {count}\nproperty list uchar int vertex_indices\nend_header\n"
    u, v = np.meshgrid(np.linspace(0, np.pi, rows), np.linspace(0, 2 * np.pi, rows))
    points = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], -1)
    corner = np.arange(rows * rows).reshape(rows, rows)
    faces = np.zeros(count, np.dtype([("n", "u1"), ("c", "<i4", 4)]))
    faces["n"] = 4
    sides = (corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:])
    faces["c"] = np.stack([side.reshape(-1) for side in sides], 1)
    return header.encode() + points.astype("<f4").tobytes() + faces.tobytes()
