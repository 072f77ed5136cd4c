"""The places of meshes in a glTF document: nodes, instances, and joints of skins."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from backend.processing import limits
from backend.processing.readers.accessors import Accessors, entry, whole
from backend.processing.readers.json_values import listing, mapping
from backend.processing.readers.transforms import UNMOVED
from backend.processing.scene import Floats, Indices, Part, RefusedError

INFLUENCES = ("JOINTS_0", "WEIGHTS_0", "JOINTS_1", "WEIGHTS_1")
_INSTANCING = "EXT_mesh_gpu_instancing"
# Each vertex takes up to eight matrices of 128 bytes: 64 MiB for a chunk.
_CHUNK = 1 << 16
Json = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Influence:
    """The joints that move each vertex, and their weights."""

    joints: Indices
    weights: Floats


def transformation(node: Json) -> Floats:
    matrix = _numbers(node.get("matrix"), 16)
    if matrix is not None:
        return matrix.reshape(4, 4).T
    world = UNMOVED.copy()
    rotation = _numbers(node.get("rotation"), 4)
    if rotation is not None:
        x, y, z, w = rotation
        world[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    scale = _numbers(node.get("scale"), 3)
    if scale is not None:
        world[:3, :3] *= scale
    translation = _numbers(node.get("translation"), 3)
    if translation is not None:
        world[:3, 3] = translation
    return world


def _numbers(value: object, count: int) -> Floats | None:
    if value is None:
        return None
    try:
        numbers = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise RefusedError("the transformation of a node is not valid") from None
    if numbers.shape != (count,):
        raise RefusedError("the transformation of a node is not valid")
    return numbers


def instances(node: Json, world: Floats, accessors: Accessors, most: int) -> Iterator[Floats]:
    """Return the transformations of a node's mesh: one, or those of its instances."""
    extensions = mapping(node.get("extensions"))
    if _INSTANCING not in extensions:
        yield world
        return
    attributes = mapping(mapping(extensions[_INSTANCING]).get("attributes"))
    names = {"TRANSLATION": "translation", "ROTATION": "rotation", "SCALE": "scale"}
    columns = {
        names[name]: accessors.read(attributes[name]) for name in names if name in attributes
    }
    if len({len(column) for column in columns.values()}) != 1:
        raise RefusedError("the instances of a node have no or different numbers of places")
    count = len(next(iter(columns.values())))
    if count > most:
        raise RefusedError(f"more than {limits.NODES} instances")
    for row in range(count):
        yield world @ transformation({name: column[row] for name, column in columns.items()})


class Skins:
    """The skins of one document."""

    def __init__(self, document: Json, accessors: Accessors) -> None:
        self._document = document
        self._accessors = accessors

    def joints(self, index: object, worlds: Mapping[int, Floats]) -> Floats:
        """Return by joint the matrix that moves vertices bound to it, given those of the nodes."""
        skin = entry(self._document, "skins", index)
        joints, unmoved = listing(skin.get("joints")), np.eye(4)
        moved = [worlds.get(whole(joint, "joint"), unmoved) for joint in joints]
        matrices: Floats = np.array(moved, np.float64).reshape(-1, 4, 4)
        if "inverseBindMatrices" not in skin:
            return matrices
        bound = self._accessors.read(skin["inverseBindMatrices"])
        if len(bound) < len(joints) or bound.shape[1] != 16:
            raise RefusedError("a skin has no inverse bind matrix for each joint")
        inverse = bound[: len(joints)].astype(np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)
        with np.errstate(all="ignore"):
            return matrices @ inverse


def influence_of(read: Mapping[str, Any], count: int) -> Influence | None:
    """Return the joints of the vertices of a primitive, None if it has none."""
    joints, weights = list[Any](), list[Any]()
    for number in (0, 1):
        joint, other = read.get(f"JOINTS_{number}"), read.get(f"WEIGHTS_{number}")
        if joint is not None and other is not None and joint.shape == other.shape == (count, 4):
            joints.append(joint.astype(np.int64))
            weights.append(other.astype(np.float64))
    return Influence(np.hstack(joints), np.hstack(weights)) if joints else None


def skinned(part: Part, influence: Influence, matrices: Floats) -> Part:
    """Return the part with each vertex moved by its joints."""
    if not len(matrices):
        return part
    known = (influence.joints >= 0) & (influence.joints < len(matrices))
    weights = np.where(known, np.nan_to_num(influence.weights), 0)
    total = weights.sum(1, keepdims=True)
    # Without weights, the first joint moves a vertex.
    first = np.eye(1, weights.shape[1])
    weights = np.where(total > 0, weights / np.where(total > 0, total, 1), first)
    joints = np.where(known, influence.joints, 0)
    positions = part.positions.copy()
    normals = None if part.normals is None else part.normals.copy()
    with np.errstate(all="ignore"):
        for start in range(0, len(positions), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            blended = np.einsum("nk,nkij->nij", weights[chunk], matrices[joints[chunk]])
            turned = np.einsum("nij,nj->ni", blended[:, :3, :3], positions[chunk])
            positions[chunk] = turned + blended[:, :3, 3]
            if normals is not None:
                normals[chunk] = np.einsum("nij,nj->ni", blended[:, :3, :3], normals[chunk])
    return replace(part, positions=positions, normals=normals)
