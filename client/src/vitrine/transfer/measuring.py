"""Files as they were when they were hashed, and their division into parts."""

from dataclasses import dataclass
from pathlib import Path

from vitrine.errors import ProtocolError
from vitrine.storage import Slice
from vitrine.transfer.content import part_sizes, sha256_of
from vitrine.transfer.scan import LocalFile


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A file as it was when it was hashed; if it changes after that, it is not completed."""

    file: LocalFile
    size: int
    modified: int
    checksum: str

    def has_changed(self) -> bool:
        facts = self.file.path.stat()
        return (facts.st_size, facts.st_mtime_ns) != (self.size, self.modified)


def measure(file: LocalFile) -> Measured:
    """Hash the file. Raises OSError if it cannot be read."""
    facts = Path(file.path).stat()
    return Measured(
        file=file,
        size=facts.st_size,
        modified=facts.st_mtime_ns,
        checksum=sha256_of(file.path),
    )


def slices_of(measured: Measured, num_parts: int) -> dict[int, Slice]:
    """Return the range of the file of each part, by its number.

    Raises:
        ProtocolError: the file cannot be cut into so many parts.
    """
    try:
        sizes = part_sizes(measured.size, num_parts)
    except ValueError as error:
        raise ProtocolError(
            f"the parts announced by the server do not match the file: {error}"
        ) from error
    slices: dict[int, Slice] = {}
    offset = 0
    for number, length in enumerate(sizes, start=1):
        slices[number] = Slice(path=measured.file.path, offset=offset, length=length)
        offset += length
    return slices
