"""Wires ingest to the services of assets and uploads."""

from backend.domains.ingest.service import IngestService
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.uploads import uploads


def ingest(context: Context) -> IngestService:
    return IngestService(assets(context), uploads(context))
