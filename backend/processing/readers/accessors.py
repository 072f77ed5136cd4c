"""Typed arrays of glTF: accessors over views over buffers, with every bound checked."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.processing import limits
from backend.processing.readers.json_values import listing, mapping
from backend.processing.scene import RefusedError

Array = NDArray[Any]
Json = Mapping[str, Any]

# `componentType` of glTF 2.0, section 3.6.2.2, and its types with their numbers of components.
_COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
# Elements of an accessor without data that a document of any size may declare: glTF defines them as
# zeros, so a line of text could otherwise fill the memory.
_EMPTY_ELEMENTS = 1 << 16
_COLUMNS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


def entry(document: Json, name: str, index: object) -> dict[str, Any]:
    """Return one entry of a list of the document.

    Raises:
        RefusedError: the document has no such entry.
    """
    entries = listing(document.get(name))
    if not isinstance(index, int) or not 0 <= index < len(entries):
        raise RefusedError(f"{name} has no entry {index!r:.40}")
    return mapping(entries[index])


def whole(value: object, name: str) -> int:
    """Return a number that must be an integer and not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RefusedError(f"{name} is not a whole number: {value!r:.40}")
    return value


class Accessors:
    """The arrays of one document. `buffer` returns the bytes of a buffer by its index."""

    def __init__(self, document: Json, buffer: Callable[[int], bytes]) -> None:
        self._document = document
        self._buffer = buffer
        self._opened: dict[int, int] = {}

    def view(self, index: object) -> tuple[memoryview, int]:
        """Return the bytes of a buffer view and its stride, 0 for tightly packed."""
        view = entry(self._document, "bufferViews", index)
        number = whole(view.get("buffer"), "buffer")
        data = memoryview(self._buffer(number))
        self._opened[number] = len(data)
        start = whole(view.get("byteOffset", 0), "byteOffset")
        length = whole(view.get("byteLength"), "byteLength")
        if start + length > len(data):
            raise RefusedError(f"buffer view {index} reaches beyond its buffer")
        return data[start : start + length], whole(view.get("byteStride", 0), "byteStride")

    def read(self, index: object) -> Array:
        """Return an accessor as an array of (count, columns); normalized integers as floats."""
        accessor = entry(self._document, "accessors", index)
        kind, columns = self._type(accessor, index)
        count = whole(accessor.get("count"), "count")
        if count > limits.VERTICES * 3:
            raise RefusedError(f"accessor {index} has {count} elements, which are too many")
        if "bufferView" in accessor:
            values = self._read_packed(accessor, index, kind, columns, count)
        else:
            # Require fewer zeros than the opened buffers have bytes: they cost a file nothing.
            sparse = mapping(accessor.get("sparse"))
            for part in (mapping(sparse.get(name)) for name in ("indices", "values")):
                if "bufferView" in part:
                    self.view(part["bufferView"])
            if count > max(_EMPTY_ELEMENTS, sum(self._opened.values())):
                raise RefusedError(f"accessor {index} declares {count} elements without data")
            values = np.zeros((count, columns), kind)
        if "sparse" in accessor:
            values = self._replace_sparse(accessor["sparse"], values, index)
        if accessor.get("normalized") and values.dtype.kind in "iu":
            return np.maximum(values / np.iinfo(values.dtype).max, -1.0)
        return values

    def _type(self, accessor: Json, index: object) -> tuple[np.dtype[Any], int]:
        component, shape = accessor.get("componentType"), accessor.get("type")
        if component not in _COMPONENTS or shape not in _COLUMNS:
            raise RefusedError(f"accessor {index} has no valid type")
        return np.dtype(_COMPONENTS[component]), _COLUMNS[shape]

    def _read_packed(
        self, accessor: Json, index: object, kind: np.dtype[Any], columns: int, count: int
    ) -> Array:
        data, stride = self.view(accessor["bufferView"])
        start = whole(accessor.get("byteOffset", 0), "byteOffset")
        size = kind.itemsize * columns
        stride = stride or size
        end = start + stride * (count - 1) + size if count else start
        if stride < size or end > len(data):
            raise RefusedError(f"accessor {index} reaches beyond its buffer view")
        if not count:
            return np.zeros((0, columns), kind)
        return np.ndarray((count, columns), kind, data, start, (stride, kind.itemsize)).copy()

    def _replace_sparse(self, sparse: object, values: Array, index: object) -> Array:
        replaced = mapping(sparse)
        count = whole(replaced.get("count"), "count")
        places, replacements = mapping(replaced.get("indices")), mapping(replaced.get("values"))
        if not {"bufferView"} <= places.keys() & replacements.keys():
            raise RefusedError(f"accessor {index} has no valid sparse values")
        where, _ = self._type({**places, "type": "SCALAR"}, index)
        chosen = self._read_packed(places, index, where, 1, count)[:, 0].astype(np.int64)
        if count and int(chosen.max()) >= len(values):
            raise RefusedError(f"accessor {index} replaces elements that it does not have")
        columns = values.shape[1]
        values[chosen] = self._read_packed(replacements, index, values.dtype, columns, count)
        return values
