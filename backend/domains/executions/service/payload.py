"""The input of an execution's pipelines."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.core.objects import Objects
from backend.core.runs import RunInput
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.executions.models import Execution
from backend.domains.executions.rules import payloads
from backend.domains.metadata.models import ASSET_LEVEL, Entity, Kind
from backend.domains.metadata.service.records import RecordService
from backend.spec.key_layouts import run_folder


@dataclass(eq=False, repr=False)
class Payloads:
    """Builds inputs. `auxiliary_bucket` is the physical name of the bucket of runs.

    No permission is checked: an execution reads its own input, which its caller was allowed to run.
    """

    assets: AssetService
    records: RecordService
    objects: Objects
    auxiliary_bucket: Callable[[], str]

    def run_input(self, execution: Execution) -> RunInput:
        """Return the input of an execution.

        Raises:
            AssetNotFoundError: the asset is archived or deleted.
            UnavailableError: a table or bucket does not respond.
        """
        asset = self.assets.find_asset(execution.database_id, execution.asset_id)
        if asset is None or asset.is_archived:
            raise AssetNotFoundError(execution.database_id, execution.asset_id)
        bucket, prefix = self.assets.location(asset)
        place = payloads.RunPlace(bucket, prefix, self.auxiliary_bucket())
        pipelines = payloads.pipeline_tasks(execution, place)
        shared = payloads.shared_fields(execution, place)
        metadata = json.dumps(self._metadata(execution, asset, prefix), ensure_ascii=False)
        if not payloads.fits_into_input(metadata, pipelines, shared):
            metadata = self._store(execution, metadata)
        return RunInput(pipelines, {**shared, "inputMetadata": metadata})

    def _store(self, execution: Execution, metadata: str) -> str:
        bucket = self.auxiliary_bucket()
        key = f"{run_folder(execution.execution_id)}{payloads.METADATA_OBJECT}"
        self.objects.put(
            bucket, key, metadata.encode(), content_type="application/json", metadata={}
        )
        return f"s3://{bucket}/{key}"

    def _metadata(self, execution: Execution, asset: Asset, prefix: str) -> Mapping[str, Any]:
        key = execution.input_asset_file_key
        path = f"/{key.removeprefix(prefix)}" if key else None
        of_asset = Entity(asset.database_id, asset.asset_id, ASSET_LEVEL)
        return {
            "VAMS": {
                "assetData": {
                    "assetName": asset.asset_name,
                    "description": asset.description,
                    "tags": list(asset.tags),
                },
                "assetMetadata": self._values(of_asset),
                "fileMetadata": self._of_file(asset, path, "metadata"),
                "fileAttributes": self._of_file(asset, path, "attribute"),
            }
        }

    def _of_file(self, asset: Asset, path: str | None, kind: Kind) -> Mapping[str, str]:
        if path is None:
            return {}
        return self._values(Entity(asset.database_id, asset.asset_id, path, kind))

    def _values(self, entity: Entity) -> Mapping[str, str]:
        records = self.records.records_of(entity)
        return {record.metadata_key: record.metadata_value for record in records}
