"""Stores the facts of files. No permission is checked: the product itself writes them."""

from dataclasses import dataclass

from backend.core.objects import ObjectHead, Objects
from backend.domains.assets.service.commands import AssetService
from backend.domains.facts import rules
from backend.domains.facts.models import Inspection
from backend.domains.metadata.models import Entity
from backend.domains.metadata.service.records import RecordService


@dataclass(eq=False, repr=False)
class FactCommands:
    assets: AssetService
    records: RecordService
    objects: Objects

    def record(
        self, database_id: str, asset_id: str, file_path: str, inspection: Inspection
    ) -> bool:
        """Replace all facts of a file by those of an inspection; return whether they were stored.

        Ignores the result of a version that is no longer the latest, and of a deleted file or
        asset. Storing the same result again writes nothing.

        Raises:
            RecordsBusyError: facts of the same file are written concurrently at every attempt.
            UnavailableError: the facts cannot be read or written.
        """
        asset = self.assets.find_asset(database_id, asset_id)
        if asset is None:
            return False
        bucket, prefix = self.assets.location(asset)
        head = self.objects.head(bucket, prefix + file_path.removeprefix("/"))
        if not isinstance(head, ObjectHead):
            return False
        if head.version.version_id != inspection.source.version_id:
            return False
        entity = Entity(database_id, asset_id, file_path, "attribute")
        self.records.put_facts(entity, rules.records_of(inspection))
        return True
