"""The errors of metadata."""

from backend.core.errors import ConflictError, InvalidInputError, StateForbidsError
from backend.domains.metadata.models import MAX_RECORDS


class SchemaViolationError(InvalidInputError):
    """The request violates the metadata schemas in force; nothing was written."""

    code = "MetadataSchemaViolation"
    needs_operator = False


class RecordsBusyError(ConflictError):
    """Other requests keep adding or removing the same keys."""

    code = "MetadataBusy"

    def __init__(self) -> None:
        super().__init__("Other requests are changing the same keys; try again")


class NoRoomError(ConflictError):
    """The entity would have too many records."""


class TooManyRecordsError(StateForbidsError):
    """There would be too many metadata keys."""

    code = "TooManyRecords"

    def __init__(self, count: int) -> None:
        super().__init__(
            f"There would be {count} keys, including those filled in by metadata schemas; "
            f"at most {MAX_RECORDS} are allowed"
        )
