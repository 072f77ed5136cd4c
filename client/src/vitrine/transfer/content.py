"""Is the local file what the server has? Checksums and ETags, computed with flat memory.

An S3 ETag is an MD5 of the bytes, or, for a multipart object, the MD5 of its parts' MD5s with the
number of parts behind a dash. Under customer-managed encryption it is neither: then only the
SHA-256 that the server keeps can tell.
"""

import base64
import hashlib
import re
from pathlib import Path
from typing import BinaryIO, Final

PIECE: Final = 1024 * 1024
DEFAULT_PART: Final = 150 * 1024 * 1024
"""The size of parts that the server chooses unless the file would have too many."""

_ETAG = re.compile(r"([0-9a-f]{32})(?:-([1-9][0-9]{0,4}))?")


def part_sizes(size: int, count: int) -> list[int]:
    """How a file of that size is cut into that number of parts.

    In default parts where their number fits, else evenly: both sides can compute it again.

    Raises:
        ValueError: the file cannot be cut into so many parts that hold something.
    """
    if count < 1 or count > max(size, 1):
        raise ValueError(f"{size} bytes cannot be cut into {count} parts")
    if expected_parts(size) == count:
        whole = [DEFAULT_PART] * (count - 1)
        return [*whole, size - sum(whole)]
    length, longer = divmod(size, count)
    return [length + 1] * longer + [length] * (count - longer)


def expected_parts(size: int) -> int:
    """The number of default parts; at least one."""
    return max(1, -(-size // DEFAULT_PART))


def sha256_of(path: Path) -> str:
    """The whole file's SHA-256 in base64, as the API writes it."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return base64.b64encode(digest.digest()).decode("ascii")


def is_whole_object(checksum: str | None) -> bool:
    """False for a checksum of checksums (`…-7`), which says nothing about the bytes in order."""
    return bool(checksum) and "-" not in str(checksum)


def same_content(path: Path, size: int, *, checksum: str | None, etag: str | None) -> bool | None:
    """Whether the file's bytes are those that the checksum (or else the ETag) stands for.

    Sizes were compared before. True and False are certain. None: nothing can tell, because an ETag
    that differs may be of other parts or another encryption. Raises OSError where reading fails.
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
    return True if digest == wanted else None


def _md5_of(path: Path, sizes: list[int]) -> list[bytes]:
    with path.open("rb") as file:
        return [_md5_of_next(file, size) for size in sizes]


def _md5_of_next(file: BinaryIO, size: int) -> bytes:
    digest = hashlib.md5(usedforsecurity=False)
    left = size
    while left and (piece := file.read(min(PIECE, left))):
        digest.update(piece)
        left -= len(piece)
    return digest.digest()
