"""Archives that contain a model."""

import io
import zipfile
import zlib

from backend.processing import limits
from backend.processing.scene import RefusedError

# Exceptions that `zipfile` raises for archives that it cannot read.
BROKEN_ZIP = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError),
    *(NotImplementedError, RuntimeError),  # an unknown compression; an encrypted member
)


def xgl_of(data: bytes) -> bytes:
    """Return the text of a ZGL file.

    Raises:
        RefusedError: it cannot be decompressed, or is too large.
    """
    reader = zlib.decompressobj()
    try:
        text = reader.decompress(data, limits.INPUT_BYTES)
    except zlib.error:
        raise RefusedError("not a ZGL file that can be decompressed") from None
    if reader.unconsumed_tail:
        raise RefusedError("the XGL text in the file is too large")
    if not reader.eof:
        raise RefusedError("truncated: the compressed text ends early")
    return text


def ifc_of(data: bytes) -> bytes:
    """Return the IFC file of an archive.

    Raises:
        RefusedError: the archive cannot be read, or has no IFC file that is small enough.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if member.filename.lower().endswith(".ifc"):
                    if member.file_size > limits.INPUT_BYTES:
                        raise RefusedError("the IFC file in the archive is too large")
                    return archive.read(member)
    except BROKEN_ZIP:
        raise RefusedError("not a ZIP archive that can be read") from None
    raise RefusedError("the archive contains no IFC file")
