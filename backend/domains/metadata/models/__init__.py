"""Metadata records and their entities, as stored."""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import (
    BeforeValidator,
    ValidationInfo,
    field_validator,
)

from backend.core.metadata_values import MetadataKey, ValueType, check_value
from backend.core.models import SentModel, WireModel
from backend.spec.facts import FACT_PREFIX
from backend.values import frozen

# Records of one entity without facts, and records of one request: the contract's limit.
MAX_RECORDS = 500
Kind = Literal["metadata", "attribute"]
ASSET_LEVEL = "/"
"""The path of an asset's own metadata."""

UpdateType = Literal["update", "replace_all"]


@frozen
class Entity:
    """An asset (path `/`) or one of its files, which has metadata or attributes."""

    database_id: str
    asset_id: str
    path: str = ASSET_LEVEL
    kind: Kind = "metadata"


@frozen
class DatabaseEntity:
    """A database that has metadata."""

    database_id: str


@frozen
class LinkEntity:
    """A link between assets that has metadata.

    `database_ids` are those of both ends: the schemas of either are in force.
    """

    asset_link_id: str
    database_ids: tuple[str, ...]


AnyEntity = Entity | DatabaseEntity | LinkEntity


def is_reserved(entity: AnyEntity, key: str) -> bool:
    """Return whether a key is reserved for facts, attributes that only the product writes."""
    is_of_attributes = isinstance(entity, Entity) and entity.kind == "attribute"
    return is_of_attributes and key.startswith(FACT_PREFIX)


def in_lower_case(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


class Record(WireModel):
    """One key with its value, as stored."""

    metadata_key: str
    metadata_value_type: str = "string"
    metadata_value: str = ""


class NewRecord(SentModel):
    """One key with its value. `metadataValueType` is `string` by default."""

    metadata_key: MetadataKey
    metadata_value_type: Annotated[ValueType, BeforeValidator(in_lower_case)] = "string"
    metadata_value: str

    @field_validator("metadata_value")
    @classmethod
    def check_type(cls, value: str, info: ValidationInfo) -> str:
        value_type: ValueType | None = info.data.get("metadata_value_type")
        if value_type is None:  # which is a separate error
            return value
        return check_value(value_type, value)


class SentRecord(NewRecord):
    """A record of a request: a key that is not stored yet is checked as a new name."""


class ValueConflict(NamedTuple):
    """A key whose value is not the one that a request expects. None: there is no such record."""

    key: str
    expected: str | None
    stored: str | None


@frozen
class Edit:
    """Records to write and keys to remove, if their current values are `expected`."""

    records: tuple[SentRecord, ...]
    removals: tuple[str, ...]
    expected: Mapping[str, str | None]
