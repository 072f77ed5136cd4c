"""The process that reads one file. All it has are descriptors that the parent opened."""

import os
import socket
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backend.processing import limits
from backend.processing.files import State
from backend.processing.inspection import Inspection, inspect
from backend.processing.jail.channel import receive, send
from backend.processing.jail.confinement import Bounds, confine
from backend.processing.readers.heif import is_heif
from backend.processing.readers.models import preload
from backend.processing.scene import words_of
from backend.spec.formats import FOLDER_EXTENSIONS, extension_of
from backend.spec.inspection_outputs import INSPECTION_OUTPUTS

# A file up to this size is one block, which is not copied.
_BLOCK = 1 << 24


class _ParentSource:
    """Opens files of the asset through the parent."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def open(self, name: str) -> tuple[str, State, bytes | None]:
        # Paths of files are shorter; a longer name cannot exist.
        send(self._channel, {"open": name[:2000]})
        answer, descriptors = receive(self._channel)
        content = _content(descriptors[0]) if descriptors else None
        return answer["path"], answer["state"], content


def run(channel: socket.socket) -> None:
    """Receive one file, confine this process, inspect the file and send the result."""
    job, (data, *results) = receive(channel)
    path, content = str(job["path"]), _content(data)
    preload(extension_of(path), content)  # no library can be loaded later
    bounds = Bounds(**job["bounds"])
    folder = None
    if extension_of(path) in FOLDER_EXTENSIONS:
        # OpenCASCADE converts by way of a temporary file; OpenUSD opens layers, resvg its font.
        folder = Path(job["folder"])
        os.environ["TMPDIR"] = str(folder)  # noqa: TID251 - no setting of ours
        tempfile.tempdir = str(folder)
    means = confine(bounds, folder, threads=is_heif(content))
    lacking = means.lacks(files=folder is not None, hidden=bool(job["hidden"]))
    if lacking and not job["unconfined"]:
        send(channel, {"result": {"refused": lacking}})
        return
    # From here on the content decides what this process does; it may be under control of the file.
    try:
        source, turntable = _ParentSource(channel), bool(job["turntable"])
        inspection = inspect(path, content, source, turntable=turntable)
    except Exception as error:  # noqa: BLE001 - readers raise anything on a broken file
        reason = f"the reader failed: {words_of(error)} ({type(error).__name__})"
        inspection = Inspection(refused=reason[: limits.REASON_CHARACTERS])
    for output, descriptor in zip(INSPECTION_OUTPUTS, results, strict=True):
        written: bytes | None = getattr(inspection, output.name)
        if written is not None:
            _write(descriptor, written)
    send(channel, {"result": _describe(inspection)})


def _describe(inspection: Inspection) -> dict[str, Any]:
    return {
        "facts": inspection.facts,
        "refused": inspection.refused,
        "descriptor": inspection.descriptor,
        "references": [
            asdict(reference) for reference in inspection.references[: limits.REFERENCES]
        ],
        **{
            output.name: getattr(inspection, output.name) is not None
            for output in INSPECTION_OUTPUTS
        },
    }


def _content(descriptor: int) -> bytes:
    """Read a whole file. Not by `open`, whose system calls a confined process may not use."""
    blocks: list[bytes] = []
    while block := os.read(descriptor, _BLOCK):
        blocks.append(block)
    os.close(descriptor)
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
