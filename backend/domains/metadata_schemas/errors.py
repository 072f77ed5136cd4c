"""The errors of metadata schemas."""

from backend.core.errors import ConflictError, NotFoundError, RevisionConflictError
from backend.domains.metadata_schemas.models import MAX_SCHEMAS


class SchemaNotFoundError(NotFoundError):
    code = "MetadataSchemaNotFound"

    def __init__(self, metadata_schema_id: str) -> None:
        super().__init__(f"Metadata schema {metadata_schema_id} does not exist")


class SchemaRevisionError(RevisionConflictError):
    code = "MetadataSchemaRevisionConflict"

    def __init__(self, metadata_schema_id: str) -> None:
        super().__init__(f"Metadata schema {metadata_schema_id} was changed by someone else")


class TooManySchemasError(ConflictError):
    """The database has the maximum number of metadata schemas."""

    code = "TooManyMetadataSchemas"

    def __init__(self, scope: str) -> None:
        super().__init__(
            f"{scope} already has {MAX_SCHEMAS} metadata schemas, which is the maximum"
        )


class SchemasBusyError(ConflictError):
    """Other requests keep creating or deleting schemas of the same scope."""

    code = "MetadataSchemasBusy"

    def __init__(self) -> None:
        super().__init__(
            "Other requests are changing the metadata schemas of the same scope; try again"
        )
