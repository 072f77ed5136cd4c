"""The table of databases, by access pattern."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.core.errors import AlreadyExistsError, NotFoundError, RevisionConflictError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Tables
from backend.core.transactions import Condition, Update, equals, exists, put_new
from backend.domains.databases.models import Database
from backend.spec.tables.assets import DATABASES

_KEY = DATABASES.partition_key.name


class DatabaseNotFoundError(NotFoundError):
    code = "DatabaseNotFound"

    def __init__(self, database_id: str) -> None:
        super().__init__(f"Database {database_id} does not exist")


class DatabaseExistsError(AlreadyExistsError):
    code = "DatabaseExists"

    def __init__(self, database_id: str) -> None:
        super().__init__(f"Database {database_id} exists already")


class DatabaseRevisionError(RevisionConflictError):
    code = "DatabaseRevisionConflict"

    def __init__(self, database_id: str) -> None:
        super().__init__(f"Database {database_id} was changed by someone else; read it again")


@dataclass(frozen=True, slots=True)
class DatabaseRepository:
    tables: Tables

    def get(self, database_id: str) -> Database | None:
        item = self.tables.get(DATABASES, {_KEY: database_id})
        return None if item is None else Database.model_validate(item)

    def list_registry(self, page: PageRequest) -> Page[Database]:
        """Databases in no order, soft-deleted ones among them."""
        found = self.tables.scan(DATABASES, page)
        return Page(tuple(Database.model_validate(item) for item in found.items), found.after)

    def put_new(self, database: Database) -> None:
        item = database.model_dump(by_alias=True)
        refused = DatabaseExistsError(database.database_id)
        self.tables.write(put_new(DATABASES, item, refused))

    def change(
        self, database_id: str, changes: Mapping[str, Any], *, expected_revision: int
    ) -> Database:
        """Set some attributes, if the revision is still the expected one."""
        item = self.tables.write(
            Update(
                table=DATABASES,
                key={_KEY: database_id},
                set=changes,
                add={"revision": 1},
                conditions=(equals("revision", expected_revision),),
                refused=DatabaseRevisionError(database_id),
            )
        )
        return Database.model_validate(item)

    def count_assets(self, database_id: str, by: int) -> Update:
        """The write that adds to the count; it also demands that the database is there."""
        floor = (Condition("assetCount", ">=", -by),) if by < 0 else ()
        return Update(
            table=DATABASES,
            key={_KEY: database_id},
            add={"assetCount": by},
            conditions=(exists(_KEY), *floor),
            refused=DatabaseNotFoundError(database_id),
        )
