"""The objects that an inspection of a file may write beside its facts."""

from typing import Literal

from backend.values import frozen

_MIB = 1 << 20
_KIB = 1 << 10
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
# Leading bytes that identify the format of an output: four of RIFF, its length, and four of WEBP.
MAGIC_BYTES = 12


@frozen
class InspectionOutput:
    """One object: `name` is its field in results, `file` its name in the `folder` of the run."""

    name: str
    file: str
    folder: Literal["files", "previews"]
    content_type: str
    magic: bytes
    most_bytes: int
    container: bytes = b""
    """In RIFF formats: the bytes that follow the magic number and the four-byte length."""

    def begins(self, start: bytes) -> bool:
        """Return whether the first bytes of an object are those of this output."""
        following = start[len(self.magic) + 4 :]
        return start.startswith(self.magic) and following.startswith(self.container)


# 5 MiB is the contract's limit of a preview (`uploads.rules.MAX_PREVIEW_BYTES`). The limit of the
# GLB also bounds what the confined process can write to the disk.
THUMBNAIL = InspectionOutput(
    "thumbnail", "thumbnail.png", "previews", "image/png", PNG_MAGIC, 5 * _MIB
)
GLB = InspectionOutput("glb", "model.glb", "files", "model/gltf-binary", b"glTF", 256 * _MIB)
TURNTABLE = InspectionOutput(
    "turntable", "turntable.png", "previews", "image/png", PNG_MAGIC, 5 * _MIB
)
SMALL = InspectionOutput(
    "small", "thumbnail.webp", "previews", "image/webp", b"RIFF", 256 * _KIB, b"WEBP"
)
"""The thumbnail at 256 pixels, for lists."""
STRUCTURE = InspectionOutput(
    "structure", "structure.json.gz", "files", "application/gzip", b"\x1f\x8b\x08", 64 * _MIB
)
"""Types and properties of the elements of a building, by the ids of the nodes of its GLB."""
INSPECTION_OUTPUTS = (THUMBNAIL, GLB, TURNTABLE, SMALL, STRUCTURE)
"""All outputs, in the order in which the confined process receives their open files."""
