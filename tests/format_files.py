"""A small file of each promised format, for the walk through the page.

`python -m tests.format_files FOLDER` writes them as an asset, with what they refer to. FOLDER.json
lists them with the viewer of each.
"""

import base64
import io
import json
import struct
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import laspy
import numpy as np
from laspy.vlrs.vlr import VLR

from backend.spec.formats import FORMATS
from tests.unit.processing import cad, samples
from tests.unit.processing.test_boxes import BOXES
from tests.unit.processing.test_documents import CLOUDS, cloud, picture
from tests.unit.processing.test_e57 import TWO_SCANS
from tests.unit.processing.test_heif import FILES as HEIF
from tests.unit.processing.test_ifc import FILES as IFC
from tests.unit.processing.test_light import FILES as LIGHT
from tests.unit.processing.test_media import AV1, FILMS, SOUNDS, film
from tests.unit.processing.test_negatives import FILES as NEGATIVES
from tests.unit.processing.test_rhino import FILES as RHINO
from tests.unit.processing.test_robots import FILES as ROBOTS
from tests.unit.processing.test_splats import FILES as SPLATS
from tests.unit.processing.test_svg import FILES as SVG
from tests.unit.processing.test_units import FBX, collada
from tests.unit.processing.test_usd import FILES as USD

LIBRARY = Path(__file__).parents[1] / "samples/library"
TURNED = FILMS["turned.mp4"]
# 0.3 s of silence. Nothing here writes the format; FFmpeg did.
WMA = zlib.decompress(
    base64.b64decode(
        "eNozUNtU2pd2XnDZTYZVDEnncroYGcCABYgZmRbeWd3jvvK8YN8ThgM8CsGpGQzYgQ0flNFgd/XexrmMUEMYDtzkZAIz"
        "rhiAKRkeiDhIsIEHghlqGRi2Mu+P1wPZ8xhijx5Uv+Cly6t3gcSfQcTZwKIT2e9s344kWgRV7TAv84dv9HnBFX8ZGuJj"
        "XLQDzh7e3594XrB7E9BvWx4pwFwrA8QcIP+BeYlA1zbYMTAs4Ae6h0GAgQssCpFjbAAKAZkOQRfbZA0vCC5ewrDgJLPH"
        "txSoSY5o4oxgv4kzhDNkMuQxpDDkM5QzFDMoMPgypAJ5mQyJQLYjQymYnQ9khzFYQMMjkdEMLSY28WAPa1jYMjI2AQMo"
        "9gQ4TBQYuyCBztEADWagy/m/MDAwH/AbKMDIBHeQzeBwEDPcQTGDw0EscAfVDA4HscIdNGdwOIgN7qA9g8NB7HAH3Rkc"
        "DuKAO+jP4HAQJ6Ic4h0UDuJClEODwkEMo2AUjIJRMApGwRAGAIBZ+Xg="
    )
)


def psd() -> bytes:
    head = struct.pack(">4sH6xHIIHH", b"8BPS", 1, 3, 8, 8, 8, 3)
    return head + bytes(14) + b"\xff" * 64 + bytes(128)


def copc() -> bytes:
    """A hill of points, in an octree that is only its root."""
    library: Any = laspy
    points = library.create(point_format=7, file_version="1.4")
    points.header.scales = [0.001] * 3
    x, y = (axis.ravel() for axis in np.mgrid[0:10:0.2, 0:10:0.2])
    points.x, points.y, points.z = x, y, np.sin(x / 2) + np.sin(y / 2)
    points.green = np.full(len(x), 40_000)
    points.vlrs.append(VLR("copc", 1, "", bytes(160)))
    points.evlrs = library.vlrs.vlrlist.VLRList()
    points.evlrs.append(VLR("copc", 1000, "", bytes(32)))
    out = io.BytesIO()
    points.write(out, do_compress=True, laz_backend=library.LazBackend.Lazrs)
    data = bytearray(out.getvalue())
    (start,), (first,) = struct.unpack_from("<I", data, 96), struct.unpack_from("<Q", data, 235)
    (end,) = struct.unpack_from("<q", data, start)
    # After the headers of the file and its first record, and of the first one behind the points.
    struct.pack_into("<5d2Q", data, 375 + 54, 5, 5, 5, 5, 0.2, first + 60, 32)
    struct.pack_into("<4iQ2i", data, first + 60, 0, 0, 0, 0, start + 8, end - start - 8, len(x))
    return bytes(data)


def box(case: str) -> bytes:
    data = BOXES[case][1]
    return data if isinstance(data, bytes) else data.encode()


def sample(name: str) -> bytes:
    return (LIBRARY / name).read_bytes()


