"""What can be done with metadata and attributes.

`RecordService` writes records of any kind of entity under the schemas in force and asks no
permission; `MetadataService` asks it, for databases, assets and files.
"""

from backend.domains.metadata.service.records import (
    BulkResult,
    RecordService,
    ShownRecord,
)
from backend.domains.metadata.service.telling import bulk_reply, metadata_reply
from backend.domains.metadata.service.verbs import FileNotFoundInAssetError, MetadataService
from backend.domains.metadata.service.writing import TooManyRecordsError

__all__ = [
    "BulkResult",
    "FileNotFoundInAssetError",
    "MetadataService",
    "RecordService",
    "ShownRecord",
    "TooManyRecordsError",
    "bulk_reply",
    "metadata_reply",
]
