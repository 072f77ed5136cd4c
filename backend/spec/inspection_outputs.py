"""The objects that an inspection of a file may write beside its facts."""

from typing import Literal

from backend.values import frozen

_MIB = 1 << 20
_PNG = b"\x89PNG\r\n\x1a\n"


@frozen
class InspectionOutput:
    """One object: `name` is its field in results, `file` its name in the `folder` of the run."""

    name: str
    file: str
    folder: Literal["files", "previews"]
    content_type: str
    magic: bytes
    most_bytes: int


THUMBNAIL = InspectionOutput("thumbnail", "thumbnail.png", "previews", "image/png", _PNG, 5 * _MIB)
GLB = InspectionOutput("glb", "model.glb", "files", "model/gltf-binary", b"glTF", 256 * _MIB)
TURNTABLE = InspectionOutput("turntable", "turntable.png", "previews", "image/png", _PNG, 5 * _MIB)
INSPECTION_OUTPUTS = (THUMBNAIL, GLB, TURNTABLE)
"""In the order in which the child of the jail receives their open files."""
