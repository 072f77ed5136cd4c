"""The tables of metadata and attributes, by access pattern."""

from backend.domains.metadata.repository.places import Told, item_of, largest_row, size_of
from backend.domains.metadata.repository.records import (
    EntryOf,
    Found,
    MetadataRepository,
    Part,
    RecordSet,
)

__all__ = [
    "EntryOf",
    "Found",
    "MetadataRepository",
    "Part",
    "RecordSet",
    "Told",
    "item_of",
    "largest_row",
    "size_of",
]
