"""The errors of metadata."""

from backend.core.errors import ConflictError, InvalidInputError, StateForbidsError
from backend.core.quoting import quoted
from backend.domains.metadata.models import MAX_RECORDS, ValueConflict


class SchemaViolationError(InvalidInputError):
    """The request violates the metadata schemas in force; nothing was written."""

    code = "MetadataSchemaViolation"
    needs_operator = False


class ValuesChangedError(ConflictError):
    """Values are not those that the request expects; nothing was written."""

    code = "MetadataChanged"

    def __init__(self, conflicts: tuple[ValueConflict, ...]) -> None:
        first, more = conflicts[0], len(conflicts) - 1
        values = ("no value" if v is None else quoted(v) for v in (first.stored, first.expected))
        fact = "{} has {}, not the expected {}".format(quoted(first.key), *values)
        super().__init__(f"{fact}; {more} more keys differ" if more else fact)
        self.conflicts = conflicts


class RecordsBusyError(ConflictError):
    """Other requests keep adding or removing the same keys."""

    code = "MetadataBusy"

    def __init__(self) -> None:
        super().__init__("Other requests are changing the same keys; try again")


class FilesChangedError(RecordsBusyError):
    """A change of the asset's files began after a request read the file: the request reads again.

    Requests that are overtaken at every attempt are refused like those of the same keys.
    """


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
