"""Drawings in DXF as text. Assimp reads every second segment of their polylines, turns no block and
places no block within another one (version 6.0)."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from backend.processing import limits
from backend.processing.readers.dxf_entities import (
    DRAWN,
    Entity,
    Geometry,
    Tag,
    draw_polyline,
)
from backend.processing.readers.polygons import triangle_order
from backend.processing.readers.soundness import finite_rows, line_at
from backend.processing.readers.text import utf8_lines
from backend.processing.readers.units import unit_and_up
from backend.processing.scene import Floats, Indices, Material, Part, RefusedError, Scene

BINARY = b"AutoCAD Binary DXF"
_GROUP = re.compile(rb"[ \t]*(-?\d{1,4})[ \t]*\n([^\n]*)(?:\n|\Z)")
# A group code that the DXF Reference reserves for comments.
_COMMENT = 999
# Blocks within blocks; each level is a call of Python within the last one (decision 49).
_NESTED = 64
_PARTS_OF_OTHERS = frozenset({"ATTDEF", "SEQEND", "VERTEX"})


class _Insert(NamedTuple):
    """A block at its places: a matrix, and the position of each copy."""

    name: bytes
    matrix: Floats  # (3, 3)
    places: Floats  # (n, 3)


@dataclass
class _Block:
    """A block, or the drawing itself."""

    base: tuple[float, float, float] = (0.0, 0.0, 0.0)
    geometry: Geometry = field(default_factory=Geometry)
    inserts: list[_Insert] = field(default_factory=list[_Insert])
    unread: Counter[str] = field(default_factory=Counter[str])


class _Drawn(NamedTuple):
    """Lines as pairs of positions, triangles as three."""

    lines: Floats  # (n, 2, 3)
    triangles: Floats  # (m, 3, 3)


def read(data: bytes) -> Scene:
    """Read the model space of a drawing.

    Raises:
        RefusedError: it cannot be read, or has nothing that is drawn.
    """
    text = utf8_lines(data)
    blocks, drawing = _blocks(text)
    resolving = _Resolving(blocks)
    drawn = resolving.drawn(drawing)
    unread = " and ".join(f"{n} {kind}" for kind, n in sorted(resolving.unread.items())[:20])
    if not len(drawn.lines) and not len(drawn.triangles):
        if not unread:
            raise RefusedError("this drawing has no lines, polylines or 3D faces")
        raise RefusedError(
            f"this drawing has only {unread}, which are not read: convert splines, ellipses and "
            "texts to lines or polylines, solids and meshes to 3DFACE"
        )
    left_out = [f"{unread}, which are not read"] if unread else []
    parts = _parts(drawn, left_out)
    unit, _ = unit_and_up("dxf", data, {})
    return Scene(
        "Drawing Interchange Format (DXF)",
        parts,
        [Material(declared=False)],
        meshes=len(parts),
        up="z",
        defines_up=True,
        unit=unit,
        left_out=tuple(left_out),
    )


def _entities(text: bytes) -> Iterator[Entity]:
    """Return the records of a file: an entity, or the begin or end of a section or block.

    Raises:
        RefusedError: a line is not a group code.
    """
    at, entity = len(text) - len(text.lstrip()), Entity("", text)
    while at < len(text) and (group := _GROUP.match(text, at)):
        code, value = int(group[1]), group[2].strip()
        if code == 0:
            yield entity
            entity = Entity(value[:40].decode("ascii", "replace").upper(), text)
            if entity.kind == "EOF":
                return
        elif code != _COMMENT:
            entity.tags.append(Tag(code, value, group.start(2)))
        at = group.end()
    line = text[at : at + 40].split(b"\n", 1)[0].decode("utf-8", "replace")
    raise RefusedError(f"{line_at(text, at)}: '{line}' is not a group code")


def _blocks(text: bytes) -> tuple[dict[bytes, _Block], _Block]:
    """Return the blocks by name, and what the drawing itself contains."""
    blocks: dict[bytes, _Block] = {}
    drawing, block, section = _Block(), None, b""
    layers = _Layers()
    polyline: tuple[_Block, Entity, list[Entity]] | None = None
    for entity in _entities(text):
        if entity.kind == "VERTEX" and polyline is not None:
            polyline[2].append(entity)
            continue
        if polyline is not None:
            draw_polyline(polyline[1], polyline[2], polyline[0].geometry)
            polyline = None
        if entity.kind == "SECTION":
            section = entity.value(2)
        elif entity.kind == "ENDSEC":
            section = b""
        elif entity.kind == "BLOCK":
            block = blocks.setdefault(entity.value(2).upper(), _Block(entity.point(10)))
        elif entity.kind == "ENDBLK":
            block = None
        target = {b"ENTITIES": drawing, b"BLOCKS": block}.get(section)
        # Entities of layouts (paper space) show the model again, at another scale.
        layers.add(section, entity)
        if target is None or entity.kind in {"SECTION", "BLOCK"} or entity.whole(67):
            continue
        target = layers.drawn(target, entity)
        if entity.kind == "POLYLINE":
            polyline = (target, entity, [])
        else:
            _add(target, entity)
    return blocks, drawing


@dataclass
class _Layers:
    """The layers that are not displayed. Blocks on a layer that is off are."""

    frozen: set[bytes] = field(default_factory=set[bytes])
    off: set[bytes] = field(default_factory=set[bytes])

    def add(self, section: bytes, layer: Entity) -> None:
        """Add the layer, if it is one."""
        if section != b"TABLES" or layer.kind != "LAYER":
            return
        name = layer.value(2).upper()
        if layer.whole(70) & 1:
            self.frozen.add(name)
        if layer.number(62) < 0:
            self.off.add(name)

    def drawn(self, target: _Block, entity: Entity) -> _Block:
        """Return where an entity is drawn: nowhere, if it is not displayed."""
        layer = entity.value(8).upper()
        if layer in self.frozen or (layer in self.off and entity.kind != "INSERT"):
            target.unread["on layers that are frozen or off"] += 1
        elif entity.whole(60) == 1:
            target.unread["invisible"] += 1
        else:
            return target
        return _Block()


def _add(target: _Block, entity: Entity) -> None:
    if entity.kind == "INSERT" and 0 in {entity.number(41, 1.0), entity.number(42, 1.0)}:
        target.unread["INSERT of a scale of 0"] += 1
    elif entity.kind == "INSERT":
        target.inserts.append(_insert(entity))
    elif draw := DRAWN.get(entity.kind):
        draw(entity, target.geometry)
    elif entity.kind not in _PARTS_OF_OTHERS:
        target.unread[entity.kind] += 1


def _insert(entity: Entity) -> _Insert:
    columns, rows = (max(1, entity.whole(code)) for code in (70, 71))
    if columns * rows > limits.NODES:
        raise RefusedError(f"a block is placed {columns * rows} times, more than {limits.NODES}")
    angle = math.radians(entity.number(50))
    if not math.isfinite(angle):
        raise RefusedError("a block is turned by an angle that is not finite")
    cosine, sine = math.cos(angle), math.sin(angle)
    turn = np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])
    steps = np.zeros((rows, columns, 3))
    steps[..., 0] = np.arange(columns) * entity.number(44)
    steps[..., 1] = np.arange(rows)[:, None] * entity.number(45)
    plane = entity.plane()
    scale = np.diag([entity.number(code, 1.0) for code in (41, 42, 43)])
    places = (np.array(entity.point(10)) + steps.reshape(-1, 3) @ turn.T) @ plane.T
    return _Insert(entity.value(2).upper(), plane @ turn @ scale, places)


class _Resolving:
    """Places blocks where they are inserted. `unread` counts what is not read in blocks in use."""

    def __init__(self, blocks: dict[bytes, _Block]) -> None:
        self._blocks = blocks
        self._known: dict[bytes, _Drawn] = {}
        self.unread = Counter[str]()

    def drawn(self, block: _Block, within: tuple[bytes, ...] = ()) -> _Drawn:
        """Return what a block draws, around its base point.

        Raises:
            RefusedError: blocks are nested too deep, contain themselves or draw too much.
        """
        self.unread.update(block.unread)
        own = _own(block.geometry)
        lines, triangles, amount = [own.lines], [own.triangles], Counter[str]()
        for insert in block.inserts:
            child = self._draw_insert(insert.name, within)
            amount["lines"] += len(child.lines) * len(insert.places)
            amount["triangles"] += len(child.triangles) * len(insert.places)
            if (
                amount["lines"] * 2 + amount["triangles"] * 3 > limits.VERTICES
                or amount["triangles"] > limits.TRIANGLES
            ):
                raise RefusedError(f"blocks draw more than {limits.VERTICES} vertices")
            for made, elements in ((lines, child.lines), (triangles, child.triangles)):
                if len(elements):
                    moved = elements @ insert.matrix.T
                    placed = moved[None] + insert.places[:, None, None]
                    made.append(placed.reshape(-1, *elements.shape[1:]))
        base = np.array(block.base)
        return _Drawn(np.concatenate(lines) - base, np.concatenate(triangles) - base)

    def _draw_insert(self, name: bytes, within: tuple[bytes, ...]) -> _Drawn:
        if name not in self._known:
            if name in within:
                shown = name[:40].decode("utf-8", "replace")
                raise RefusedError(f"the block '{shown}' contains itself")
            if len(within) >= _NESTED:
                raise RefusedError(f"blocks are nested more than {_NESTED} deep")
            block = self._blocks.get(name)
            if block is None:  # of another file
                self.unread["INSERT of a block that the file does not have"] += 1
                block = _Block()
            # Once for each block: n nested ones that are inserted twice each would be drawn 2^n
            # times.
            self._known[name] = self.drawn(block, (*within, name))
        return self._known[name]


def _own(geometry: Geometry) -> _Drawn:
    lines = np.frombuffer(geometry.lines, np.float64).reshape(-1, 2, 3)
    corners = np.frombuffer(geometry.corners, np.float64).reshape(-1, 3)
    counts = np.frombuffer(geometry.counts, np.int64)
    if 2 * len(lines) + len(corners) > limits.VERTICES:
        raise RefusedError(f"more than {limits.VERTICES} vertices")
    order = triangle_order(np.arange(len(corners)), counts, corners)
    return _Drawn(lines, corners[order.reshape(-1)].reshape(-1, 3, 3))


def _parts(drawn: _Drawn, left_out: list[str]) -> list[Part]:
    """Return a part for the triangles and one for the lines, whose vertices are joined."""
    parts: list[Part] = []
    for elements, corners in ((drawn.triangles, 3), (drawn.lines, 2)):
        finite = finite_rows(elements.reshape(-1, 3 * corners))
        if not finite.all():
            what = "triangles" if corners == 3 else "lines"
            wrong = int((~finite).sum())
            left_out.append(f"{wrong} of {len(finite)} {what} have a vertex that is not finite")
        if finite.any():
            positions, joined = _join(elements[finite].reshape(-1, 3))
            indices = joined.reshape(-1, corners)
            parts.append(
                Part(positions, triangles=indices)
                if corners == 3
                else Part(positions, lines=indices)
            )
    return parts


def _join(places: Floats) -> tuple[Floats, Indices]:
    positions, joined = np.unique(places, axis=0, return_inverse=True)
    return positions, joined.reshape(-1).astype(np.int64)
