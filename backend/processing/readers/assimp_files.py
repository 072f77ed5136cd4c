"""Assimp's access to files: a function provides each file that an importer opens."""

import ctypes as c
from collections.abc import Callable
from typing import Any

from backend.processing.readers import assimp_types as ai


class _OpenFile:
    """One file in memory, with the callbacks by which assimp reads it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
        # Kept here: ctypes frees a callback that nothing references.
        self.structure = ai.File(
            ai.Read(self._read),
            ai.Write(self._write),
            ai.Size(self._tell),
            ai.Size(self._size),
            ai.Seek(self._seek),
            ai.Flush(self._flush),
            None,
        )

    def _write(self, _file: object, _buffer: int, _size: int, _count: int) -> int:
        return 0  # nothing is written

    def _tell(self, _file: object) -> int:
        return self._position

    def _size(self, _file: object) -> int:
        return len(self._data)

    def _flush(self, _file: object) -> None:
        pass

    def _read(self, _file: object, buffer: int, size: int, count: int) -> int:
        if not size or not count:
            return 0
        whole = min(count, (len(self._data) - self._position) // size)
        end = self._position + whole * size
        c.memmove(buffer, self._data[self._position : end], whole * size)
        self._position = end
        return whole

    def _seek(self, _file: object, offset: int, origin: int) -> int:
        signed = c.c_ssize_t(offset).value
        start = {0: 0, 1: self._position, 2: len(self._data)}.get(origin)
        if start is None or not 0 <= start + signed <= len(self._data):
            return -1
        self._position = start + signed
        return 0


class FileAccess:
    """The files that `read` returns by name; None is a file that does not exist."""

    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._open_files: dict[int, _OpenFile] = {}
        self.structure = ai.FileIO(ai.Open(self._open), ai.Close(self._close), None)

    def _open(self, _io: object, name: bytes, mode: bytes) -> int:
        data = None if b"w" in mode else self._read(name.decode("utf-8", "surrogateescape"))
        if data is None:
            return 0
        opened = _OpenFile(data)
        address = c.addressof(opened.structure)
        self._open_files[address] = opened
        return address

    def _close(self, _io: object, file: Any) -> None:
        self._open_files.pop(c.addressof(file.contents), None)
