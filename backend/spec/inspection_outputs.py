"""The objects that an inspection of a file may write beside its facts."""

from typing import Literal

from backend.values import frozen

_MIB = 1 << 20
_KIB = 1 << 10
_PNG = b"\x89PNG\r\n\x1a\n"
MAGIC_BYTES = 12
"""As many bytes of an output as its form is recognised by."""


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
    """What follows the magic and a length of four bytes, in formats within a RIFF container."""

    def begins(self, start: bytes) -> bool:
        """Return whether the first bytes of an object are those of this output."""
        following = start[len(self.magic) + 4 :]
        return start.startswith(self.magic) and following.startswith(self.container)


THUMBNAIL = InspectionOutput("thumbnail", "thumbnail.png", "previews", "image/png", _PNG, 5 * _MIB)
GLB = InspectionOutput("glb", "model.glb", "files", "model/gltf-binary", b"glTF", 256 * _MIB)
TURNTABLE = InspectionOutput("turntable", "turntable.png", "previews", "image/png", _PNG, 5 * _MIB)
SMALL = InspectionOutput(
    "small", "thumbnail.webp", "previews", "image/webp", b"RIFF", 256 * _KIB, b"WEBP"
)
"""The thumbnail in 256 pixels, for pages that show many."""
INSPECTION_OUTPUTS = (THUMBNAIL, GLB, TURNTABLE, SMALL)
"""In the order in which the child of the jail receives their open files."""
