"""IFC: OpenCASCADE shapes the elements of a building, with their openings cut."""

import functools
import re
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.checks import require_step
from backend.processing.readers.ifc_graph import wholes_of, wrong_references
from backend.processing.readers.ifc_structure import nodes_of, structure_of
from backend.processing.readers.step_header import originating_system
from backend.processing.readers.text import utf8_lines
from backend.processing.readers.units import unit_of_length
from backend.processing.scene import METRE, Material, Part, RefusedError, Scene
from backend.processing.texts import printable_line

_SCHEMA = re.compile(r"(FILE_SCHEMA\s*\(\s*\(\s*')([^']*)(')")
_HEADER_CHARACTERS = 65536
# The schemas of the layer, and the beginnings of the names under which files have them.
_SCHEMAS = {"IFC2X3": "IFC2X3", "IFC4X3": "IFC4X3_ADD2", "IFC4_": "IFC4", "IFC4": "IFC4"}
_OTHER_IFC4 = re.compile("IFC4X[12]")
# Rooms would hide the walls around them; openings are what is cut.
_NOT_DRAWN = ["IfcSpace", "IfcOpeningElement"]
# Of the processor time that a file has. The rest is for reading it before, and pictures after.
_SHARE, _SHARE_OF_PROPERTIES = 0.5, 0.15


@functools.cache
def library() -> Any:
    """Return the library. It opens files late: before confinement it shapes a box of each schema.

    Its wrapper loads a schema, and what shapes its elements, at the first file.
    """
    import_module("ifcopenshell.geom")  # only the function `InspectIfc` has it
    module: Any = import_module("ifcopenshell")
    for schema in dict.fromkeys(_SCHEMAS.values()):
        file = module.ifcopenshell_wrapper.read(_BOX.format(schema=schema))
        if not list(_shapes(_iterator(module, file))):
            raise ImportError(f"IfcOpenShell cannot shape elements of {schema}")
    return module


_BOX = """ISO-10303-21;HEADER;FILE_DESCRIPTION((''),'2;1');FILE_NAME('','',(''),(''),'','','');
FILE_SCHEMA(('{schema}'));ENDSEC;DATA;#1=IFCCARTESIANPOINT((0.,0.,0.));
#2=IFCAXIS2PLACEMENT3D(#1,$,$);#3=IFCLOCALPLACEMENT($,#2);#4=IFCCARTESIANPOINT((0.,0.));
#5=IFCAXIS2PLACEMENT2D(#4,$);#6=IFCRECTANGLEPROFILEDEF(.AREA.,$,#5,1.,1.);
#7=IFCDIRECTION((0.,0.,1.));#8=IFCEXTRUDEDAREASOLID(#6,#2,#7,1.);
#9=IFCGEOMETRICREPRESENTATIONCONTEXT($,'Model',3,1.E-05,#2,$);
#10=IFCSHAPEREPRESENTATION(#9,'Body','SweptSolid',(#8));
#11=IFCPRODUCTDEFINITIONSHAPE($,$,(#10));
#12=IFCBUILDINGELEMENTPROXY('1VlJ7nwF5FGfn2zOoF8pUb',$,'',$,$,#3,#11,$,$);
ENDSEC;END-ISO-10303-21;"""


def read(data: bytes, _name: str, _files: Files) -> Scene:
    """Read an IFC file in the STEP format.

    Raises:
        RefusedError: it is not valid, or has a schema or a size that is not read.
    """
    data = utf8_lines(data)
    require_step(data)
    wrong = list(wrong_references(data))
    module = library()
    file = _parsed(module, data)
    elements = len(file.by_type("IfcElement")) - len(file.by_type("IfcFeatureElementSubtraction"))
    if len(file.by_type("IfcProduct")) > limits.NODES:
        raise RefusedError(f"places more than {limits.NODES} elements")
    wholes = wholes_of(file)
    iterator = _iterator(module, file)
    seconds = limits.cpu_seconds_for(len(data))
    building = _Building(file, seconds * _SHARE)
    building.add_all(_shapes(iterator))
    # The method of the Python class fails in version 0.9.0.
    tasks = module.ifcopenshell_wrapper.iterator.get_task_products(iterator)
    products = {product.id(): product.is_a() for products in tasks for product in products}
    if not products and not elements:
        raise RefusedError("holds no elements")
    metres = float(iterator.unit_magnitude()) if products else METRE.metres
    nodes, flat = nodes_of(file, wholes, list(building.shaped))
    structure, without = structure_of(file, nodes, seconds * _SHARE_OF_PROPERTIES)
    unit = unit_of_length(metres) or METRE
    for part in building.parts:
        part.positions[:] /= unit.metres
    return Scene(
        "IFC",
        building.parts,
        building.materials,
        building.meshes,
        generator=originating_system(data),
        up="z",
        defines_up=True,
        unit=unit,
        left_out=(*wrong, *building.left_out(products), *flat, *without),
        facts={"elements": elements, "storeys": len(file.by_type("IfcBuildingStorey"))},
        nodes=nodes,
        structure=structure,
    )


