"""Skeletons of USD: the vertices of a mesh as the joints at rest move them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from backend.processing.readers.gltf_places import Influence, skinned
from backend.processing.readers.transforms import UNMOVED
from backend.processing.readers.usd_shapes import LeaveOut, floats, whole
from backend.processing.scene import Floats, Part


class Skeletons:
    """The skeletons of a stage; `worlds` has the matrices of its prims."""

    def __init__(self, pxr: Any, time: Any, worlds: Any, leave_out: LeaveOut) -> None:
        self._pxr, self._time, self._worlds = pxr, time, worlds
        self._leave_out = leave_out
        self._joints: dict[object, Mapping[str, Floats]] = {}

    @property
    def bones(self) -> int:
        """The joints of the skeletons that move meshes."""
        return sum(map(len, self._joints.values()))

    def posed(self, prim: Any, positions: Floats) -> Floats:
        """Return the vertices of a mesh in the rest pose of its skeleton, in the mesh's space.

        Returns the same array if no skeleton moves them.
        """
        try:
            return self.moved(prim, positions)
        except np.linalg.LinAlgError:
            self._leave_out("meshes that their skeleton flattens, drawn without it", prim.GetPath())
            return positions

    def moved(self, prim: Any, positions: Floats) -> Floats:
        """Return the vertices as the joints move them; a flattening matrix has no inverse."""
        skel, primvars = self._pxr.UsdSkel, self._pxr.UsdGeom.PrimvarsAPI(prim)
        skeleton = skel.BindingAPI(prim).GetInheritedSkeleton()
        read = primvars.FindPrimvarWithInheritance
        indices, weights = read("skel:jointIndices"), read("skel:jointWeights")
        if not skeleton or not (indices.HasValue() and weights.HasValue()):
            return positions
        joints = self.joints(skeleton)
        named = skel.BindingAPI(prim).GetJointsAttr().Get()
        names = list(joints) if named is None else [str(name) for name in named]
        if not names:
            return positions
        size = max(int(indices.GetElementSize()), 1)
        joint = whole(indices.GetAttr(), self._time)
        share = floats(weights.GetAttr(), self._time, 1).reshape(-1)
        if str(indices.GetInterpolation()) == "constant":  # the whole mesh is moved by the same
            joint, share = np.tile(joint, len(positions)), np.tile(share, len(positions))
        if not len(joint) == len(share) == size * len(positions):
            self._leave_out("meshes with other numbers of joints than vertices", prim.GetPath())
            return positions
        bind = read("skel:geomBindTransform")
        bind_matrix = _matrices(bind.Get(self._time) if bind.HasValue() else UNMOVED)
        world_of = self._worlds.GetLocalToWorldTransform
        of_skeleton, of_mesh = (_matrices(world_of(item)) for item in (skeleton.GetPrim(), prim))
        of_joints: Floats = np.array([joints.get(name, UNMOVED) for name in names])
        above: Floats = np.linalg.inv(of_mesh) @ of_skeleton
        moves: Floats = above @ of_joints @ bind_matrix
        if np.allclose(moves, UNMOVED):
            return positions
        influence = Influence(joint.reshape(-1, size), share.reshape(-1, size))
        return skinned(Part(positions), influence, moves).positions

    def joints(self, skeleton: Any) -> Mapping[str, Floats]:
        """Return by joint how it moves vertices from where they were bound to the rest pose."""
        path = skeleton.GetPath()
        if path in self._joints:
            return self._joints[path]
        names = [str(name) for name in skeleton.GetJointsAttr().Get() or ()]
        bound = _matrices(skeleton.GetBindTransformsAttr().Get())
        local = _matrices(skeleton.GetRestTransformsAttr().Get())
        parents = list(self._pxr.UsdSkel.Topology(names).GetParentIndices())
        moves = dict.fromkeys(names, UNMOVED)
        if len(bound) == len(local) == len(names):
            rest = local.copy()
            for number, parent in enumerate(parents):
                if 0 <= parent < number:
                    rest[number] = rest[parent] @ local[number]
            moves = dict(zip(names, rest @ np.linalg.inv(bound), strict=True))
        else:
            self._leave_out("skeletons without a bind and a rest pose for each joint", path)
        self._joints[path] = moves
        return moves


def _matrices(value: object) -> Floats:
    """Return matrices of 4 by 4 that are multiplied from the left; USD's are from the right."""
    array = np.array([] if value is None else value, np.float64)
    return array.reshape(-1, 4, 4).swapaxes(1, 2)
