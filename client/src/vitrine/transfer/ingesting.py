"""Stores some files together with their asset, with two calls.

For folders with many or large files there is `importing`, which can continue after an interruption.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vitrine.client import Vitrine
from vitrine.errors import IntegrityError, ProtocolError
from vitrine.models import FinishedFile, NewFile, Part, PendingFile, UploadResult
from vitrine.quoting import quote_text
from vitrine.storage import Slice
from vitrine.transfer.content import sha256_of
from vitrine.transfer.names import compose_name
from vitrine.transfer.urls import MAX_REPLY_URLS

PART_SIZE: Final = 64 * 1024 * 1024


class SameNameError(IntegrityError):
    """Two files would have the same path in the asset."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """The description of an asset that is created unless it exists."""

    database_id: str
    asset_id: str
    asset_name: str
    description: str
    is_distributable: bool = True
    tags: tuple[str, ...] = ()


def ingest_files(client: Vitrine, asset: Described, files: Sequence[Path]) -> UploadResult:
    """Store files at the top of an asset, each under its own name.

    Raises:
        IntegrityError: two files have the same name, or one changed while it was read.
        ProtocolError: the server starts the upload of a file that was not announced.
        VitrineError: the server or the storage rejected the request, or did not respond.
    """
    by_key = {f"{asset.asset_id}/{compose_name(path.name)}": path for path in files}
    if len(by_key) != len(files):
        raise SameNameError("two of the files have the same name")
    part_size = part_size_of([path.stat().st_size for path in files])
    wanted = [
        NewFile(
            relative_key=key,
            file_size=(size := path.stat().st_size),
            num_parts=-(-size // part_size),
            checksum_sha256=sha256_of(path),
        )
        for key, path in by_key.items()
    ]
    started = client.ingest.begin(
        asset.database_id,
        asset.asset_id,
        wanted,
        asset_name=asset.asset_name,
        description=asset.description,
        is_distributable=asset.is_distributable,
        tags=asset.tags,
    )
    sizes = {file.relative_key: file.file_size for file in wanted}
    # Its path would be read from this machine.
    unknown = [file.relative_key for file in started.files if file.relative_key not in by_key]
    if unknown:
        raise ProtocolError(f"the reply names {quote_text(unknown[0])}, which was not announced")
    finished = [
        _store(client, file, by_key[file.relative_key], (sizes[file.relative_key], part_size))
        for file in started.files
    ]
    return client.ingest.end(asset.database_id, asset.asset_id, started.upload_id, finished)


def part_size_of(sizes: Sequence[int]) -> int:
    """Return the part size with which one reply can contain the URLs of all parts."""
    # Each file may have a last part that is not full.
    rest = max(1, MAX_REPLY_URLS - len(sizes))
    return max(PART_SIZE, -(-sum(sizes) // rest))


def _store(
    client: Vitrine, file: PendingFile, path: Path, measured: tuple[int, int]
) -> FinishedFile:
    """Send the parts of a file, which have the same size except for the last."""
    size, part_size = measured
    parts: list[Part] = []
    for url in file.part_upload_urls:
        offset = (url.part_number - 1) * part_size
        part = Slice(path=path, offset=offset, length=min(part_size, size - offset))
        etag = client.storage.put(url.upload_url, part)
        parts.append(Part(part_number=url.part_number, e_tag=etag))
    return FinishedFile(
        relative_key=file.relative_key, upload_id_s3=file.upload_id_s3, parts=tuple(parts)
    )
