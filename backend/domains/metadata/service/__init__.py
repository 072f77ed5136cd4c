"""Operations on metadata and attributes.

`RecordService` writes records of any kind of entity under the schemas in force and asks no
permission; `MetadataService` (in `verbs`) asks it, for databases, assets and files.
"""

from backend.domains.metadata.service.records import BulkResult, RecordService, ShownRecord
from backend.domains.metadata.service.writes import TooManyRecordsError

__all__ = ["BulkResult", "RecordService", "ShownRecord", "TooManyRecordsError"]
