"""Finds uploads of an earlier run that can be continued, and their stored parts.

A part counts as stored if the storage has one of its size whose ETag is the one recorded when it
was sent, or the MD5 of its content. (With customer-managed encryption it is not an MD5.)
"""

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from vitrine.client import Vitrine
from vitrine.errors import ConflictError, InvalidInputError, NotFoundError
from vitrine.models import AssetIds
from vitrine.storage import Slice
from vitrine.transfer.journal import Journal, JournalEntry
from vitrine.transfer.measuring import Measured, slices_of
from vitrine.upload_models import RenewedFile

# Replaces the ETags of parts that are already assembled to an object, because they are no longer
# compared.
ASSEMBLED = "assembled"


@dataclass(frozen=True, kw_only=True)
class OpenFile:
    """A file whose upload continues: its parts so far, by number; `working` needs nothing more."""

    file: Measured
    upload_id_s3: str
    num_parts: int
    stored: Mapping[int, str] = field(default_factory=dict[int, str])
    working: bool = False


@dataclass(frozen=True, kw_only=True)
class Found:
    """An upload of an earlier run, with its files to continue."""

    entry: JournalEntry
    files: Sequence[OpenFile]


def find_uploads(
    client: Vitrine,
    journal: Journal,
    asset: AssetIds,
    files: Sequence[Measured],
    pool: Executor,
) -> list[Found]:
    """Return the uploads to the asset that continue some of the files, each file in one at most.

    Journals of uploads that are finished, expired or deleted are removed.

    Raises:
        VitrineError: the server cannot be reached.
    """
    left = {measured.file.key: measured for measured in files}
    uploads: list[Found] = []
    for entry in journal.of_asset(*asset):
        same = [file for key, file in left.items() if _is_same(entry, key, file)]
        if not same:
            continue
        going = _resumable(client, entry, same, pool)
        if going:
            uploads.append(Found(entry=entry, files=going))
            for open_file in going:
                del left[open_file.file.file.key]
        # A file that the server no longer accepts must not be looked for in each later run.
        entry.settle({file.file.key for file in same} - {file.file.file.key for file in going})
    return uploads


def _is_same(entry: JournalEntry, key: str, measured: Measured) -> bool:
    noted = entry.files.get(key) if key in entry.left else None
    return noted is not None and (noted.size, noted.checksum) == (measured.size, measured.checksum)


def _resumable(
    client: Vitrine, entry: JournalEntry, files: Sequence[Measured], pool: Executor
) -> list[OpenFile]:
    """Return those of these files that the server still accepts."""
    try:
        details = client.uploads.get(entry.upload_id)
        states = {file.relative_key.lstrip("/"): file.state for file in details.files}
        working = [item for item in files if states.get(item.file.key.lstrip("/")) == "working"]
        started = [item for item in files if states.get(item.file.key.lstrip("/")) == "open"]
        renewed: dict[str, RenewedFile] = {}
        if started:
            parts: dict[str, list[int]] = {item.file.key: [] for item in started}
            renewal = client.uploads.renew(entry.upload_id, parts, stored_parts=True)
            renewed = {file.relative_key.lstrip("/"): file for file in renewal.files}
    # The upload has ended or expired: its files are sent again.
    except (NotFoundError, ConflictError, InvalidInputError):
        return []
    resumed = [
        OpenFile(
            file=item,
            upload_id_s3=entry.files[item.file.key].upload_id_s3,
            num_parts=entry.files[item.file.key].num_parts,
            working=True,
        )
        for item in working
    ]
    for item in started:
        file = renewed[item.file.key.lstrip("/")]
        stored = dict.fromkeys(range(1, file.num_parts + 1), ASSEMBLED)
        if not file.assembled:
            stored = _verified_parts(entry, item, file, pool)
        resumed.append(
            OpenFile(
                file=item, upload_id_s3=file.upload_id_s3, num_parts=file.num_parts, stored=stored
            )
        )
    return resumed


def _verified_parts(
    entry: JournalEntry, measured: Measured, renewed: RenewedFile, pool: Executor
) -> dict[int, str]:
    """Return the parts that are stored with the file's own content."""
    key = measured.file.key
    slices = slices_of(measured, renewed.num_parts)
    candidates = [
        part
        for part in renewed.stored_parts
        if part.part_number in slices and slices[part.part_number].length == part.size
    ]
    known = {part.part_number: entry.parts.get((key, part.part_number)) for part in candidates}
    # Hashed only where the journal lacks the part, because that reads the file again.
    doubtful = [part for part in candidates if known[part.part_number] != part.e_tag]
    running = {
        part.part_number: pool.submit(_md5_of, slices[part.part_number]) for part in doubtful
    }
    hashes = {number: future.result() for number, future in running.items()}
    return {
        part.part_number: part.e_tag
        for part in candidates
        if part.e_tag in {known[part.part_number], hashes.get(part.part_number)}
    }


def _md5_of(part: Slice) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    for piece in part.pieces(lambda _: None):
        digest.update(piece)
    return digest.hexdigest()
