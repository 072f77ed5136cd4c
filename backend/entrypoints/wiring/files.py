"""Wires listing and describing files."""

from backend.core.part_copies import PartCopies
from backend.domains.files.repository import FileRepository
from backend.domains.files.service.asset_pictures import AssetPictures
from backend.domains.files.service.copies import Copies
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.files.service.queries import FileQueries
from backend.domains.quarantine.repository import QuarantineRepository
from backend.domains.quarantine.service.queries import Quarantine
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.spec.settings import LARGE_FILE_BYTES, MALWARE_SCAN


@once
def files(context: Context) -> FileQueries:
    """Return the service of files.

    Functions that read files, or copy them, declare `MALWARE_SCAN`; others never use it.
    """
    repository = QuarantineRepository(context.tables)
    return FileQueries(
        FileRepository(context.tables),
        assets(context),
        context.objects,
        Quarantine(repository, lambda: context.settings.number(MALWARE_SCAN) == 1),
    )


def asset_pictures(context: Context) -> AssetPictures:
    return AssetPictures(assets(context), files(context), context.objects)


def part_copies(context: Context) -> PartCopies:
    large_bytes = context.settings.number(LARGE_FILE_BYTES)
    return PartCopies(context.objects, large_bytes, context.clock)


def copies(context: Context) -> Copies:
    parts, quarantine = part_copies(context), files(context).quarantine
    return Copies(context.objects, parts, quarantine, origin_records(context))


def origin_records(context: Context) -> OriginRecords:
    return OriginRecords(FileRepository(context.tables))
