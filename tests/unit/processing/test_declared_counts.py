"""Files that declare more than they hold are refused before anything loops over it."""

import struct
from collections.abc import Callable
from typing import Any

import pytest

from backend.processing import limits
from backend.processing.files import State
from backend.processing.inspection import inspect
from tests.unit.processing import samples


def gltf(**changes: Any) -> bytes:
    return samples.encoded(samples.cube_gltf(**changes))


class Asset:
    """An asset with the buffer of the cube."""

    def open(self, name: str) -> tuple[str, State, bytes | None]:
        return name, "found", samples.cube_binary()


def las_records(*, extended: bool = False) -> bytes:
    """A point cloud of only a header, which declares four billion records."""
    head = bytearray(375 if extended else 227)
    head[:4] = b"LASF"
    head[24:26] = bytes((1, 4 if extended else 2))
    records = 0 if extended else 0xFFFFFFFF
    struct.pack_into("<HII", head, 94, len(head), len(head), records)
    struct.pack_into("<BHI", head, 104, 0, 20, 0)
    if extended:
        struct.pack_into("<QIQ", head, 235, len(head), 0xFFFFFFFF, 0)
    return bytes(head)


def las_points(point_format: int) -> bytes:
    """A point cloud of only a header, which declares as many points as are allowed."""
    head = bytearray(las_records())
    struct.pack_into("<I", head, 100, 0)
    struct.pack_into("<BHI", head, 104, point_format, 20, 399_999_999)
    return bytes(head)


def zeros_of_nothing(primitives: int) -> bytes:
    """Meshes of vertices without data: an accessor without a buffer view is zeros."""
    mesh = {"primitives": [{"attributes": {"POSITION": 0}}] * primitives}
    empty = {"componentType": 5126, "count": 1_999_999, "type": "VEC3"}
    return gltf(accessors=[empty], meshes=[mesh], nodes=[{"mesh": 0}])


def shared_nodes() -> bytes:
    nodes: list[dict[str, Any]] = [{"children": [n + 1] * 64} for n in range(300)]
    return gltf(nodes=[*nodes, {"mesh": 0}])


def instances() -> bytes:
    """A small file with 2 to the power of 40 instances: each node has the next one twice."""
    nodes: list[dict[str, Any]] = [{"children": [n + 1, n + 1]} for n in range(40)]
    return gltf(nodes=[*nodes, {"mesh": 0}])


DECLARED: dict[str, tuple[Callable[[], bytes], str]] = {
    "records.las": (las_records, "4294967295 variable records, the file has room for 0"),
    "extended.las": (
        lambda: las_records(extended=True),
        "4294967295 extended variable records, the file has room for 0",
    ),
    "points.las": (lambda: las_points(0), "399999999 points, the file has room for 0"),
    "points.laz": (lambda: las_points(0x80), "399999999 points, the file has room for 0"),
    "zeros.gltf": (lambda: zeros_of_nothing(1), "1999999 elements without data"),
    "zeros2.gltf": (lambda: zeros_of_nothing(1000), "1999999 elements without data"),
    "shared.gltf": (shared_nodes, "its nodes are not a tree"),
    "instances.gltf": (instances, "its nodes are not a tree"),
}
"""Files that declare more than they hold, and what the reason says."""


def test_what_a_header_declares_is_compared_with_the_file_before_it_is_read() -> None:
    reasons = {
        name: inspect(name, made(), Asset()).refused or "read"
        for name, (made, _) in DECLARED.items()
    }
    assert [
        f"{name}: {reasons[name]}"
        for name, (_, output) in DECLARED.items()
        if output not in reasons[name]
    ] == []


def test_vertices_that_many_primitives_share_are_counted_while_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "VERTICES", 1000)
    document = samples.cube_gltf()
    document["meshes"][0]["primitives"] *= 1000
    refused = inspect("a.gltf", samples.encoded(document), Asset()).refused
    assert refused == "more than 1000 vertices"
