"""Wires ingest to the services of assets and uploads."""

from functools import cached_property

from backend.core.wired import wired
from backend.domains.ingest.service import IngestService
from backend.entrypoints.wiring import Wiring


@wired
class IngestWiring(Wiring):
    """Creates the services of ingest."""

    @cached_property
    def ingest(self) -> IngestService:
        return IngestService(self.assets, self.uploads)
