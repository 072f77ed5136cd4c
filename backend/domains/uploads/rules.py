"""The files that may be uploaded, their number of parts, and their keys. Pure."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY

from backend.core import part_copies
from backend.core.errors import FieldError, InvalidInputError, TooLargeError
from backend.core.file_kinds import blocked_extension, is_preview, is_small_preview
from backend.core.metadata_values import METADATA_KEY_ROOM
from backend.core.names import MAX_KEY_BYTES, extension_of
from backend.core.objects import Part
from backend.core.part_copies import MAX_PARTS, MIN_PART_BYTES
from backend.core.quoting import quoted
from backend.domains.uploads.models import (
    MAX_URLS,
    NewFile,
    PartRange,
    RenewedFile,
    SentFile,
    SentPart,
    UploadFile,
    UploadType,
)
from backend.spec.key_layouts import (
    PREVIEW_EXTENSIONS,
    PREVIEW_MARK,
    RESERVED_FOLDERS,
    temporary_folder,
    uploaded_previews_folder,
)
from backend.spec.keys import FILE, SNAPSHOT, SORT_KEY_BYTES
from backend.values import frozen

MIB = 1024**2
GIB = 1024**3
# The contract's limit. S3 accepts larger objects.
MAX_FILE_BYTES = 5 * 1024 * GIB
# The contract's limit.
MAX_PREVIEW_BYTES = 5 * MIB
MAX_PART_BYTES = 5 * GIB  # S3's limit, also for copies in one request
# The contract's size; parts are larger where 10,000 of them would not suffice.
PART_BYTES = 150 * MIB
# A Lambda function may return 6 MB.
MAX_REPLY_BYTES = 5_500_000
_BESIDE_URL_BYTES = 40  # the JSON around a URL
_STORED_PART_BYTES = 90  # the JSON of a stored part, with escaped quotes

# Size of files whose checksum the server verifies: reading them takes time of the request. For
# larger files it stores the uploader's checksum, marked as not verified (decision 14).
CHECKED_FILE_BYTES = 64 * MIB
CHECKED_CALL_BYTES = 512 * MIB
"""Bytes that one call reads to verify checksums. Further files are not verified."""


_TEMPORARY_NAME_CHARS = 32  # 128 bits: no collision among a thousand paths


def temporary_name(path: str) -> str:
    """Return the name of a file's temporary object."""
    # A digest: problems of the final key (too long for the store, a file next to a folder of its
    # name) are not met here, and URLs remain short.
    return hashlib.sha256(path.encode()).hexdigest()[:_TEMPORARY_NAME_CHARS]


@frozen
class Layout:
    """The keys of the files of one upload, before and after it is completed."""

    _: KW_ONLY
    base: str
    prefix: str
    database_id: str
    asset_id: str
    upload_id: str
    upload_type: UploadType

    @property
    def temporary_folder(self) -> str:
        """Return the folder of the upload's temporary objects."""
        return temporary_folder(self.base, self.upload_id)

    def temporary_key(self, path: str) -> str:
        """Return the key where a file is uploaded, or its parts are combined, and checked."""
        return self.temporary_folder + temporary_name(path)

    def final_key(self, path: str) -> str:
        """Return the key of a file that passed the checks."""
        if self.upload_type == "assetPreview":
            name = path.rsplit("/", 1)[-1]
            return uploaded_previews_folder(self.base, self.asset_id) + name
        return self.prefix + path.removeprefix("/")


def check_new_files(files: Sequence[NewFile], layout: Layout, allowed: str) -> None:
    """Reject files that may not be uploaded; `allowed` is the database's list of extensions.

    Raises:
        InvalidInputError: the message names every invalid file with its first problem.
    """
    if layout.upload_type == "assetPreview" and len(files) > 1:
        raise InvalidInputError.of("files", "an asset has only one preview: send one file")
    paths = Counter(file.path for file in files)
    wrong: list[FieldError] = []
    for number, file in enumerate(files):
        problem = path_problem(file.path, layout, allowed)
        if paths[file.path] > 1:
            problem = "is listed twice"
        if problem is not None:
            wrong.append(FieldError(f"files.{number}.relativeKey", problem))
            continue
        sizes = next(_size_problems(file, layout.upload_type), None)
        if sizes is not None:
            wrong.append(FieldError(f"files.{number}.{sizes[0]}", sizes[1]))
    _raise(wrong)


def name_problem(path: str, upload_type: UploadType, allowed: str) -> str | None:
    """Return the problem of a name's extension, if there is one."""
    blocked = blocked_extension(path)
    if blocked is not None:
        return f"files with the extension {blocked} are blocked in this deployment"
    if upload_type == "assetPreview":
        ok = extension_of(path) in PREVIEW_EXTENSIONS
        return (
            None
            if ok
            else (
                f"a preview must have one of the extensions {' '.join(sorted(PREVIEW_EXTENSIONS))}"
            )
        )
    if PREVIEW_MARK in path and (not is_preview(path) or is_small_preview(path)):
        bare = "|".join(sorted(extension.removeprefix(".") for extension in PREVIEW_EXTENSIONS))
        return f"the name of a file's preview must end with {PREVIEW_MARK}<{bare}>"
    extensions = {element.strip().lower() for element in allowed.split(",") if element.strip()}
    if not extensions or ".all" in extensions or is_preview(path):
        return None
    if extension_of(path) not in extensions:
        return f"the database accepts only files with the extensions {' '.join(sorted(extensions))}"
    return None


