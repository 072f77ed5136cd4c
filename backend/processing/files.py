"""The files that a reader may open: those of the asset, by the names in a model.

The jail answers these requests; a reader has no other access to files.
"""

import posixpath
import re
from dataclasses import dataclass
from typing import Literal, Protocol

from backend.processing.texts import names_in_code_pages, without_surrogates

Kind = Literal["texture", "buffer", "material", "model", "other"]
State = Literal["found", "missing", "absolute", "otherCase", "outside", "external", "embedded"]

_ABSOLUTE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")  # a URL, or a drive


@dataclass(frozen=True)
class Reference:
    """A file that a model references.

    `path` is the file's path in the asset where it was found, else the reference as it is written.
    """

    path: str
    kind: Kind
    state: State


class Source(Protocol):
    """Opens the files of one asset."""

    def open(self, name: str) -> tuple[str, State, bytes | None]:
        """Return the path, the state and, if a file was found, its content.

        `name` is relative to the folder of the model, as written in the model.
        """
        ...


class NoFiles:
    """An asset without files, for models that refer to none."""

    def open(self, name: str) -> tuple[str, State, bytes | None]:
        return name, "missing", None


class Files:
    """The files that one model references. Remembers the references, and reads each file once."""

    def __init__(self, source: Source, folder: str = "") -> None:
        self._source = source
        self._folder = folder
        self._opened: dict[str, tuple[str, State, bytes | None]] = {}
        self._kinds: dict[str, Kind] = {}

    def beside(self, name: str) -> "Files":
        """Return the same files, by names relative to the folder of one of them."""
        files = Files(self._source, posixpath.dirname(self.path_of(name)))
        files._opened, files._kinds = self._opened, self._kinds
        return files

    def path_of(self, name: str) -> str:
        """Return a name relative to the folder of the model."""
        name = name.replace("\\", "/")
        return name if _ABSOLUTE.match(name) else posixpath.join(self._folder, name)

    def read(self, name: str, kind: Kind) -> bytes | None:
        """Return the content of a referenced file, None if the asset has no such file."""
        name = self._decode(self.path_of(name) if self._folder else name)
        if name not in self._opened:
            self._opened[name] = self._source.open(name)
        if self._kinds.get(name, "other") == "other":
            self._kinds[name] = kind
        return self._opened[name][2]

    def _decode(self, name: str) -> str:
        """Return a name whose bytes are no UTF-8 in the code page in which a file has it."""
        names = names_in_code_pages(name)
        for decoded in names[1:] and names:
            opened = self._opened.get(decoded) or self._source.open(decoded)
            if opened[2] is not None:
                self._opened[decoded] = opened
                return decoded
        return names[0]

    @property
    def references(self) -> list[Reference]:
        """The references in their order in the model, each path once."""
        references = {
            (path, state): Reference(without_surrogates(path), self._kinds[name], state)
            for name, (path, state, _) in self._opened.items()
        }
        return list(references.values())
