"""Wires listing and describing files."""

from functools import partial

from backend.core.paging import PageRequest
from backend.core.part_copies import PartCopies
from backend.core.tables import Tables
from backend.domains.assets.models import Asset
from backend.domains.files.repository.files import FileRepository
from backend.domains.files.service.copies import Copies
from backend.domains.files.service.queries import FileQueries
from backend.domains.quarantine.repository import QuarantineRepository
from backend.domains.quarantine.service.queries import Quarantine
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.spec.settings import LARGE_FILE_BYTES, MALWARE_SCAN

_NEWEST = 1000


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
        partial(failed_inspection, context.tables),
    )


def part_copies(context: Context) -> PartCopies:
    large_bytes = context.settings.number(LARGE_FILE_BYTES)
    return PartCopies(context.objects, large_bytes, context.clock)


def copies(context: Context) -> Copies:
    return Copies(context.objects, part_copies(context), files(context).quarantine)


def failed_inspection(
    tables: Tables, asset: Asset, path: str, key: str, version_id: str
) -> str | None:
    """Return why a version of a file has no facts although it was to be inspected."""
    # Loaded by the first request that describes a file: many functions have this service.
    from backend.domains.facts.repository import FactRepository  # noqa: PLC0415

    if FactRepository(tables).source_of(asset, path)[0] == version_id:
        return None
    return inspection_failures(tables, asset).get((key, version_id))


def inspection_failures(
    tables: Tables, asset: Asset, *, newest: int = _NEWEST
) -> dict[tuple[str, str], str]:
    """Return why the last inspections of files failed, by key and version id.

    They are searched among the newest executions of the asset.
    """
    from backend.domains.executions.repository.rows import ExecutionRepository  # noqa: PLC0415

    found: dict[tuple[str, str], str | None] = {}
    for one in ExecutionRepository(tables).list_of_asset(asset.ref, PageRequest(newest)).items:
        if one.shipped:
            error = one.error
            text = error and f"The inspection failed: {error.message or error.code}"
            found.setdefault((one.input_asset_file_key, one.input_version_id), text)
    return {place: text for place, text in found.items() if text}
