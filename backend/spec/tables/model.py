"""The classes of table declarations. The other modules of this package declare the tables."""

from typing import Literal

from backend.spec.attributes import Attribute
from backend.spec.keys import PARTITION_KEY_BYTES, SORT_KEY_BYTES, Composite
from backend.values import frozen

KeyAttribute = Attribute | Composite
Projection = Literal["ALL", "KEYS_ONLY"]
StreamView = Literal["NEW_IMAGE", "NEW_AND_OLD_IMAGES"]
Origin = Literal["data model", "chosen", "ours"]
"""The source of a declaration: the VAMS data model, a choice where that model is silent, or an
addition."""


@frozen
class Index:
    """A secondary index; local when it has no partition key of its own.

    `access_patterns` are the reads that use it. If there are none, it is declared only because the
    data model has it.
    """

    name: str
    partition_key: KeyAttribute | None
    sort_key: KeyAttribute | None
    projection: Projection
    origin: Origin = "data model"
    access_patterns: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        return self.partition_key is None


@frozen
class Table:
    """A DynamoDB table; `name` is the logical id, CloudFormation names the physical table.

    `access_patterns` are the operations by the table's own key; an unused table has none.
    """

    name: str
    partition_key: KeyAttribute
    description: str
    access_patterns: tuple[str, ...]
    sort_key: KeyAttribute | None = None
    indexes: tuple[Index, ...] = ()
    stream: StreamView | None = None
    ttl: str | None = None
    origin: Origin = "data model"

    @property
    def key_names(self) -> tuple[str, ...]:
        """Return the names of the primary key's attributes, partition key first."""
        keys = (self.partition_key, self.sort_key)
        return tuple(key.name for key in keys if key is not None)

    @property
    def key_bytes(self) -> dict[str, int]:
        """Return the maximum size of each key attribute of the table and its indexes."""
        most: dict[str, int] = {}
        for keys in (self, *self.indexes):
            for key, limit in (
                (keys.partition_key, PARTITION_KEY_BYTES),
                (keys.sort_key, SORT_KEY_BYTES),
            ):
                if key is not None:
                    most[key.name] = min(limit, most.get(key.name, limit))
        return most

    def index(self, name: str) -> Index:
        """Return the index of that name.

        Raises:
            KeyError: the table has no such index.
        """
        for index in self.indexes:
            if index.name == name:
                return index
        raise KeyError(f"{self.name} has no index {name}")
