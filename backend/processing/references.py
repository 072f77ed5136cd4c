"""The files that a model references, resolved within its asset."""

import posixpath
import re
import unicodedata
from collections.abc import Mapping

from backend.processing.files import State

_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]+:")  # two letters at least: `C:` is a drive
_DRIVE = re.compile(r"^[a-zA-Z]:/")
# Of a package of ROS or a model of Gazebo, by its name.
_PACKAGE = re.compile(r"(?:package|model)://(.*)", re.DOTALL)


class Resolver:
    """Resolves references of one model against the files of its asset.

    `model` is the path of the model in the asset, `sizes` has the sizes of all files by path.
    """

    def __init__(self, model: str, sizes: Mapping[str, int]) -> None:
        self._folder = posixpath.dirname(model)
        self._sizes = sizes
        self._by_form: dict[str, str] = {}
        self._by_lower: dict[str, str] = {}
        for path in sizes:
            self._by_form.setdefault(_compose(path), path)
            self._by_lower.setdefault(_compose(path).lower(), path)

    def resolve(self, name: str) -> tuple[str, State, str | None]:
        """Return the path to report, the state, and the file to read if there is one.

        For a broken reference, a file of the same name next to the model is used: it improves the
        picture, and the state still reports the broken reference.
        """
        written = name.replace("\\", "/")
        if package := _PACKAGE.fullmatch(written):
            # In a folder of its name, or in any that contains the model; the nearest one counts.
            path = posixpath.normpath(package[1])
            folders = [self._folder]
            while folders[-1]:
                folders.append(posixpath.dirname(folders[-1]))
            tried = (
                self._same(posixpath.join(folder, candidate))
                for folder in folders
                for candidate in (path, path.partition("/")[2])
            )
            same = next(filter(None, tried), None)
            return same or name, "found" if same else "missing", same or self._beside(written)
        if written.lower().startswith("file:"):
            written = "/" + written[5:].lstrip("/")
        elif _SCHEME.match(written):
            return name, "external", None
        if written.startswith("/") or _DRIVE.match(written):
            return name, "absolute", self._beside(written)
        path = posixpath.normpath(posixpath.join(self._folder, written))
        if path == ".." or path.startswith("../"):
            return name, "outside", None
        same = self._same(path)
        if same is not None:
            return same, "found", same
        other = self._by_lower.get(_compose(path).lower())
        state: State = "otherCase" if other else "missing"
        return other or name, state, other or self._beside(written)

    def _same(self, path: str) -> str | None:
        """Return a file of this name, in the same Unicode form if there is one."""
        return path if path in self._sizes else self._by_form.get(_compose(path))

    def _beside(self, written: str) -> str | None:
        name = posixpath.basename(written)
        path = posixpath.join(self._folder, name)
        if not name:
            return None
        return self._same(path) or self._by_lower.get(_compose(path).lower())


def _compose(path: str) -> str:
    """Return a path in one Unicode form: macOS writes names in the other one."""
    return unicodedata.normalize("NFC", path)
