"""Uploads as the API returns them (see `models` for the rest)."""

from collections.abc import Sequence

from pydantic import JsonValue

from vitrine.api_models import Renewal as Renewal
from vitrine.api_models import RenewedFile as RenewedFile
from vitrine.api_models import StoredPart as StoredPart
from vitrine.api_models import UploadDetails as UploadDetails
from vitrine.api_models import UploadedFile as UploadedFile
from vitrine.api_models import UploadSummary as UploadSummary


def ranges_of(numbers: Sequence[int]) -> list[JsonValue]:
    """Return ascending part numbers as the ranges of a renewal."""
    rows: list[tuple[int, int]] = []
    for number in numbers:
        if rows and rows[-1][1] == number - 1:
            rows[-1] = (rows[-1][0], number)
        else:
            rows.append((number, number))
    return [{"first": first, "last": last} for first, last in rows]
