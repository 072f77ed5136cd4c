"""Writes the sample library: models, a point cloud, a part, a drawing and pictures, all computed.

The files are the same on every machine: `python -m samples.make` writes them below
`samples/library`, or below another folder that is named.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from samples import cloud, formats, furniture, machines, photos, robot, town, trees
from samples.drawing import drawing
from samples.gltf import Model, glb, gltf, single
from samples.pictures import jpeg, png, wood
from samples.step import Flange, flange

HERE = Path(__file__).parent
Files = dict[str, bytes]
_CLOUD, _THINNED, _GROUND = 290, 40, 60
"""Points of a side: of the point cloud, of its coarse copy, and of the mesh."""


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def _single(folder: str, model: Model) -> Files:
    return {f"{folder}/{folder}.glb": glb(model)}


def _furniture() -> Files:
    lamp, buffer = gltf(furniture.lamp(), buffer="lamp.bin")
    oak = {"oak": furniture.WOOD["oak"]._replace(color=(1.0, 1.0, 1.0))}
    table = [(furniture.table(), "oak")]
    return {
        **_single("chair", furniture.chair()),
        **_single("stool", furniture.stool()),
        **_single("bookshelf", furniture.bookshelf()),
        "table/table.obj": formats.obj(table, name="table", library="table.mtl"),
        "table/table.mtl": formats.mtl(oak, {"oak": "textures/wood.jpg"}),
        "table/textures/wood.jpg": jpeg(wood(256), quality=75),
        "lamp/lamp.gltf": lamp,
        "lamp/lamp.bin": buffer,
        "lamp/catalogue.json": _json({"name": "lamp", "watts": 7, "room": "study"}),
    }


def _machines() -> Files:
    gear, bolt = machines.spur_gear(), machines.bolt(0.012, 0.05, pitch=0.00175)
    nut, washer = machines.nut(0.012, pitch=0.00175), machines.washer(0.012)
    parts = [("ring", 1, 0.49), ("sun", 1, 0.13), ("planet", 3, 0.06), ("carrier", 1, 0.11)]
    rows = "".join(f"{name},{count},{mass}\n" for name, count, mass in parts)
    part = Flange()
    return {
        "gear/gear.glb": glb(machines.in_metal("gear", gear, "steel")),
        "gear/gear.stl": formats.stl(gear, name="gear"),
        **_single("pinion", machines.in_metal("pinion", machines.pinion(), "brass")),
        "ring-gear/ring.glb": glb(machines.in_metal("ring", machines.ring_gear(), "blue steel")),
        "ring-gear/ring.ply": formats.ply(machines.ring_gear(), comment="a ring gear, in metres"),
        **_single("planetary-gear", machines.planetary_set()),
        "planetary-gear/parts.csv": ("part,count,mass_kg\n" + rows).encode(),
        **_single("bearing", machines.bearing()),
        "bolt/bolt.glb": glb(machines.in_metal("bolt", bolt, "steel")),
        "bolt/washer.stl": formats.stl_text(washer, name="washer"),
        **_single("nut", machines.in_metal("nut", nut, "brass")),
        "flange/flange.step": flange(part, name="flange", color=(0.55, 0.62, 0.68)),
        "flange/flange.pdf": drawing(part, name="flange"),
        **_single("robot-arm", robot.robot_arm()),
        **_single("crate", robot.crate()),
    }


def _outdoors() -> Files:
    walls = single("house", town.house(), town.HOUSE)
    return {
        "house/house.glb": glb(walls),
        "house/house.obj": formats.obj(town.house(), name="house", library="house.mtl"),
        "house/house.mtl": formats.mtl(town.HOUSE, {}),
        "house/plan.png": png(*town.plan()),
        **_single("tree", trees.tree()),
        **_single("pine", trees.pine()),
        **_single("lighthouse", town.lighthouse()),
        **_single("wind-turbine", town.wind_turbine()),
    }


def _survey() -> Files:
    scan = cloud.terrain(_CLOUD, scattered=True)
    thin = cloud.terrain(_THINNED, scattered=True)
    flight = {"date": "2024-05-17", "points": len(scan.points), "unit": "m", "crs": "EPSG:25832"}
    return {
        "survey/hills.laz": cloud.las(scan, compressed=True),
        "survey/hills.las": cloud.las(thin, compressed=False),
        "survey/hills.ply": cloud.ply(cloud.terrain(_GROUND, scattered=False), _GROUND),
        "survey/flight.json": _json(flight),
    }


def _photos() -> Files:
    return {
        "photos/lake-at-sunrise.jpg": photos.lake(),
        "photos/stars-over-pines.jpg": photos.night(),
        "photos/balls-on-a-table.jpg": photos.still_life(),
    }


SHELVES: tuple[Callable[[], Files], ...] = (
    _furniture,
    _machines,
    _outdoors,
    _survey,
    _photos,
)


def library() -> Files:
    """Return every sample: its path and its bytes."""
    return {name: content for shelf in SHELVES for name, content in shelf().items()}


def write(folder: Path, files: Files) -> int:
    """Write files below the folder, and return how many."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return len(files)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "library"
    sys.stdout.write(f"{write(target, library())} files below {target}\n")
