"""Names of deleted databases, tag types and roles, and whether constraints still use them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from backend.core.paging import all_items
from backend.core.tables import Tables
from backend.core.transactions import Item, Put
from backend.spec.tables.access import CONSTRAINTS
from backend.spec.tables.operations import RESERVATIONS

_KEY = RESERVATIONS.partition_key.name
# DynamoDB returns at most a megabyte of rows anyway.
_SCAN_PAGE = 1000


@dataclass(eq=False, repr=False)
class DeletedNameRepository:
    tables: Tables

    def was_deleted(self, field: str, name: str) -> bool:
        """Return whether an object of this name was deleted, even if another one exists now."""
        return self.tables.get(RESERVATIONS, {_KEY: _key(field, name)}) is not None

    def is_mentioned(self, field: str, name: str) -> bool:
        """Return whether a constraint has the name as a value of this field.

        Reads all constraints, so it is used only for names of deleted objects.
        """
        rows = all_items(partial(self.tables.scan, CONSTRAINTS), _SCAN_PAGE)
        for criterion in _criteria(rows):
            value = criterion.get("value")
            is_mentioned = name in value if isinstance(value, list) else value == name
            if is_mentioned and criterion.get("field") == field:
                return True
        return False


def deleted_name(field: str, name: str) -> Put:
    """Return the write of a name, for the transaction that deletes the object."""
    return Put(table=RESERVATIONS, item={_KEY: _key(field, name)})


def _criteria(rows: Iterable[Item]) -> Iterable[dict[str, Any]]:
    for row in rows:
        for block in ("criteriaAnd", "criteriaOr"):
            yield from json.loads(row.get(block) or "[]")


def _key(field: str, name: str) -> str:
    return f"DeletedName#{field}#{name}"
