"""3MF packages. Assimp reads the objects of one part; the production extension has several.

For each part with meshes that are placed, assimp reads a package whose only model is that part, and
whose build places its meshes where the components of all parts place them.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import unquote
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers import assimp
from backend.processing.readers.archives import BROKEN_ZIP
from backend.processing.readers.checks import NUMBER
from backend.processing.readers.soundness import coordinate, line_at, no_number, number
from backend.processing.readers.text import utf8_lines
from backend.processing.readers.units import RELATION_OF_3MF, unit_and_up
from backend.processing.readers.xml_start import relations_of, xml_start
from backend.processing.scene import Floats, Part, RefusedError, Scene, words_of

_RELATIONS = "_rels/.rels"
_START = 1 << 16  # the root element is within it
# Components may be shared, so that each level multiplies what a small file places; and an object
# may contain itself.
_DEPTH, _PLACED, _PARTS = 32, 100_000, limits.REFERENCED_FILES


class _Use(NamedTuple):
    """An object of a part, placed by a matrix for row vectors."""

    part: str
    number: str
    matrix: Floats


@dataclass
class _Model:
    """The objects of a part: those with a mesh, and those that consist of others."""

    content: bytearray
    meshes: set[str] = field(default_factory=set[str])
    components: dict[str, list[_Use]] = field(default_factory=dict[str, list[_Use]])
    items: list[_Use] = field(default_factory=list[_Use])
    end: int = 0
    """The offset of the last tag."""


def read(data: bytes, name: str, files: Files) -> Scene:
    """Read a package.

    Raises:
        RefusedError: it is broken, or places what it does not contain.
    """
    nests = _require_elements(data)
    package = _Package.open(data, nests=nests)
    if package is None:
        return assimp.read(data, name, files)
    if not package.has_parts():
        for _ in package.place_meshes():  # assimp crashes on an object that contains itself
            pass
        return assimp.read(data, name, files)
    placed: dict[str, list[_Use]] = {}
    for use in package.place_meshes():
        placed.setdefault(use.part, []).append(use)
    if len(placed) > _PARTS:
        raise RefusedError(f"has objects in more than {_PARTS} parts")
    scenes = [assimp.read(package.only(part, uses), name, files) for part, uses in placed.items()]
    if not scenes:
        return assimp.read(data, name, files)
    return replace(_together(scenes), unit=unit_and_up("3mf", data, {})[0])


_ATTRIBUTES = re.compile(rb"\b([\w:]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
# Tags that do not have three numbers at their start, which nearly all have.
_ODD_TAG = re.compile(
    rb"<(?:\w+:)?(vertex|triangle)(?=[\s/>])(?!(?:\s+\w+\s*=\s*[\"']\s*"
    + NUMBER
    + rb"\s*[\"']){3,}\s*/?>)([^>]*)>"
)
_WHOLE = re.compile(rb"\s*\d+\s*")
_TRANSFORM = re.compile(rb"\btransform\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def _transform_of(text: bytes) -> list[float]:
    """Return the numbers of the attribute `transform`.

    Raises:
        RefusedError: it is not twelve numbers.
    """
    numbers = [value for token in text.split() if (value := number(token)) is not None]
    if not len(numbers) == len(text.split()) == 12:
        shown = text[:60].decode("utf-8", "replace")
        raise RefusedError(f"the transform '{shown}' is not twelve numbers")
    return numbers


def _require_model(data: bytes) -> None:
    """Check the vertices, triangles and transformations of a part of 3MF.

    Raises:
        RefusedError: the line, and what is in it.
    """
    for transform in _TRANSFORM.finditer(data):
        _transform_of(transform[1] or transform[2] or b"")
    for transform in _ODD_TAG.finditer(data):
        pairs = {name: double or other for name, double, other in _ATTRIBUTES.findall(transform[2])}
        is_vertex = transform[1] == b"vertex"
        for name in (b"x", b"y", b"z") if is_vertex else (b"v1", b"v2", b"v3"):
            value = pairs.get(name, b"")
            if is_vertex:
                coordinate(data, transform.start(), value.strip())
            elif not _WHOLE.fullmatch(value):
                raise no_number(line_at(data, transform.start()), value)


# Slices are another form of the same object; their vertices have no z.
_SLICES = re.compile(rb"<((?:\w+:)?slicestack)\b.*?</\1\s*>", re.DOTALL)
_BEAMS = re.compile(rb"<(?:\w+:)?beamlattice\b")
_MICROSOFT = "http://schemas.microsoft.com/3dmanufacturing/"
# What a part may require: read here, or without effect on its geometry.
_SUPPORTED = tuple(
    _MICROSOFT + name
    for name in ("core/", "production/", "material/", "securecontent/", "trianglesets/")
)


def _require_known_extensions(data: bytes) -> None:
    model = xml_start(data[:_START]).attributes.get("model", {})
    for prefix in model.get("requiredextensions", "").split():
        name = model.get(f"xmlns:{prefix}", prefix)
        if not name.startswith(_SUPPORTED):
            raise RefusedError(f"requires the extension {name:.100}, which no reader supports")
    if _BEAMS.search(data):
        raise RefusedError("has beam lattices, which no reader supports")


def _require_elements(data: bytes) -> bool:
    """Check the models of a package, and return whether objects of one may contain others.

    Assimp gives the reason of a broken or too large one.
    """
    left, nests = limits.INPUT_BYTES, False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if member.filename.lower().endswith(".model"):
                    left -= member.file_size
                    if left < 0:
                        return nests
                    content = utf8_lines(archive.read(member))
                    _require_known_extensions(content)
                    content = _SLICES.sub(b"", content)
                    _require_model(content)
                    nests = nests or b"component" in content
    except BROKEN_ZIP:
        pass
    return nests


class _Package:
    """The parts of a package, each read when it is first used."""

    def __init__(self, archive: zipfile.ZipFile, root: str) -> None:
        self._archive = archive
        self._names = {_part_name(name): name for name in reversed(archive.namelist())}
        self._root = root
        self._models: dict[str, _Model] = {}
        self._left = limits.INPUT_BYTES

    @classmethod
    def open(cls, data: bytes, *, nests: bool) -> "_Package | None":
        """A package with several parts, or whose objects may contain others; else None."""
        try:
            archive = zipfile.ZipFile(io.BytesIO(data))
            models = sum(name.lower().endswith(".model") for name in archive.namelist())
            if models < 2 and not nests:
                return None
            package = cls(archive, "")
            relations = relations_of(package.content(_RELATIONS))
            package._root = _part_name(relations.get(RELATION_OF_3MF, ""))
            package.model(package._root)
        except (*BROKEN_ZIP, RefusedError):
            return None
        return package

    def has_parts(self) -> bool:
        """Return whether the root places objects of other parts."""
        root = self.model(self._root)
        uses = [*root.items, *(use for component in root.components.values() for use in component)]
        return any(use.part != self._root for use in uses)

    def content(self, part: str) -> bytes:
        name = self._names.get(part)
        if name is None:
            raise RefusedError(f"places objects of the part /{part}, which it does not contain")
        with self._archive.open(name) as member:
            content = member.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise RefusedError(f"contains more than {limits.INPUT_BYTES} bytes")
        return content

    def model(self, part: str) -> _Model:
        if part not in self._models:
            try:
                self._models[part] = _model_of(part, self.content(part))
            except BROKEN_ZIP as error:
                raise RefusedError(f"the part /{part} cannot be read: {words_of(error)}") from error
        return self._models[part]

    def place_meshes(self) -> Iterator[_Use]:
        """The meshes of all parts, where the build of the root places them."""
        count = 0
        waiting = [(0, use) for use in reversed(self.model(self._root).items)]
        while waiting:
            depth, use = waiting.pop()
            model = self.model(use.part)
            if use.number in model.meshes:
                yield use
            elif use.number not in model.components:
                raise RefusedError(f"places object {use.number[:20]} of /{use.part}: there is none")
            count += 1
            if depth > _DEPTH or count > _PLACED:
                raise RefusedError(f"nests or places too many components (depth {_DEPTH})")
            waiting += [
                (depth + 1, component._replace(matrix=component.matrix @ use.matrix))
                for component in reversed(model.components.get(use.number, []))
            ]

    def only(self, part: str, uses: Sequence[_Use]) -> bytes:
        """A package with one part, which places meshes of its own."""
        model = self.model(part)
        items = "".join(
            f"<item objectid={quoteattr(use.number)} transform="
            f'"{" ".join(map(repr, use.matrix[:, :3].ravel().tolist()))}"/>'
            for use in uses
        )
        content = bytes(model.content)
        placing = f"<build>{items}</build>".encode()
        target = quoteattr(f"/{self._names[part].lstrip('/')}")
        relation = (
            f"<Relationship Id={quoteattr('r')} Type={quoteattr(RELATION_OF_3MF)} Target={target}/>"
        )
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as written:
            for key, name in self._names.items():
                if key not in {part, _RELATIONS} and not key.endswith((".model", "/")):
                    written.writestr(name, self.content(key))
            written.writestr(_RELATIONS, f"<Relationships>{relation}</Relationships>")
            whole = content[: model.end] + placing + content[model.end :]
            written.writestr(self._names[part], whole)
        return out.getvalue()


def _part_name(path: str) -> str:
    """A name by which parts are found: they differ by more than case, escapes, and Unicode form."""
    return normalize("NFC", unquote(path)).lstrip("/").lower()


def _model_of(part: str, content: bytes) -> _Model:
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        text = content.decode("utf-16", "replace")
        content = (text.partition("?>")[2] if text.startswith("<?xml") else text).encode()
    model = _Model(bytearray(content))
    _Parsing(part, model).run()
    return model


class _Parsing:
    """Reads objects, components and items of a part, and hides its own build from assimp."""

    def __init__(self, part: str, model: _Model) -> None:
        self._part, self._model = part, model
        self._object = ""
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._entity

    def run(self) -> None:
        try:
            self._parser.Parse(bytes(self._model.content), True)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise RefusedError(f"the part /{self._part} is no XML: {words_of(error)}") from error

    def _entity(self, *_declared: object) -> None:
        raise RefusedError(f"the part /{self._part} declares entities")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        match name.rpartition(" ")[2]:
            case "object":
                self._object = attributes.get("id", "")
            case "mesh":
                self._model.meshes.add(self._object)
            case "components":
                self._model.components.setdefault(self._object, [])
            case "component":
                self._model.components.setdefault(self._object, []).append(self._use(attributes))
            case "item":
                self._model.items.append(self._use(attributes))
            case "build":
                self._hide(1)
            case _:
                return

    def _end(self, name: str) -> None:
        match name.rpartition(" ")[2]:
            case "build":
                self._hide(2)
            case "model":
                self._model.end = self._parser.CurrentByteIndex
            case _:
                return

    def _hide(self, before: int) -> None:
        at = self._parser.CurrentByteIndex + before
        if bytes(self._model.content[at : at + 5]) == b"build":
            self._model.content[at : at + 5] = b"other"

    def _use(self, attributes: dict[str, str]) -> _Use:
        paths = [value for key, value in attributes.items() if key.endswith(" path")]
        part = _part_name(paths[0]) if paths else self._part
        matrix, text = np.eye(4), attributes.get("transform")
        if text is not None:
            matrix[:, :3] = np.array(_transform_of(text.encode())).reshape(4, 3)
        if not np.isfinite(matrix).all():
            raise RefusedError(f"the transform '{text:.60}' is not finite")
        return _Use(part, attributes.get("objectid", ""), matrix)


def _together(scenes: Sequence[Scene]) -> Scene:
    parts, materials = list[Part](), list(scenes[0].materials[:0])
    for scene in scenes:
        parts += [replace(part, material=part.material + len(materials)) for part in scene.parts]
        materials += scene.materials
    return replace(
        scenes[0],
        parts=parts,
        materials=materials,
        meshes=sum(scene.meshes for scene in scenes),
        embedded_textures=sum(scene.embedded_textures for scene in scenes),
    )
