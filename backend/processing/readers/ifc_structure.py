"""The tree of an IFC model: what contains each element, and its types and properties, as JSON."""

import gzip
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from backend.processing import limits
from backend.processing.scene import Node
from backend.processing.texts import printable_line

# Properties in properties: files have one step. Hostile ones name each other over and over.
_DEPTH = 4
# Where the values of these properties are among their attributes.
_VALUES = {
    "IfcPropertySingleValue": (2,),
    "IfcPropertyEnumeratedValue": (2,),
    "IfcPropertyListValue": (2,),
    "IfcPropertyBoundedValue": (3, 2),
    "IfcPhysicalSimpleQuantity": (3,),
}
# Where properties are among the attributes of what has some.
_MEMBERS = {
    "IfcPropertySet": 4,
    "IfcElementQuantity": 5,
    "IfcComplexProperty": 3,
    "IfcPhysicalComplexQuantity": 2,
}
# Of the names of elements and types; a longer one is cut.
_CHARACTERS = 300


class _TooMuchError(Exception):
    """The properties take too much time or space; the message is the limit."""


def nodes_of(
    file: Any, wholes: Mapping[int, int], shaped: Sequence[int]
) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    """Return the elements that have a shape, each after what contains it, and what is left out.

    `wholes` are the ids of what contains elements, by their own.
    """
    places: dict[int, int] = {}
    nodes: list[Node] = []
    for element in shaped:
        chain = [element]
        while chain[-1] not in places and chain[-1] in wholes:
            chain.append(wholes[chain[-1]])
        for id_ in reversed(chain):
            if id_ not in places:
                places[id_] = len(nodes)
                parent = places.get(wholes.get(id_, -1), -1)
                entity = file.by_id(id_)
                nodes.append(Node(_text(entity, 2) or entity.is_a(), id_, parent))
                if len(nodes) > limits.GLB_NODES:
                    return (), (f"properties, as more than {limits.GLB_NODES} elements are drawn",)
    return tuple(nodes), ()


def structure_of(
    file: Any, nodes: Sequence[Node], seconds: float
) -> tuple[bytes | None, tuple[str, ...]]:
    """Return the structure of a model, compressed, and what is left out of it.

    Properties are read for so many `seconds` of processor time.
    """
    if not nodes:
        return None, ()
    properties = _Properties(file, frozenset(node.id for node in nodes), seconds)
    storeys: list[str] = []
    elements: list[str] = []
    for node in nodes:
        entity = file.by_id(node.id)
        storey = storeys[node.parent] if node.parent >= 0 else ""
        storeys.append(node.name if entity.is_a("IfcBuildingStorey") else storey)
        fields = {
            "type": entity.is_a(),
            "typeName": properties.types.get(node.id),
            "globalId": _text(entity, 0),
            "storey": storey,
            "sets": list(dict.fromkeys(properties.sets_of[node.id])),
        }
        elements.append(f'"{node.id}":{_json({key: fields[key] for key in fields if fields[key]})}')
    text = f'{{"elements":{{{",".join(elements)}}},"sets":[{",".join(properties.sets)}]}}'
    if len(text) > limits.STRUCTURE_BYTES:
        return None, (_too_large("properties"),)
    return gzip.compress(text.encode(), compresslevel=4, mtime=0), properties.left_out


class _Properties:
    """The sets of properties of elements by their ids, and the names of their types.

    Each set is read once, as JSON. Those of an element go before those of its type.
    """

    def __init__(self, file: Any, ids: frozenset[int], seconds: float) -> None:
        self._ends = time.process_time() + seconds
        self._ids = ids
        self._bytes = 0
        self._numbers: dict[int, int] = {}
        self.sets_of = defaultdict[int, list[int]](list)
        self.sets: list[str] = []
        self.types: dict[int, str] = {}
        self.left_out: tuple[str, ...] = ()
        try:
            for relation in file.by_type("IfcRelDefinesByProperties"):
                self._define(relation, relation[5])
            for relation in file.by_type("IfcRelDefinesByType"):
                for kind in _entities(relation[5]):
                    if kind.is_a("IfcTypeObject"):
                        elements = self._define(relation, kind[5])
                        self.types |= dict.fromkeys(elements, _text(kind, 2))
        except _TooMuchError as error:
            self.left_out = (str(error),)

    def _define(self, relation: Any, sets: object) -> list[int]:
        """Add sets to the elements of a relation, and return these elements."""
        elements: list[int] = []
        for entity in _entities(relation[4]):
            self._require_rest()
            if entity.id() in self._ids:
                elements.append(entity.id())
        for entity in _entities(sets) if elements else ():
            if entity.id() not in self._numbers:
                values: dict[str, Any] = {}
                for name, value in self._values_in(entity, "", _DEPTH):
                    self._require_rest(len(_json([name, value])))
                    values[name] = value
                self._numbers[entity.id()] = len(self.sets) if values else -1
                if values:
                    self.sets.append(_json({"name": _text(entity, 2), "values": values}))
            self._require_rest(8 * len(elements))
            number = self._numbers[entity.id()]
            for element in elements if number >= 0 else ():
                self.sets_of[element].append(number)
        return elements

    def _values_in(
        self, entity: Any, prefix: str, depth: int
    ) -> Iterator[tuple[str, str | int | float]]:
        """Return the names and values of properties, and of those that they contain."""
        at = next((at for kind, at in _MEMBERS.items() if entity.is_a(kind)), None)
        for member in () if at is None or not depth else _entities(entity[at]):
            self._require_rest()
            name = f"{prefix}{_text(member, 0)}"
            yield from self._values_in(member, f"{name} / ", depth - 1)
            places = next((at for kind, at in _VALUES.items() if member.is_a(kind)), ())
            # A value without its measure; that of a reference is an entity.
            plain = (
                value[0] if hasattr(value, "is_a") and not value.id() else value
                for at in places
                for value in _several(member[at])
            )
            values = [
                printable_line(value) if isinstance(value, str) else value
                for value in plain
                if isinstance(value, str | int | float)
            ]
            if values:
                between = " to " if member.is_a("IfcPropertyBoundedValue") else ", "
                yield name, values[0] if len(values) == 1 else between.join(map(str, values))

    def _require_rest(self, size: int = 0) -> None:
        """Require that there is time and space for further properties."""
        self._bytes += size
        if self._bytes > limits.STRUCTURE_BYTES // 2:
            raise _TooMuchError(_too_large("some properties"))
        if time.process_time() > self._ends:
            raise _TooMuchError("some properties, which take too much processor time")


def _too_large(what: str) -> str:
    return f"{what}, which take more than {limits.STRUCTURE_BYTES // limits.MIB} MiB"


def _several(value: object) -> tuple[Any, ...]:
    """Return the values of an attribute that may have one, several or none."""
    if value is None:
        return ()
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def _entities(value: object) -> list[Any]:
    """Return the entities of an attribute, which in a broken file may have anything."""
    return [entity for entity in _several(value) if hasattr(entity, "is_a")]


def _text(entity: Any, at: int) -> str:
    value = entity[at]
    return printable_line(value)[:_CHARACTERS] if isinstance(value, str) else ""


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
