"""Wires downloads and streams."""

from functools import partial

from backend.aws import clients
from backend.aws.object_ranges import S3ObjectRanges
from backend.domains.downloads.service import DownloadService, StreamService
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.files import files
from backend.spec.buckets import AUXILIARY_BUCKET


def downloads(context: Context) -> DownloadService:
    return DownloadService(assets(context), files(context), context.objects, context.url_seconds)


@once
def streams(context: Context) -> StreamService:
    return StreamService(
        assets=assets(context),
        files=files(context),
        objects=context.objects,
        ranges=S3ObjectRanges(clients.at_first_use(clients.s3)),
        auxiliary=partial(context.settings.bucket, AUXILIARY_BUCKET),
        url_seconds=context.url_seconds,
    )
