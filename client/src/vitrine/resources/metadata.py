"""Metadata of assets, files, databases and links: list, add, change, remove."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue

from vitrine.api_models import EditedEntity, EditMetadata, EditMetadataBody
from vitrine.models import BulkResult, Metadata, MetadataRecord
from vitrine.resources.assets import asset_path
from vitrine.resources.resource import Resource
from vitrine.transport import path_of


@dataclass(frozen=True, kw_only=True)
class MetadataOwner:
    """An entity with metadata: a database, an asset, or a file of an asset."""

    database_id: str
    asset_id: str | None = None
    file_path: str | None = None
    kind: Literal["metadata", "attribute"] = "metadata"

    def path(self) -> str:
        if self.asset_id is None:
            return path_of("database", self.database_id, "metadata")
        ending = ("metadata",) if self.file_path is None else ("metadata", "file")
        return asset_path(self.database_id, self.asset_id, *ending)

    def selector(self) -> dict[str, str]:
        """Return the fields that identify a file; none for other entities."""
        if self.file_path is None:
            return {}
        return {"filePath": self.file_path, "type": self.kind}


class Owner(Protocol):
    """An entity with metadata: the path of its records, and the fields that identify it."""

    def path(self) -> str: ...

    def selector(self) -> dict[str, str]: ...


class MetadataRecords(Resource):
    def list(self, owner: Owner, *, page_size: int | None = None) -> Iterator[MetadataRecord]:
        """List every record, including schema fields without a value."""
        return self._transport.pages(
            MetadataRecord,
            owner.path(),
            items="metadata",
            query=owner.selector(),
            page_size=page_size,
        )

    def add(self, owner: Owner, records: Sequence[Metadata]) -> BulkResult:
        """Add records; a key that exists is among the failed items."""
        return self._write("POST", owner, metadata=[record.body() for record in records])

    def set(
        self, owner: Owner, records: Sequence[Metadata], *, replace_all: bool = False
    ) -> BulkResult:
        """Add or change records; `replace_all` removes all others."""
        mode = "replace_all" if replace_all else "update"
        rows: list[JsonValue] = [record.body() for record in records]
        return self._write("PUT", owner, metadata=rows, updateType=mode)

    def remove(self, owner: Owner, keys: Sequence[str]) -> BulkResult:
        return self._write("DELETE", owner, metadataKeys=list(keys))

    def edit(self, entities: Sequence[EditedEntity]) -> EditMetadata:
        """Change several entities if their values are as expected, each with its own result.

        At most 50 entities, with 90 keys each and 1,000 together.
        """
        body = EditMetadataBody(entities=tuple(entities)).body()
        return self._transport.write(EditMetadata, "PUT", "/metadata/batch", body=body)

    def _write(self, method: str, owner: Owner, **fields: JsonValue) -> BulkResult:
        body = {**fields, **owner.selector()}
        return self._transport.write(BulkResult, method, owner.path(), body=body)
