"""Stores the facts of files. No permission is checked: the product itself writes them."""

from dataclasses import dataclass
from functools import partial

from backend.core.objects import ObjectHead, Objects
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.facts import rules
from backend.domains.facts.models import FailedInspection, Inspection
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
        if asset is None or not self._is_current(asset, file_path, inspection.source.version_id):
            return False
        entity = Entity(database_id, asset_id, file_path, "attribute")
        self.records.put_facts(entity, rules.records_of(inspection))
        return True

    def record_failure(self, failed: FailedInspection) -> None:
        """Store the reason of a failed inspection as the facts of the file.

        Otherwise as `record`.
        """
        asset = self.assets.find_asset(failed.database_id, failed.asset_id)
        if asset is None or not failed.key.startswith(asset.asset_location.key):
            return
        path = f"/{failed.key.removeprefix(asset.asset_location.key)}"
        if not self._is_current(asset, path, failed.version_id):
            return
        self.records.put_facts(
            Entity(failed.database_id, failed.asset_id, path, "attribute"),
            rules.records_of_failure(failed.version_id, failed.reason),
            # Another inspection of this version may have succeeded: its facts remain.
            unless=partial(rules.is_from_readers, version_id=failed.version_id),
        )

    def _is_current(self, asset: Asset, file_path: str, version_id: str) -> bool:
        bucket, prefix = self.assets.location(asset)
        head = self.objects.head(bucket, prefix + file_path.removeprefix("/"))
        return isinstance(head, ObjectHead) and head.version.version_id == version_id
