"""The errors of databases."""

from backend.core.errors import (
    AlreadyExistsError,
    NotEmptyError,
    NotFoundError,
    RevisionConflictError,
    StateForbidsError,
)


class DatabaseNotFoundError(NotFoundError):
    code = "DatabaseNotFound"

    def __init__(self, database_id: str) -> None:
        super().__init__(f"Database {database_id} does not exist")


class DatabaseExistsError(AlreadyExistsError):
    code = "DatabaseExists"

    def __init__(self, database_id: str) -> None:
        super().__init__(f"Database {database_id} already exists")


class DatabaseNotEmptyError(NotEmptyError):
    """The database has active assets; archive or delete them first."""

    code = "DatabaseNotEmpty"

    def __init__(self, database_id: str, assets: int) -> None:
        noun = "asset" if assets == 1 else "assets"
        super().__init__(
            f"Database {database_id} has {assets} active {noun}; archive or delete them first"
        )
        self.assets = assets


class DatabaseDefinitionsError(NotEmptyError):
    """The database has active pipelines, workflows or tag types; delete them first."""

    code = "DatabaseHoldsDefinitions"

    def __init__(self, database_id: str, pipelines: int, workflows: int, tag_types: int) -> None:
        counts = [
            (pipelines, "active pipeline"),
            (workflows, "active workflow"),
            (tag_types, "tag type"),
        ]
        held = [f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in counts if n]
        super().__init__(
            f"Database {database_id} has {' and '.join(held) or 'definitions'}; delete them first"
        )


class DatabaseRevisionError(RevisionConflictError):
    code = "DatabaseRevisionConflict"

    def __init__(self, database_id: str) -> None:
        super().__init__(f"Database {database_id} was changed by someone else; read it again")


class DatabaseActiveError(StateForbidsError):
    """An active database with this id exists, so there is nothing to purge."""

    code = "DatabaseActive"

    def __init__(self, database_id: str) -> None:
        super().__init__(f"Database {database_id} is active: delete it before purging it")


class DatabasePurgingError(StateForbidsError):
    """The id cannot be used until the deleted database is purged."""

    code = "DatabasePurging"

    def __init__(self, database_id: str, job_id: str | None = None) -> None:
        by = "" if job_id is None else f" by job {job_id}"
        super().__init__(
            f"Database {database_id} is being purged{by}; the id can be used again after that"
        )


class PurgeEndedError(StateForbidsError):
    """The purge of the database has already ended."""

    code = "PurgeEnded"
    needs_operator = False

    def __init__(self, database_id: str) -> None:
        super().__init__(f"The purge of database {database_id} has already ended")
