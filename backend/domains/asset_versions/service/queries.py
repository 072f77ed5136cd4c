"""Lists, reads and compares versions. Writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from backend.core.clock import Clock
from backend.core.identity import Identity
from backend.core.paging import (
    MAX_BYTES_PER_PAGE,
    MAX_ROWS_PER_PAGE,
    MAX_TIME_PER_PAGE,
    Page,
    PageRequest,
    fill,
    text_bytes,
)
from backend.core.references import AssetRef
from backend.domains.asset_versions import rules
from backend.domains.asset_versions.models import HeldFile, HeldRecord
from backend.domains.asset_versions.models.replies import VersionFile
from backend.domains.asset_versions.repository import ROWS, VersionRepository, sort_key_of
from backend.domains.assets.models import Asset, AssetVersion
from backend.domains.assets.service.commands import AssetService
from backend.domains.files.service.states import FileStates

Part = Literal["files", "records"]
Held = HeldFile | HeldRecord

_ROW_BYTES = 200  # for a row of a reply besides its texts
_FILES = 200  # looked up before the time is checked
_BEGIN: Mapping[str, Any] = {"part": "files", "after": None}


class _Rows(NamedTuple):
    """Rows of a snapshot by sort key, and whether there are more."""

    rows: dict[str, Held]
    more: bool


class WholeVersion(NamedTuple):
    """A version, and a page of its content: files first, then records."""

    asset: Asset
    version: AssetVersion
    files: tuple[VersionFile, ...]
    records: tuple[HeldRecord, ...]
    after: Mapping[str, Any] | None


class Compared(NamedTuple):
    """A page of the differences between two versions."""

    asset: Asset
    differences: tuple[rules.Difference, ...]
    after: Mapping[str, Any] | None


@dataclass(eq=False, repr=False)
class VersionQueries:
    repository: VersionRepository
    assets: AssetService
    states: FileStates
    clock: Clock

    def list_versions(
        self,
        caller: Identity,
        ref: AssetRef,
        page: PageRequest,
        *,
        show_archived: bool = False,
    ) -> tuple[Asset, Page[AssetVersion]]:
        """List the versions of an asset (database id, asset id), newest first.

        Archived ones, and those of an archived asset, are included only on request.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
        """
        asset = self.assets.get_asset(caller, *ref.ids, show_archived=show_archived)

        def fetch(request: PageRequest) -> Page[AssetVersion]:
            after = request.after or {}
            newest = int(after.get("before", int(asset.current_version.version) + 1)) - 1
            versions = self.repository.list_from(asset, newest, request.limit)
            last = newest - request.limit + 1
            return Page(tuple(versions), {"before": last} if last > 0 else None)

        def position_of(version: AssetVersion) -> Mapping[str, Any]:
            return {"before": int(version.asset_version_id)}

        return asset, fill(
            fetch,
            page,
            visible=lambda version: show_archived or not version.is_archived,
            position_of=position_of,
        )

    def get_version(
        self, caller: Identity, ref: AssetRef, asset_version_id: str, page: PageRequest
    ) -> WholeVersion:
        """Return a version with its files and records, in pages if it is large.

        S3 requests: one or two for 200 of its files.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            AssetVersionNotFoundError: it has no such version.
        """
        stop = self.clock() + MAX_TIME_PER_PAGE
        asset = self.assets.get_asset(caller, *ref.ids, show_archived=True)
        version = self.repository.get(asset, asset_version_id)
        files: list[VersionFile] = []
        records: list[HeldRecord] = []
        position: Mapping[str, Any] | None = page.after or _BEGIN
        size, count = 0, 0
        while position is not None and count < page.limit and size < MAX_BYTES_PER_PAGE:
            most = _FILES if position["part"] == "files" else ROWS
            limit = min(most, page.limit - count)
            part = _cut(self._rows(asset, version, position, limit), MAX_BYTES_PER_PAGE - size)
            held = [row for row in part.rows.values() if isinstance(row, HeldFile)]
            files += self._with_states(asset, held)  # here, so that its time counts too
            records += [row for row in part.rows.values() if isinstance(row, HeldRecord)]
            count += len(part.rows)
            size += sum(_size(row) for row in part.rows.values())
            position = _next_position(position, max(part.rows, default="") if part.more else None)
            if self.clock() >= stop:
                break
        return WholeVersion(asset, version, tuple(files), tuple(records), position)

    def compare_versions(
        self, caller: Identity, ref: AssetRef, ids: tuple[str, str], page: PageRequest
    ) -> Compared:
        """Compare two versions, files first; also of an archived asset.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            AssetVersionNotFoundError: it has no such version.
        """
        asset = self.assets.get_asset(caller, *ref.ids, show_archived=True)
        versions = [self.repository.get(asset, version_id) for version_id in ids]
        position: Mapping[str, Any] | None = page.after or _BEGIN
        differences: list[rules.Difference] = []
        stop = self.clock() + MAX_TIME_PER_PAGE
        rows, size = 0, 0
        while position is not None and len(differences) < page.limit and size < MAX_BYTES_PER_PAGE:
            old, new = (self._rows(asset, version, position, ROWS) for version in versions)
            reach = [max(side.rows, default="") for side in (old, new) if side.more]
            end = min(reach) if reach else None
            for key, difference in rules.differences(old.rows, new.rows, up_to=end):
                differences.append(difference)
                size += sum(_size(side) for side in difference if side is not None)
                if len(differences) == page.limit or size >= MAX_BYTES_PER_PAGE:
                    end = key
                    break
            position = _next_position(position, end)
            rows += len(old.rows) + len(new.rows)
            if rows >= MAX_ROWS_PER_PAGE or self.clock() >= stop:
                break
        return Compared(asset, tuple(differences), position)

    def _rows(
        self, asset: Asset, version: AssetVersion, position: Mapping[str, Any], limit: int
    ) -> _Rows:
        request, after = PageRequest(limit), position["after"]
        if position["part"] == "files":
            files = self.repository.files(asset, version.snapshot, request, after=after)
            return _Rows({file.path: file for file in files.items}, files.after is not None)
        records = self.repository.records(asset, version.snapshot, request, after=after)
        row_of = {sort_key_of(record): record for record in records.items}
        return _Rows(dict(row_of), records.after is not None)

    def _with_states(self, asset: Asset, files: Sequence[HeldFile]) -> tuple[VersionFile, ...]:
        """Return the files with their current state in the bucket."""
        bucket, prefix = self.assets.location(asset)
        wanted = {prefix + file.path[1:]: file.version_id for file in files}
        states = self.states.of(bucket, prefix, wanted)

        def shown(file: HeldFile) -> VersionFile:
            state = states.get(prefix + file.path[1:])
            return VersionFile(
                relative_key=file.path,
                version_id=file.version_id,
                is_permanently_deleted=state is None or state.wanted is None,
                is_latest_version_archived=state is not None and state.is_archived,
                size=file.size,
                last_modified=file.last_modified,
                etag=file.etag,
            )

        return tuple(shown(file) for file in files)


def _next_position(position: Mapping[str, Any], after: str | None) -> Mapping[str, Any] | None:
    """Return the position after a row, or else in the next part; None at the end."""
    if after is not None:
        return {"part": position["part"], "after": after}
    return {"part": "records", "after": None} if position["part"] == "files" else None


def _size(row: Held) -> int:
    texts = (
        (row.path, row.version_id, row.etag)
        if isinstance(row, HeldFile)
        else (row.path, row.key, row.value)
    )
    return _ROW_BYTES + sum(map(text_bytes, texts))


def _cut(part: _Rows, room: int) -> _Rows:
    """Return the rows that fit; the last one may exceed the limit."""
    kept: dict[str, Held] = {}
    for key, row in sorted(part.rows.items()):
        if room <= 0:
            return _Rows(kept, more=True)
        kept[key] = row
        room -= _size(row)
    return part
