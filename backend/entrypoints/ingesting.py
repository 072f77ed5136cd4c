"""Puts the services of assets and uploads behind ingest."""

from dataclasses import dataclass
from functools import cached_property

from backend.domains.ingest.service import IngestService
from backend.entrypoints.wiring import Wiring


@dataclass(frozen=True)
class IngestWiring(Wiring):
    """What the function of ingest is made of."""

    @cached_property
    def ingest(self) -> IngestService:
        return IngestService(self.assets, self.uploads)
