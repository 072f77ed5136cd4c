"""Restores the metadata and attributes of an old version, as a part of reverting to it.

The asset and the files of the new version get exactly the records that they had. Records of other
files remain unchanged, and records of files that could not be restored are left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backend.core.identity import Identity
from backend.core.paging import PageRequest
from backend.core.transactions import Write
from backend.domains.asset_versions.models import HeldRecord, Kind
from backend.domains.asset_versions.models.jobs import Capture, VersionPlan
from backend.domains.asset_versions.repository import ROWS, VersionRepository, sort_key_of
from backend.domains.assets.models import Asset
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.metadata.models import ASSET_LEVEL, Entity, Record
from backend.spec import routes

if TYPE_CHECKING:
    from backend.domains.metadata.service.records import RecordService

# Files and record kinds of one step. Each is read and written separately.
ENTITIES = 10
_Place = tuple[Kind, str]
_Records = Mapping[str, Mapping[str, str]]


@dataclass(eq=False, repr=False)
class RecordRestoration:
    repository: VersionRepository
    records: "RecordService"
    audit: AuditService

    def copy_records(self, asset: Asset, plan: VersionPlan, cursor: Capture) -> Capture:
        """Store the next records of the old version in the new one."""
        request = PageRequest(ROWS, cursor.after)
        page = self.repository.records(asset, plan.of_snapshot or "", request)
        paths = {record.path for record in page.items}
        held = self._paths_in_version(asset, cursor, paths)
        kept = [record for record in page.items if record.path in held]
        self.repository.put_records(asset, cursor.number, kept)
        return _next_cursor(cursor, "restore" if page.after is None else "records", page.after)

    def restore(self, asset: Asset, cursor: Capture, by: Identity) -> Capture:
        """Restore the stored records of the next entities."""
        after = (cursor.after or {}).get("key")
        snapshot = cursor.number
        for _ in range(ENTITIES):
            rows = self.repository.records(asset, snapshot, PageRequest(1), after=after).items
            if not rows:
                return _next_cursor(cursor, "clear", None)
            kind, path = rows[0].kind, rows[0].path
            records = self.repository.records_of(asset, snapshot, kind, path)
            self._write(asset, (kind, path), records, by)
            after = sort_key_of(records[-1])
        return _next_cursor(cursor, "restore", {"key": after})

    def clear(self, asset: Asset, cursor: Capture, by: Identity) -> Capture:
        """Remove the records of entities of the new version that had none."""
        state = cursor.after or {"kind": "metadata", "after": None}
        kind: Kind = state["kind"]
        page = self.repository.live_records(asset, kind, PageRequest(ROWS, state.get("after")))
        for path in sorted(
            self._paths_in_version(asset, cursor, {record.path for record in page.items})
        ):
            if not self.repository.records_of(asset, cursor.number, kind, path):
                self._write(asset, (kind, path), [], by)
        if page.after is not None:
            return _next_cursor(cursor, "clear", {"kind": kind, "after": dict(page.after)})
        if kind == "metadata":
            return _next_cursor(cursor, "clear", {"kind": "attribute", "after": None})
        return _next_cursor(cursor, "count", None)

    def _paths_in_version(self, asset: Asset, cursor: Capture, paths: Iterable[str]) -> set[str]:
        """Return those of the paths whose records belong to the new version."""
        files = self.repository.held_paths(asset, cursor.number, sorted(paths))
        return files | ({ASSET_LEVEL} & set(paths))

    def _write(
        self, asset: Asset, place: _Place, records: Iterable[HeldRecord], by: Identity
    ) -> None:
        kind, path = place
        ids = (asset.database_id, asset.asset_id)
        name = (
            audit_entity("asset", *ids) if path == ASSET_LEVEL else audit_entity("file", *ids, path)
        )

        def entry(before: _Records, after: _Records) -> Write:
            def audit_values(records: _Records) -> dict[str, object]:
                return {f"{kind}.{key}": record for key, record in records.items()}

            return self.audit.entry(
                by,
                routes.REVERT_ASSET_VERSION.name,
                name,
                before=audit_values(before),
                after=audit_values(after),
            )

        wanted = [
            Record(
                metadata_key=record.key,
                metadata_value=record.value,
                metadata_value_type=record.value_type,
            )
            for record in records
        ]
        self.records.write_as_is(Entity(*ids, path, kind), wanted, entry)


def _next_cursor(cursor: Capture, part: str, after: Mapping[str, object] | None) -> Capture:
    kept = None if after is None else dict(after)
    return cursor.model_copy(update={"part": part, "after": kept, "files": 0})
