"""Results of inspections as tests record them, and an asset with one file."""

from dataclasses import dataclass
from typing import Any

from backend.core.identity import Identity
from backend.core.references import FileKeyRef
from backend.domains.assets.service.commands import AssetService
from backend.domains.facts.models import Inspection, SimilarShape
from backend.domains.facts.repository import FactRepository
from backend.domains.facts.service.commands import FactCommands
from backend.domains.facts.service.glbs import GlbQueries
from backend.domains.facts.service.queries import FactQueries
from backend.domains.files.repository import FileRepository
from backend.domains.files.service.queries import FileQueries
from backend.domains.metadata.models import Entity
from backend.domains.metadata.service.records import RecordService
from tests.factories.assets import NOON, asset_service, created_asset, created_database
from tests.factories.metadata import record_service
from tests.factories.quarantine import quarantine
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

BUCKET = "assetbucket"
AUXILIARY = "assetauxiliarybucket"
PATH = "/parts/gear.glb"
ATTRIBUTES = Entity("museum", "statue", PATH, "attribute")
SHAPE = [number / 75 for number in range(75)]


def inspection(version_id: str, **more: Any) -> Inspection:
    body: dict[str, Any] = {
        "version": 1,
        "source": {"bucket": BUCKET, "key": "statue" + PATH, "versionId": version_id},
        "facts": {"format": "glTF2", "triangles": 12, "area": 1.5, "watertight": True},
        **more,
    }
    return Inspection.model_validate(body)


@dataclass
class InspectionSetup:
    tables: MemoryTables
    objects: MemoryObjects
    assets: AssetService
    records: RecordService
    commands: FactCommands
    scans: bool = False
    processing: bool = True

    def put(self, path: str = PATH, body: bytes = b"bytes") -> str:
        """Upload a version of a file; its S3 version."""
        written = self.objects.put(
            BUCKET, "statue" + path, body, content_type="model/gltf-binary", metadata={}
        )
        return written.version_id

    def record(self, version_id: str, path: str = PATH, **more: Any) -> bool:
        return self.commands.record("museum", "statue", path, inspection(version_id, **more))

    def facts(self, path: str = PATH) -> dict[str, str]:
        entity = Entity("museum", "statue", path, "attribute")
        records = self.records.records_of(entity)
        return {record.metadata_key: record.metadata_value for record in records}


def bench(*, scans: bool = False, is_distributable: bool = True) -> InspectionSetup:
    tables, objects = MemoryTables(), MemoryObjects()
    assets = asset_service(tables, objects)
    created_database(assets)
    created_asset(assets, is_distributable=is_distributable)
    records = record_service(assets, tables)
    commands = FactCommands(assets, records, objects)
    return InspectionSetup(tables, objects, assets, records, commands, scans)


class NoShapes:
    """Search by shape that finds what it is given."""

    def __init__(self, *found: SimilarShape) -> None:
        self.found = list(found)
        self.requested: list[tuple[str, int, FileKeyRef]] = []

    def similar(
        self, caller: Identity, shape: str, *, size: int, but: FileKeyRef
    ) -> list[SimilarShape]:
        self.requested.append((shape, size, but))
        return self.found[:size]


def queries(museum: InspectionSetup, *found: SimilarShape) -> FactQueries:
    assets, tables = museum.assets, museum.tables
    return FactQueries(
        assets=assets,
        facts=FactRepository(tables),
        objects=museum.objects,
        shapes=NoShapes(*found),
    )


def glbs(museum: InspectionSetup) -> GlbQueries:
    tables, assets, objects = museum.tables, museum.assets, museum.objects
    scanned = quarantine(tables, scans=museum.scans)
    return GlbQueries(
        assets=assets,
        files=FileQueries(FileRepository(tables), assets, objects, scanned),
        facts=FactRepository(tables),
        objects=objects,
        auxiliary=lambda: AUXILIARY,
        is_processed=lambda _: museum.processing,
        url_seconds=900,
        clock=lambda: NOON,
    )
