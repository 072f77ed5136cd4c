"""A process that edits one asset and its metadata until it is killed."""

import itertools
import os
from dataclasses import replace

from backend.aws.clients import dynamodb, s3
from backend.aws.objects import S3Objects
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.errors import RevisionConflictError
from backend.core.ids import new_uuid
from backend.domains.assets.models import UpdateAssetBody
from backend.domains.assets.repository import AssetRepository
from backend.domains.metadata.models import Entity, NewRecord
from tests.factories.assets import ADMIN, asset_service
from tests.factories.metadata import metadata_service
from tests.fakes.tables import MemoryTables

LARGE = 6000


def edit_for_ever() -> None:
    tables = DynamoTables(dynamodb(), Settings(os.environ))
    objects = S3Objects(s3())
    # These edits need no tags and databases.
    assets = replace(asset_service(MemoryTables(), objects), assets=AssetRepository(tables))
    metadata = metadata_service(assets, tables, objects)
    for _ in itertools.count():
        text = new_uuid()
        body = UpdateAssetBody(description=text)
        try:
            assets.update_asset(ADMIN, "museum", "statue", body)
        except RevisionConflictError:  # the killed editor's last write was carried out late
            continue
        new = NewRecord(
            metadata_key="note", metadata_value=text + "x" * LARGE, metadata_value_type="string"
        )
        metadata.change_metadata(ADMIN, Entity("museum", "statue"), [new])
        os.write(1, b".\n")


if __name__ == "__main__":
    edit_for_ever()