def plan_parts(files: Sequence[NewFile], *, renews: bool = False) -> list[int]:
    """Return in how many parts each file is sent; if the server chooses, parts may be larger.

    Raises:
        InvalidInputError: the requested parts need too many URLs.
    """
    part_bytes = PART_BYTES
    while True:
        plan = [
            0
            if file.is_empty
            else file.num_parts or max(1, -(-(file.file_size or 0) // part_bytes))
            for file in files
        ]
        total = sum(plan)
        # A client that renews URLs does not need those of all parts in one reply.
        if max(plan, default=0) <= MAX_PARTS and (renews or total <= MAX_URLS):
            return plan
        if part_bytes >= MAX_PART_BYTES:
            raise InvalidInputError.of(
                "files",
                f"{total} part URLs would be returned; at most {MAX_URLS} are allowed in a reply",
            )
        part_bytes = min(2 * part_bytes, MAX_PART_BYTES)


def is_single(file: NewFile, large_bytes: int) -> bool:
    """Return whether a file is uploaded whole: as small as the last part of a multipart upload."""
    size = file.file_size or 0
    return 0 < size < MIN_PART_BYTES and size <= large_bytes


def copy_spans(size: int, large_bytes: int) -> list[tuple[int, int]]:
    """Return the parts of a large copy: the first byte of each, and the one after its last."""
    return part_copies.copy_spans(size, large_bytes, least=MIN_PART_BYTES)


def parts_digest(parts: Sequence[Part]) -> str:
    """Return a digest of a list of parts: 10,000 ETags do not fit a row."""
    lines = "".join(f"{part.number}:{part.etag}\n" for part in parts)
    return hashlib.sha256(lines.encode()).hexdigest()


def check_reply_size(urls: int, sample_url: str) -> None:
    """Reject a request whose reply would be too large; all URLs are about as long as the sample.

    Raises:
        TooLargeError: the message names both sizes.
    """
    size = urls * (len(sample_url) + _BESIDE_URL_BYTES)
    if size > MAX_REPLY_BYTES:
        raise TooLargeError(
            f"the URLs of these files would result in a reply of {size} bytes; at most "
            f"{MAX_REPLY_BYTES} are allowed: send fewer files in a request"
        )


def check_stored_parts(stored: int) -> None:
    """Reject a request for so many stored parts that the reply would be too large.

    Raises:
        TooLargeError: the message names both sizes.
    """
    size = stored * _STORED_PART_BYTES
    if size > MAX_REPLY_BYTES:
        raise TooLargeError(
            f"the {stored} stored parts would result in a reply of {size} bytes; at most "
            f"{MAX_REPLY_BYTES} are allowed: send fewer files in a request"
        )


def check_part_lists(files: Sequence[SentFile], known: Mapping[str, UploadFile]) -> None:
    """Reject lists of parts that do not match the announced files.

    Raises:
        InvalidInputError: the message names every invalid file.
    """
    paths = Counter(file.path for file in files)
    wrong: list[FieldError] = []
    for number, file in enumerate(files):
        if paths[file.path] > 1:
            wrong.append(FieldError(f"files.{number}.relativeKey", "is listed twice"))
            continue
        announced = known.get(file.path)
        if announced is None or announced.is_empty or not file.parts:
            continue
        problem = _part_list_problem(file.parts, announced.num_parts)
        if problem is not None:
            wrong.append(FieldError(f"files.{number}.parts", problem))
    _raise(wrong)


def check_renewal(files: Sequence[RenewedFile], known: Mapping[str, UploadFile]) -> None:
    """Reject renewals of unknown files, of unknown parts, or of too many.

    Raises:
        InvalidInputError: the message names every invalid file.
    """
    paths = Counter(file.path for file in files)
    wrong: list[FieldError] = []
    for number, file in enumerate(files):
        announced = known.get(file.path)
        if announced is None:
            wrong.append(FieldError(f"files.{number}.relativeKey", "is not a file of this upload"))
        elif paths[file.path] > 1:
            wrong.append(FieldError(f"files.{number}.relativeKey", "is listed twice"))
        else:
            problem = _range_problem(file.part_ranges, announced.num_parts)
            if problem is not None:
                wrong.append(FieldError(f"files.{number}.partRanges.{problem[0]}", problem[1]))
    _raise(wrong)
    urls = sum(part.last - part.first + 1 for file in files for part in file.part_ranges)
    if urls > MAX_URLS:
        raise InvalidInputError.of(
            "files",
            f"{urls} part URLs would be returned; at most {MAX_URLS} are allowed in a reply",
        )


def stored_parts_problem(
    file: UploadFile, sent: Sequence[SentPart], stored: Sequence[Part]
) -> str | None:
    """Return the difference between stored parts and those sent or announced, if there is one."""
    held = {part.number: part for part in stored}
    for part in sent:
        held_part = held.get(part.part_number)
        if held_part is None:
            return f"part {part.part_number} is not stored"
        if held_part.etag != part.etag.strip('"'):
            return f"part {part.part_number} is stored with ETag {held_part.etag}"
    size = sum(held[part.part_number].size for part in sent)
    if file.size is not None and size != file.size:
        return f"{size} bytes are stored, but {file.size} were announced"
    return None


def size_problem(size: int, upload_type: UploadType, path: str) -> str | None:
    """Return the problem of a file's size, if it is too large."""
    if size > MAX_PREVIEW_BYTES and (upload_type == "assetPreview" or is_preview(path)):
        return f"a preview can have at most {MAX_PREVIEW_BYTES} bytes (5 MiB)"
    if size > MAX_FILE_BYTES:
        return f"a file can have at most {MAX_FILE_BYTES} bytes (5 TiB)"
    return None


def files_to_verify(files: Sequence[UploadFile]) -> frozenset[str]:
    """Return the paths of the files that one call reads completely to compare their checksum."""
    left = CHECKED_CALL_BYTES
    chosen: set[str] = set()
    for file in files:
        size = CHECKED_FILE_BYTES if file.size is None else file.size
        if file.checksum_sha256 is not None and size <= min(left, CHECKED_FILE_BYTES):
            chosen.add(file.path)
            left -= size
    return frozenset(chosen)


def _raise(wrong: Sequence[FieldError]) -> None:
    if wrong:
        text = "; ".join(f"{error.field}: {error.message}" for error in wrong[:5])
        more = f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise InvalidInputError(text + more, fields=tuple(wrong))


def path_problem(path: str, layout: Layout, allowed: str) -> str | None:
    """Return why an upload may not create a file with this path; None if it may."""
    problem = name_problem(path, layout.upload_type, allowed)
    if problem is not None:
        return problem
    final = layout.final_key(path)
    first = final.removeprefix(layout.base).split("/", 1)[0]
    if layout.upload_type == "assetFile" and first in RESERVED_FOLDERS:
        return f"must not be in the reserved folder {quoted(first)}"
    for name, key, limit in _keys(path, layout):
        size = len(key.encode())
        if size > limit:
            return f"results in {name} of {size} bytes; at most {limit} are allowed"
    return None


def _keys(path: str, layout: Layout) -> Iterator[tuple[str, str, int]]:
    """Return every key that the file gets or may get later, with its limit."""
    yield "an S3 key", layout.final_key(path), MAX_KEY_BYTES
    if layout.upload_type == "assetFile":
        metadata = FILE.build(layout.database_id, layout.asset_id, path)
        yield "a metadata key", metadata, SORT_KEY_BYTES
        snapshot = SNAPSHOT.build("attribute", path, "k" * METADATA_KEY_ROOM)
        yield f"a snapshot key ({METADATA_KEY_ROOM} for the name)", snapshot, SORT_KEY_BYTES


def _size_problems(file: NewFile, upload_type: UploadType) -> Iterator[tuple[str, str]]:
    if file.file_size is None and file.num_parts is None:
        yield "file_size", "is required unless num_parts is given"
    size = file.file_size or 0
    problem = size_problem(size, upload_type, file.path)
    if problem is not None:
        yield "file_size", problem
    parts = file.num_parts
    if parts == 0 and size > 0:
        yield "num_parts", f"is 0 for a file of {size} bytes"
    if parts is not None and parts > 1 and 0 < size <= (parts - 1) * MIN_PART_BYTES:
        yield (
            "num_parts",
            f"is {parts} for {size} bytes; all parts except the last must have at least 5 MiB",
        )
    if parts and size > parts * MAX_PART_BYTES:
        yield "num_parts", f"is {parts} for {size} bytes; a part can have at most 5 GiB"


def _part_list_problem(parts: Sequence[SentPart], announced: int) -> str | None:
    numbers = Counter(part.part_number for part in parts)
    twice = [number for number, count in numbers.items() if count > 1]
    if twice:
        return f"part {min(twice)} is listed twice"
    if max(numbers) > announced:
        return f"part {max(numbers)} is listed, but {announced} parts were announced"
    if len(numbers) != announced:
        missing = min(set(range(1, announced + 1)) - numbers.keys())
        return f"part {missing} is missing; {announced} parts were announced"
    return None


def _range_problem(ranges: Sequence[PartRange], announced: int) -> tuple[str, str] | None:
    """Return the index and field of the first invalid range, and the problem."""
    seen = 0
    for index, wanted in sorted(enumerate(ranges), key=lambda pair: pair[1].first):
        if wanted.last < wanted.first:
            return f"{index}.last", f"is {wanted.last}, less than first ({wanted.first})"
        if wanted.last > announced:
            return f"{index}.last", f"is {wanted.last}, but {announced} parts were announced"
        if wanted.first <= seen:
            return f"{index}.first", f"part {wanted.first} is listed twice"
        seen = wanted.last
    return None
