"""The layers of a USD stage, each copied to a file whose name we choose.

OpenUSD opens layers by their path. So the asset's files are requested by their names, written to
the folder of the confined process, and the names in each layer are replaced by these paths.
Packages are unpacked here: USDZ is a ZIP archive without compression.
"""

import io
import posixpath
import re
import tempfile
import zipfile
from contextlib import ExitStack
from typing import Any

import numpy as np

from backend.processing import limits
from backend.processing.files import Files, Kind
from backend.processing.readers.archives import BROKEN_ZIP
from backend.processing.readers.text import utf8_lines
from backend.processing.scene import RefusedError
from backend.processing.texts import printable_line

# The name of a file; in a package after that of the package.
Place = tuple[str, ...]
_PACKAGE, _BINARY = b"PK\x03\x04", b"PXR-USDC"
_TEXT = (b"#usda ", b"#sdf ")  # the second in files before 2016
_LAYERS = (".usd", ".usda", ".usdc")
_PACKAGES = 4  # in each other
# OpenUSD parses each prim and value within the one around it.
_NESTED, _NO_BRACKETS = 500, bytes(set(range(256)) - set(b"()[]{}"))
_NO_PACKAGE = "not a USD package: it does not begin as a ZIP archive"
_NO_USD = "not a USD file: it begins neither with PXR-USDC nor with #usda"
_CLIPS = "clips"
_ABSOLUTE = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")  # a URL, or a drive
# What the first of several errors says, after its place in the source of OpenUSD.
_SAYS = re.compile(r"(?s) in file \S+ : '(.*?)\s*'\s*(?:\n\tError in |$)")
_PLACE = re.compile(r"^:(\d+):(\d+): ")
# Names of layers on this machine, and of functions.
_INNER = re.compile(r"@[^@]*@,?|/\S*/tmp\w+\.usd[ac]|\S+::\S+ ?")


