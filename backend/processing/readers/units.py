"""The unit of length of a file, as the file or its format defines it."""

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from backend.processing.readers.archives import BROKEN_ZIP
from backend.processing.readers.soundness import number
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
# `UpAxis` of FBX's global settings.
_AXES = {0: "x", 1: "y", 2: "z"}
# Units are declared in the root element or the header, before any geometry.
_START = 1 << 16
_INSUNITS = re.compile(rb"\$INSUNITS\s+70\s+(\d{1,3})\b")
# Metres per unit by the code of `$INSUNITS` in the DXF reference, from 1 (inches) to 21 (US survey
# feet); 0 is no unit.
_METRES_OF_DXF = (
    *(0.0254, 0.3048, 1609.344, 1e-3, 1e-2, 1.0, 1e3, 2.54e-8, 2.54e-5, 0.9144, 1e-10, 1e-9),
    *(1e-6, 0.1, 10.0, 100.0, 1e9, 149_597_870_700.0, 9.460_730_472_580_8e15),
    *(3.085_677_581_491_37e16, 1200 / 3937),
)
RELATION_OF_3MF = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"


def unit_and_up(
    rule: str, data: bytes, metadata: Mapping[str, Any]
) -> tuple[Unit | None, str | None]:
    """Return the unit and the axis that points up, by the rule of the format.

    Each is None if neither the file nor its format defines it.
    """
    return RULES[rule](data, metadata) if rule else (None, None)


def _of_dxf(start: bytes) -> Unit | None:
    """Return the unit of the header, which names none with the code 0."""
    unit = _INSUNITS.search(start)
    code = int(unit[1]) if unit else 0
    return unit_of_length(_METRES_OF_DXF[code - 1]) if 0 < code <= len(_METRES_OF_DXF) else None


def _of_x3d(start: XmlStart) -> Unit | None:
    """Return the unit of the head; without one, lengths are in metres."""
    attribute = start.attributes.get("unit", {})
    if attribute.get("category") != "length":
        return METRE
    return unit_of_length(number(attribute.get("conversionFactor", "1").encode()))


def _of_xml(start: XmlStart, extension: str) -> tuple[Unit | None, str | None]:
    if start.root == "COLLADA":
        return _of_collada(start)
    if start.root == "X3D":
        return _of_x3d(start), "y"
    is_amf = "amf" in {start.root, extension}
    return (_of_attribute(start, "amf"), "z") if is_amf else (None, None)


def _of_collada(start: XmlStart) -> tuple[Unit | None, str | None]:
    attributes, up = start.attributes.get("unit", {}), start.texts.get("up_axis", "").strip()
    metres = number(attributes.get("meter", "1").encode())
    return unit_of_length(metres), {"X_UP": "x", "Z_UP": "z"}.get(up, "y")


def _of_attribute(start: XmlStart, element: str) -> Unit | None:
    name = start.attributes.get(element, {}).get("unit")
    return _UNITS["millimeter"] if name is None else unit_named(name)


def unit_named(name: str) -> Unit | None:
    """Return a unit by its English name, in the singular."""
    lower = name.lower()
    return _UNITS.get(_ALIASES.get(lower, lower))


def unit_of_length(metres: float | None) -> Unit | None:
    """Return the unit that has so many metres, with its name if it has one."""
    if metres is None or not 0 < metres < float("inf"):
        return None
    for unit in _UNITS.values():
        if abs(unit.metres - metres) < 1e-6 * metres:
            return unit
    return Unit(f"{metres:g} metres", metres)


def _unpack(data: bytes, ending: str) -> bytes:
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
    except BROKEN_ZIP:
        return b""


RULES: Mapping[str, Callable[[bytes, Mapping[str, Any]], tuple[Unit | None, str | None]]] = {
    "3mf": lambda data, _: (_of_attribute(xml_start(_root_of_3mf(data)), "model"), "z"),
    "amf": lambda data, _: _of_xml(xml_start(_unpack(data, ".amf")[:_START]), "amf"),
    "collada": lambda data, _: _of_collada(xml_start(_unpack(data, ".dae")[:_START])),
    "dxf": lambda data, _: (_of_dxf(data[:_START]), "z"),
    "fbx": lambda _, metadata: (
        unit_of_length(scale / 100)  # in centimetres
        if isinstance(scale := metadata.get("UnitScaleFactor"), float)
        else None,
        _AXES.get(metadata.get("UpAxis", -1)),
    ),
    "gltf": lambda _data, _: (METRE, "y"),  # version 1.0
    "x3d": lambda data, _: (_of_x3d(xml_start(data[:_START])), "y"),
    "x3db": lambda _data, _: (None, "y"),
    "xml": lambda data, _: _of_xml(xml_start(_unpack(data, ".amf")[:_START]), "xml"),
}
