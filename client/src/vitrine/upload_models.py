"""Uploads as the API returns them (see `models` for the rest)."""

from collections.abc import Sequence

from pydantic import Field, JsonValue

from vitrine.models import PartUrl, Wire


class StoredPart(Wire):
    """A part that the storage has."""

    part_number: int = Field(alias="PartNumber")
    e_tag: str = Field(alias="ETag")
    size: int = Field(alias="Size")


class RenewedFile(Wire):
    """A file whose upload continues; `assembled` ones need no more parts, only a completion."""

    relative_key: str
    upload_id_s3: str
    num_parts: int
    part_upload_urls: tuple[PartUrl, ...] = ()
    stored_parts: tuple[StoredPart, ...] = ()
    assembled: bool = False


class Renewal(Wire):
    upload_id: str
    expires_in: int | None = None
    files: tuple[RenewedFile, ...]


class UploadedFile(Wire):
    """A file of an upload: `open`, `working` (being finished), `done` or `failed`."""

    relative_key: str
    upload_id_s3: str | None = None
    num_parts: int = 0
    file_size: int | None = Field(default=None, alias="file_size")
    state: str
    error: str | None = None
    error_kind: str | None = None
    large_file_asynchronous_handling: bool = False


class UploadDetails(Wire):
    """An upload: `open`, `working` or `completed`."""

    upload_id: str
    database_id: str
    asset_id: str
    upload_type: str | None = None
    user_id: str | None = None
    state: str
    created_at: str | None = None
    expires_at: str | None = None
    files: tuple[UploadedFile, ...]
    large_file_asynchronous_handling: bool = False


class UploadSummary(Wire):
    """An upload in a list: how many files it has, and their size in bytes."""

    upload_id: str
    database_id: str
    asset_id: str
    upload_type: str | None = None
    state: str
    created_at: str | None = None
    expires_at: str | None = None
    files: int = 0
    files_done: int = 0
    files_failed: int = 0
    size: int = 0


def ranges_of(numbers: Sequence[int]) -> list[JsonValue]:
    """Return ascending part numbers as the ranges of a renewal."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return [{"first": first, "last": last} for first, last in found]