class Layers:
    """The layers that one file refers to. Their copies exist until it is closed."""

    def __init__(self, pxr: Any, files: Files, data: bytes, name: str) -> None:
        self._pxr, self._files = pxr, files
        self._root: Place = (name,)
        self._data = data
        self._archives: dict[Place, zipfile.ZipFile] = {}
        self._layers: dict[Place, Any] = {}
        self._places: dict[str, Place] = {}
        self._bytes = 0
        self._copies = ExitStack()
        self.missing: list[str] = []
        self.broken: list[str] = []
        self.clipped: list[str] = []

    def __enter__(self) -> "Layers":
        return self

    def __exit__(self, *_: object) -> None:
        self._layers.clear()
        self._copies.close()

    def __len__(self) -> int:
        return len(self._places)

    def reason_of(self, error: object) -> str:
        """Return what OpenUSD says, with the names that layers have in the asset."""
        says = _SAYS.search(str(error))
        reason = says[1] if says else str(error)
        for copy, place in self._places.items():
            reason = reason.replace(f"@{copy}@,", place[-1]).replace(f"@{copy}@", place[-1])
        reason = _INNER.sub("", reason)
        return printable_line(_PLACE.sub(r"line \1, column \2: ", reason))

    def open_all(self) -> Any:
        """Return the root layer, after those that it refers to are opened.

        Raises:
            RefusedError: it is not valid, or the layers are too large together.
        """
        self._layers[self._root] = root = self._open(self._root)
        waiting = [root]
        while waiting:
            layer = waiting.pop()
            for written in filter(None, layer.GetCompositionAssetDependencies()):
                target = self._beside(layer, written)
                if target not in self._layers:
                    self._layers[target] = None
                    try:
                        if self._read(target, "model") is None:
                            self.missing.append(written)
                        else:
                            self._layers[target] = self._open(target)
                            waiting.append(self._layers[target])
                    except RefusedError:
                        self.broken.append(written)
                # Without a path the reference is removed.
                path = self._layers[target].realPath if self._layers[target] else ""
                sublayers = layer.subLayerPaths
                if path in sublayers and written in sublayers:  # the same one under another name
                    sublayers.remove(written)
                layer.UpdateCompositionAssetDependency(written, path)
        return root

    def read_beside(self, layer: Any, written: str, kind: Kind) -> tuple[Place, bytes | None]:
        """Return a file to which a layer refers, and its place."""
        place = self._beside(layer, written)
        return place, self._read(place, kind)

    def _open(self, place: Place) -> Any:
        data = self._read(place, "model")
        if data is not None and data.startswith(_PACKAGE):
            names = self._archive(place).namelist()
            first = next((name for name in names if name.lower().endswith(_LAYERS)), None)
            if first is None or len(place) > _PACKAGES:
                raise RefusedError("the package contains no USD file")
            package, place = place, (*place, first)
            self._layers[package] = self._layers.get(place) or self._open(place)
            return self._layers[package]
        if data is None:
            raise RefusedError(f"the package has no file {place[-1]:.100} without compression")
        data = data if data.startswith(_BINARY) else utf8_lines(data)
        if not data.startswith((_BINARY, *_TEXT)):
            is_package = place[-1].lower().endswith(".usdz")
            raise RefusedError(_NO_PACKAGE if is_package else _NO_USD)
        if not data.startswith(_BINARY):
            brackets = np.frombuffer(data.translate(None, _NO_BRACKETS), np.uint8)
            steps = np.where(np.isin(brackets, np.frombuffer(b"([{", np.uint8)), 1, -1)
            if np.cumsum(steps, dtype=np.int32).max(initial=0) > _NESTED:
                raise RefusedError(f"its prims or values are nested more than {_NESTED} times")
        self._bytes += len(data)
        if self._bytes > limits.INPUT_BYTES:
            most = limits.INPUT_BYTES // limits.MIB
            raise RefusedError(f"its layers have more than {most} MiB together")
        suffix = ".usdc" if data.startswith(_BINARY) else ".usda"
        file = tempfile.NamedTemporaryFile(suffix=suffix)  # noqa: SIM115 - open with the stage
        copy = self._copies.enter_context(file)
        copy.write(data)
        copy.flush()
        errors = self._pxr.Tf.ErrorException
        try:
            layer = self._pxr.Sdf.Layer.FindOrOpen(copy.name)
        except errors as error:
            raise RefusedError(f"not valid: {self.reason_of(error)}") from None
        if layer is None:
            raise RefusedError("not valid: OpenUSD cannot read it")
        self._places[layer.identifier] = place
        self._layers[place] = layer
        self._remove_clips(layer)
        return layer

    def _remove_clips(self, layer: Any) -> None:
        """Remove value clips: a template of names may name any number of layers."""
        clipped = list[Any]()

        def find(path: Any) -> None:
            is_prim = path.IsPrimPath() or path.IsPrimVariantSelectionPath()
            prim = layer.GetPrimAtPath(path) if is_prim else None
            if prim and prim.HasInfo(_CLIPS):
                clipped.append(prim)

        layer.Traverse(self._pxr.Sdf.Path.absoluteRootPath, find)
        for prim in clipped:
            prim.ClearInfo(_CLIPS)
            self.clipped.append(str(prim.path))

    def _beside(self, layer: Any, written: str) -> Place:
        """Return the place of a file to which a layer refers: in the same folder or package."""
        home = self._places[layer.identifier]
        outer, *inner = written.replace("\\", "/").replace("]", "").split("[")
        if not _ABSOLUTE.match(outer):
            outer = posixpath.normpath(posixpath.join(posixpath.dirname(home[-1]), outer))
        return (*home[:-1], outer, *inner)

    def _read(self, place: Place, kind: Kind) -> bytes | None:
        if place == self._root:
            return self._data
        *package, name = place
        if not package:
            return self._files.read(name, kind)
        try:
            archive = self._archive(tuple(package))
            member = archive.getinfo(name)
            # What is compressed could be larger than the package.
            is_plain = member.compress_type == zipfile.ZIP_STORED
            return archive.read(member) if is_plain else None
        except (KeyError, RefusedError, *BROKEN_ZIP):
            return None

    def _archive(self, place: Place) -> zipfile.ZipFile:
        if place not in self._archives:
            try:
                data = self._read(place, "model") or b""
                self._archives[place] = zipfile.ZipFile(io.BytesIO(data))
            except BROKEN_ZIP:
                raise RefusedError("not a USD package: the archive cannot be read") from None
        return self._archives[place]
