"""Compares local files with stored ones, by checksums and ETags, with constant memory.

An S3 ETag is the MD5 of the content, or, for a multipart object, the MD5 of its parts' MD5s
followed by a dash and the number of parts. With customer-managed encryption it is neither: then
only the stored SHA-256 can be compared.
"""

import base64
import hashlib
import re
from pathlib import Path
from typing import Final

from vitrine.storage import PIECE

# The part size that the server chooses (the contract), unless the file would have too many parts.
DEFAULT_PART: Final = 150 * 1024 * 1024

_ETAG = re.compile(r"([0-9a-f]{32})(?:-([1-9][0-9]{0,4}))?")


def part_sizes(size: int, count: int) -> list[int]:
    """Return the sizes of the parts of a file of that size with that number of parts.

    Raises:
        ValueError: the file cannot be cut into so many parts that hold something.
    """
    if count < 1 or count > max(size, 1):
        raise ValueError(f"{size} bytes cannot be cut into {count} parts")
    # As the server divides a file: default parts if their number matches, otherwise even ones.
    if expected_parts(size) == count:
        whole = [DEFAULT_PART] * (count - 1)
        return [*whole, size - sum(whole)]
    length, longer = divmod(size, count)
    return [length + 1] * longer + [length] * (count - longer)


def expected_parts(size: int) -> int:
    """Return the number of default parts; at least one."""
    return max(1, -(-size // DEFAULT_PART))


def sha256_of(path: Path) -> str:
    """Return the whole file's SHA-256 in base64, as in the API."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return base64.b64encode(digest.digest()).decode("ascii")


def is_whole_object(checksum: str | None) -> bool:
    """Return False for a checksum of checksums (`…-7`), which does not identify the content."""
    return bool(checksum) and "-" not in str(checksum)


def same_content(path: Path, size: int, *, checksum: str | None, etag: str | None) -> bool | None:
    """Return whether the file's content matches the checksum (or else the ETag).

    Sizes were compared before. True and False are certain. None means unknown. Raises OSError if
    reading fails.
    """
    if size == 0:
        return True
    if checksum and is_whole_object(checksum):
        return sha256_of(path) == checksum
    match = _ETAG.fullmatch((etag or "").strip('"').lower())
    if match is None:
        return None
    wanted, count = match[1], match[2]
    if count is None:
        return True if _md5_of(path, [size])[0].hex() == wanted else None
    if int(count) > size:
        return None
    parts = _md5_of(path, part_sizes(size, int(count)))
    digest = hashlib.md5(b"".join(parts), usedforsecurity=False).hexdigest()
    # An ETag that differs may be due to other parts or to encryption.
    return True if digest == wanted else None


def _md5_of(path: Path, sizes: list[int]) -> list[bytes]:
    digests: list[bytes] = []
    with path.open("rb") as file:
        for left in sizes:
            digest = hashlib.md5(usedforsecurity=False)
            while left and (piece := file.read(min(PIECE, left))):
                digest.update(piece)
                left -= len(piece)  # noqa: PLW2901 - counted down
            digests.append(digest.digest())
    return digests
