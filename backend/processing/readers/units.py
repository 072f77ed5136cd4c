"""The unit of length of a file, as the file or its format defines it."""

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from backend.processing.readers.xml_start import XmlStart, relations_of, xml_start
from backend.processing.scene import METRE, Unit

_UNITS = {
    unit.name: unit
    for unit in (
        Unit("micron", 1e-6),
        Unit("millimeter", 1e-3),
        Unit("centimeter", 1e-2),
        Unit("inch", 0.0254),
        Unit("foot", 0.3048),
        Unit("yard", 0.9144),
        METRE,
    )
}
_ALIASES = {"feet": "foot", "meter": "metre", "micrometer": "micron"}
_AXES = {0: "x", 1: "y", 2: "z"}
_START = 1 << 16
RELATION_OF_3MF = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"


def unit_and_up(
    extension: str, data: bytes, metadata: Mapping[str, Any]
) -> tuple[Unit | None, str | None]:
    """Return the unit and the axis that points up.

    Each is None if neither the file nor its format defines it.
    """
    match extension:
        case "gltf" | "glb" | "vrm":  # version 1.0
            return METRE, None
        case "fbx":
            scale, up = metadata.get("UnitScaleFactor"), _AXES.get(metadata.get("UpAxis", -1))
            # In centimetres.
            return (_of_length(scale / 100) if isinstance(scale, float) else None), up
        case "dae" | "zae":
            return _of_collada(xml_start(_unpacked(data, ".dae")[:_START]))
        case "3mf":
            return _of_attribute(xml_start(_root_of_3mf(data)), "model"), None
        case "amf" | "xml":
            return _of_xml(xml_start(_unpacked(data, ".amf")[:_START]), extension)
        case _:
            return None, None


def _of_xml(start: XmlStart, extension: str) -> tuple[Unit | None, str | None]:
    if start.root == "COLLADA":
        return _of_collada(start)
    return (_of_attribute(start, "amf") if "amf" in {start.root, extension} else None), None


def _of_collada(start: XmlStart) -> tuple[Unit | None, str | None]:
    attributes, up = start.attributes.get("unit", {}), start.texts.get("up_axis", "").strip()
    metres = _number(attributes.get("meter", "1"))
    return _of_length(metres), {"X_UP": "x", "Z_UP": "z"}.get(up, "y")


def _of_attribute(start: XmlStart, element: str) -> Unit | None:
    name = start.attributes.get(element, {}).get("unit")
    return _UNITS["millimeter"] if name is None else named(name)


def named(name: str) -> Unit | None:
    """Return a unit by its English name, in the singular."""
    lower = name.lower()
    return _UNITS.get(_ALIASES.get(lower, lower))


def _of_length(metres: float) -> Unit | None:
    if not 0 < metres < float("inf"):
        return None
    for unit in _UNITS.values():
        if abs(unit.metres - metres) < 1e-6 * metres:
            return unit
    return Unit(f"{metres:g} metres", metres)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _unpacked(data: bytes, ending: str) -> bytes:
    """Return the start of a file, which may be in an archive. Nothing is extracted to a file."""
    if data[:2] != b"PK":
        return data
    return _member(data, lambda name: name.lower().endswith(ending))


def _root_of_3mf(data: bytes) -> bytes:
    """Return the start of the model with the objects to build; other parts have none."""
    relations = relations_of(_member(data, lambda name: name.lower() == "_rels/.rels"))
    target = relations.get(RELATION_OF_3MF, "").lstrip("/").lower()
    return _member(data, lambda name: name.lower() == target) or _member(
        data, lambda name: name.lower().endswith(".model")
    )


def _member(data: bytes, wanted: Callable[[str], bool]) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            name = next((name for name in archive.namelist() if wanted(name)), None)
            if name is None:
                return b""
            with archive.open(name) as member:
                return member.read(_START)
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError):
        return b""