FILES: Mapping[str, bytes] = {
    "glb": sample("chair/chair.glb"),
    "vrm": samples.glb(samples.cube_gltf(), samples.cube_binary()),
    "gltf": sample("lamp/lamp.gltf"),
    "obj": sample("table/table.obj"),
    "stl": samples.cube_stl(),
    "ply": samples.cube_ply(binary=True),
    "splats.ply": SPLATS["a.ply"],
    "3mf": box("3mf of inches"),
    "dxf": box("dxf of inches"),
    "fbx": FBX,
    "dae": collada(1, ""),
    "zae": samples.archive(("a.dae", collada(1, ""))),
    **dict.fromkeys(("step", "stp"), cad.cube_step()),
    **dict.fromkeys(("iges", "igs"), cad.sheet_iges()),
    "ifc": IFC["b.ifc"],
    "ifczip": IFC["a.ifczip"],
    "3dm": RHINO["mesh.3dm"],
    "e57": TWO_SCANS,
    "las": cloud(compressed=False),
    "laz": cloud(compressed=True),
    "copc.laz": copc(),
    "xyz": CLOUDS["colored.xyz"],
    "pts": CLOUDS["a.pts"],
    "pcd": CLOUDS["binary.pcd"],
    "splat": SPLATS["a.splat"],
    "spz": SPLATS["three.spz"],
    "ksplat": SPLATS["floats.ksplat"],
    "sog": SPLATS["second.sog"],
    **{name.rpartition(".")[2]: data for name, data in USD.items()},
    "urdf": ROBOTS["arm.urdf"][0].encode(),
    "sdf": ROBOTS["world.sdf"][0].encode(),
    "mjcf": ROBOTS["cheetah.xml"][0].encode(),
    **{kind: picture(kind.upper()) for kind in ("png", "gif", "webp", "tiff", "bmp")},
    **{kind: picture(kind.upper()) for kind in ("dds", "avif", "ico", "tga")},
    **dict.fromkeys(("jpg", "jpeg"), picture("JPEG")),
    "tif": picture("TIFF"),
    "jp2": picture("JPEG2000"),
    "psd": psd(),
    "exr": LIGHT["a.exr"],
    "hdr": LIGHT["packed.hdr"],
    "dng": NEGATIVES["a.dng"],
    **dict.fromkeys(("heic", "heif", "hif"), HEIF["turned.heic"]),
    "svg": SVG["a.svg"],
    "pdf": sample("flange/flange.pdf"),
    "mp4": AV1,
    # Theora, which no browser decodes.
    "theora.mp4": FILMS["a.ogv"],
    "m4v": TURNED,
    "mov": TURNED.replace(b"ftypisom", b"ftypqt  "),
    # Without the first track, that of the film.
    "m4a": TURNED.replace(b"ftypisom", b"ftypM4A ").replace(b"trak", b"free", 1),
    **{kind: FILMS[f"a.{kind}"] for kind in ("avi", "webm", "mkv", "ogv")},
    **dict.fromkeys(("mpg", "mpeg"), film("a.mpg", "MPG2")),
    "wmv": film("a.wmv", "WMV2"),
    "wma": WMA,
    **{kind: SOUNDS[f"a.{kind}"] for kind in ["wav", "flac", "ogg", "opus", "mp3"]},
    **dict.fromkeys(("aif", "aiff"), SOUNDS["a.aiff"]),
    "oga": SOUNDS["a.ogg"],
}
"""A file for each ending."""
REFERRED: Mapping[str, bytes] = {
    "lamp.bin": sample("lamp/lamp.bin"),
    "table.mtl": sample("table/table.mtl"),
    "textures/wood.jpg": sample("table/textures/wood.jpg"),
    "arm/meshes/cube.stl": samples.cube_stl(),
    "parts/cube.stl": samples.cube_stl(),
    "body.xml": ROBOTS["cheetah.xml"][1]["body__xml"],
}


def write(folder: Path) -> None:
    rows = {
        extension: {"viewer": row.viewer, "isModel": row.kind in {"glTF", "model"}}
        for row in FORMATS
        if row.tier == "Promised"
        for extension in row.extensions.split()
    }
    if without := rows.keys() - FILES:
        raise SystemExit(f"tests/format_files.py has no file of {', '.join(sorted(without))}")
    for name, data in {**{f"a.{end}": FILES[end] for end in FILES}, **REFERRED}.items():
        path = folder / "formats" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    walked = [{"path": f"a.{end}", **rows[end.rpartition(".")[2]]} for end in FILES]
    folder.with_suffix(".json").write_text(json.dumps(walked))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
