"""Wires uploads."""

from backend.domains.uploads.repository import UploadRepository
from backend.domains.uploads.service.commands import UploadLimits, UploadService
from backend.domains.uploads.service.context import UploadContext
from backend.domains.uploads.service.large_files import LargeFiles
from backend.domains.uploads.service.renewal import RenewalService
from backend.domains.uploads.service.settlement import Settlement
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.files import files
from backend.entrypoints.wiring.jobs import jobs
from backend.spec.settings import LARGE_FILE_BYTES, UPLOAD_RATE_PER_MINUTE


@once
def uploads(context: Context) -> UploadService:
    limits = UploadLimits(
        per_minute=context.settings.number(UPLOAD_RATE_PER_MINUTE),
        url_seconds=context.url_seconds,
    )
    return UploadService(_upload_context(context), _settlement(context), limits)


def renewals(context: Context) -> RenewalService:
    return RenewalService(_upload_context(context), context.url_seconds)


def large_files(context: Context) -> LargeFiles:
    return LargeFiles(_upload_context(context), _settlement(context))


def _settlement(context: Context) -> Settlement:
    return Settlement(_upload_context(context), files(context))


@once
def _upload_context(context: Context) -> UploadContext:
    return UploadContext(
        uploads=UploadRepository(context.tables),
        assets=assets(context),
        databases=databases(context),
        jobs=jobs(context),
        objects=context.objects,
        audit=context.audit,
        large_bytes=context.settings.number(LARGE_FILE_BYTES),
        clock=context.clock,
    )