def _parsed(module: Any, data: bytes) -> Any:
    """Return the entities of a file."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    header = _SCHEMA.search(text, 0, _HEADER_CHARACTERS)
    named = header[2].strip().upper() if header else ""
    schema = next((read for name, read in _SCHEMAS.items() if named.startswith(name)), None)
    if header is None or schema is None or _OTHER_IFC4.match(named):
        what = f"its schema is {printable_line(named)[:40]}" if named else "it names no schema"
        raise RefusedError(f"{what}: only IFC2X3, IFC4 and IFC4X3 are read")
    file = module.ifcopenshell_wrapper.read(
        f"{text[: header.start(2)]}{schema}{text[header.end(2) :]}"
    )
    if file.good().value():
        errors = re.findall(r"\[error\] \[[^\]]*\] (.*)", module.ifcopenshell_wrapper.get_log())
        raise RefusedError(f"not valid: {errors[-1] if errors else 'IfcOpenShell cannot parse it'}")
    return file


def _iterator(module: Any, file: Any) -> Any:
    settings = module.geom.settings()
    settings.set("use-world-coords", True)
    settings.set("no-normals", True)
    # One thread: a confined process starts none.
    return module.geom.iterator(
        settings, file, 1, exclude=_NOT_DRAWN, geometry_library="opencascade"
    )


def _shapes(iterator: Any) -> Iterator[Any]:
    has_next = iterator.initialize()
    while has_next:
        yield iterator.get()
        has_next = iterator.next()


class _Building:
    """The shapes of a building. Beyond so many `seconds` of the processor none is added."""

    def __init__(self, file: Any, seconds: float) -> None:
        self._file = file
        self._seconds = seconds
        self._started = time.process_time()
        self._is_late = False
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._vertices = 0
        self.shaped: dict[int, None] = {}
        self.parts: list[Part] = []
        self.materials: list[Material] = []

    @property
    def meshes(self) -> int:
        return len(self.shaped)

    def add_all(self, shapes: Iterator[Any]) -> None:
        for shape in shapes:
            self._add(shape)
            if time.process_time() - self._started > self._seconds:
                self._is_late = True
                return

    def left_out(self, products: dict[int, str]) -> Iterator[str]:
        """Return what is missing of the products that have a shape in the file."""
        missing = sorted(products.keys() - self.shaped.keys())
        if missing:
            why = (
                f"were not shaped within {self._seconds:.0f} seconds of processor time"
                if self._is_late
                else "cannot be shaped by OpenCASCADE"
            )
            first = f"#{missing[0]}, {products[missing[0]]}"
            yield f"{len(missing)} of {len(products)} elements {why} (first: {first})"

    def _add(self, shape: Any) -> None:
        geometry = shape.geometry
        node = int(shape.id)
        self.shaped[node] = None
        positions = np.frombuffer(geometry.verts_buffer, np.float64).reshape(-1, 3)
        triangles = np.frombuffer(geometry.faces_buffer, np.int32).reshape(-1, 3)
        owners = np.frombuffer(geometry.material_ids_buffer, np.int32)
        self._vertices += len(positions)
        if self._vertices > limits.VERTICES:
            raise RefusedError(f"has more than {limits.VERTICES} vertices")
        styles = list(geometry.materials)
        for number in np.unique(owners):
            used, corners = np.unique(triangles[owners == number], return_inverse=True)
            material = self._material(styles[number]) if 0 <= number < len(styles) else -1
            triangles_of = corners.reshape(-1, 3)
            self.parts.append(Part(positions[used], triangles_of, material=material, node=node))

    def _material(self, style: Any) -> int:
        color: Any = style.diffuse
        alpha = 1.0 - style.transparency if style.has_transparency() else 1.0
        red, green, blue = (_channel(part) for part in (color.r(), color.g(), color.b()))
        channels = (red, green, blue, _channel(alpha))
        key = (style.instance_id(), channels)
        if key not in self._numbers:
            # A colour that the library gives a kind of elements is none of the file.
            declared = key[0] > 0
            name = self._file.by_id(key[0]).Name or "" if declared else ""
            self._numbers[key] = len(self.materials)
            self.materials.append(Material(name, channels, declared=declared))
        return self._numbers[key]


def _channel(value: float) -> float:
    return min(max(value, 0.0), 1.0) if np.isfinite(value) else 0.8
