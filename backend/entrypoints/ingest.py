"""Wires ingest to the services of assets and uploads."""

from dataclasses import dataclass
from functools import cached_property

from backend.domains.ingest.service import IngestService
from backend.entrypoints.wiring import Wiring


@dataclass(eq=False, repr=False)
class IngestWiring(Wiring):
    """Creates the services of ingest."""

    @cached_property
    def ingest(self) -> IngestService:
        return IngestService(self.assets, self.uploads)
