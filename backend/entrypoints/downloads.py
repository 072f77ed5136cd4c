"""Wires downloads and streams."""

from dataclasses import dataclass
from functools import cached_property

from backend.aws import clients
from backend.aws.object_ranges import S3ObjectRanges
from backend.domains.downloads.service import DownloadService, StreamService
from backend.entrypoints.wiring import Wiring
from backend.spec.buckets import AUXILIARY_BUCKET


@dataclass(eq=False, repr=False)
class DownloadWiring(Wiring):
    """Creates the services of downloads."""

    @cached_property
    def downloads(self) -> DownloadService:
        return DownloadService(self.assets, self.files, self.objects, self.url_seconds)

    @cached_property
    def streams(self) -> StreamService:
        return StreamService(
            assets=self.assets,
            files=self.files,
            objects=self.objects,
            ranges=S3ObjectRanges(clients.at_first_use(clients.s3)),
            auxiliary=lambda: self.settings.bucket(AUXILIARY_BUCKET),
            url_seconds=self.url_seconds,
        )
