"""Restores files and records of an earlier version."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from backend.core.attempts import attempts
from backend.core.clock import Clock, iso
from backend.core.identity import Identity
from backend.core.objects import ObjectRef, VersionRef, Written
from backend.core.paging import PageRequest
from backend.core.parallel import in_parallel
from backend.core.rebuild_requests import RebuildRequests
from backend.core.transactions import Write
from backend.domains.asset_versions.models import HeldFile, HeldRecord, Kind
from backend.domains.asset_versions.models.jobs import Capture, VersionPlan
from backend.domains.asset_versions.repository import ROWS, VersionRepository, sort_key_of
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.files.errors import SourceGoneError
from backend.domains.files.models import VersionOrigin
from backend.domains.files.service.copies import Copies, FileCopy, Unfinished
from backend.domains.files.service.rows import FileTarget
from backend.domains.files.service.states import FileStates
from backend.domains.metadata.errors import FilesChangedError
from backend.domains.metadata.models import ASSET_LEVEL, Entity, Record
from backend.spec import routes
from backend.spec.buckets import CHANGE_METADATA, PRIMARY_TYPE_METADATA

if TYPE_CHECKING:
    from backend.domains.metadata.service.records import RecordService
# Files and record kinds of one step. Each is read and written separately.
ENTITIES = 10
_ATTEMPTS = 8  # of a write before which changes of the asset's files begin
_RecordPlace = tuple[Kind, str]
_Records = Mapping[str, Mapping[str, str]]


@dataclass(eq=False, repr=False)
class RecordRestoration:
    """`require_unchanged` is that of `FileChangeRepository`: records of a file that is moved at the
    same time would be lost.
    """

    repository: VersionRepository
    records: "RecordService"
    audit: AuditService
    require_unchanged: Callable[[str, str], Write]

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

    @attempts(_ATTEMPTS, FilesChangedError)
    def _write(
        self, asset: Asset, place: _RecordPlace, records: Iterable[HeldRecord], by: Identity
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
        guards: tuple[Write, ...] = ()
        if path != ASSET_LEVEL:
            guards = (self.require_unchanged(asset.asset_id, path),)
        self.records.write_as_is(Entity(*ids, path, kind), wanted, entry, guards=guards)


def _next_cursor(cursor: Capture, part: str, after: Mapping[str, object] | None) -> Capture:
    kept = None if after is None else dict(after)
    return cursor.model_copy(update={"part": part, "after": kept, "files": 0})


# Files of one step. Each may be a copy, and several are copied at the same time.
FILES = 50


class _Place(NamedTuple):
    """The prefix of the asset's files, the change that copies them (see `FileCopy`) and its user.

    `first`: no earlier attempt of the step can have copied one of them.
    """

    asset: Asset
    bucket: str
    prefix: str
    change: str
    by: str
    still: Callable[[], None]
    first: bool


class _Done(NamedTuple):
    """The results for a page, in order, and the copy that has to continue before the rest."""

    files: list[HeldFile]
    copied: list[str]
    skipped: list[str]
    origins: dict[VersionRef, VersionOrigin]
    unfinished: Unfinished | None = None


@dataclass(eq=False, repr=False)
class FileRestoration:
    repository: VersionRepository
    assets: AssetService
    states: FileStates
    copies: Copies
    reindexing: RebuildRequests
    clock: Clock

    def files(
        self,
        asset: Asset,
        plan: VersionPlan,
        cursor: Capture,
        *,
        by: str,
        still: Callable[[], None],
        note: Callable[[Capture], None],
    ) -> Capture:
        """Restore the next files, and return the cursor after them.

        `note` stores a cursor before the first copy, so that only a repeated step has to examine
        each file for a copy that it has written already.

        Raises:
            ChangeEndedError: raised by `still`, because another worker has the job.
            JobChangedError: raised by `note`, for the same reason.
        """
        after = (cursor.after or {}).get("path")
        old = plan.of_snapshot or ""
        page = self.repository.files(asset, old, PageRequest(FILES), after=after)
        if not cursor.attempted:
            note(cursor.model_copy(update={"attempted": True}))
        first = not (cursor.attempted or cursor.again)
        location = self.assets.location(asset)
        place = _Place(asset, *location, plan.request_id, by, still, first)
        done = self._restore(place, page.items, cursor.copy_id)
        self.copies.origins.record_versions(asset.ref, done.origins)
        self.repository.put_files(asset, cursor.number, done.files)
        if done.copied:
            self.reindexing.files(asset.database_id, asset.asset_id, done.copied)
        count = len(done.files) + len(done.skipped)
        dealt_with = after if count == 0 else page.items[count - 1].path
        ended = count == len(page.items) and page.after is None
        following = {
            "files": cursor.files + len(done.files),
            "after": None if ended or dealt_with is None else {"path": dealt_with},
            "copy_id": None if done.unfinished is None else done.unfinished.copy_id or "",
            "attempted": False,
        }
        return cursor.with_skipped(done.skipped).model_copy(update=following)

    def _restore(self, place: _Place, files: tuple[HeldFile, ...], copy_id: str | None) -> _Done:
        """Restore files up to a large one; that is restored alone, perhaps in further steps."""
        wanted = {place.prefix + file.path[1:]: file.version_id for file in files}
        states = self.states.of(place.bucket, place.prefix, wanted)
        state_of = {file.path: states.get(place.prefix + file.path[1:]) for file in files}
        done = _Done([], [], [], {})
        sizes = {
            path: state.wanted.size
            for path, state in state_of.items()
            if state is not None and state.wanted is not None and not state.is_current
        }
        large = next(
            (n for n, file in enumerate(files) if self.copies.is_large(sizes.get(file.path, 0))),
            None,
        )
        if large == 0:
            clean = self._without_quarantined(place, files[:1])
            copied = self._copy_version(place, files[0], copy_id or None) if clean else None
            if isinstance(copied, Unfinished):
                return done._replace(unfinished=copied)
            self._record(place, done, files[0], copied)
            return done
        small = files[:large]
        differing = [file for file in small if file.path in sizes]
        changed = self._without_quarantined(place, differing)
        copies = in_parallel(lambda file: self._copy_version(place, file, None), changed)
        written = dict(zip((file.path for file in changed), copies, strict=True))
        for file in small:
            copied = written.get(file.path)
            if isinstance(copied, Unfinished):  # it is larger than its list said
                return done._replace(unfinished=copied)
            if file.path in written:
                self._record(place, done, file, copied)
            elif (state := state_of[file.path]) is not None and state.is_current:
                done.files.append(file)
            else:
                done.skipped.append(file.path)
        return done

    def _without_quarantined(self, place: _Place, files: Sequence[HeldFile]) -> list[HeldFile]:
        """Return the files whose old version is not quarantined."""
        versions = [VersionRef(place.prefix + file.path[1:], file.version_id) for file in files]
        held = self.copies.find_quarantined(place.bucket, versions)
        return [file for file, version in zip(files, versions, strict=True) if version not in held]

    def _record(self, place: _Place, done: _Done, file: HeldFile, copied: Written | None) -> None:
        if copied is None:
            done.skipped.append(file.path)
            return
        at = iso(self.clock())
        version = {"version_id": copied.version_id, "etag": copied.etag, "last_modified": at}
        done.files.append(replace(file, **version))
        done.copied.append(file.path)
        done.origins[VersionRef(file.path, copied.version_id)] = VersionOrigin(
            change_source="fileRevert",
            change_user_id=place.by,
            change_database_id_from=place.asset.database_id,
            change_asset_id_from=place.asset.asset_id,
            change_asset_file_path_from=file.path,
            change_asset_file_version_from=file.version_id,
        )

    def _copy_version(
        self, place: _Place, file: HeldFile, copy_id: str | None
    ) -> Written | Unfinished | None:
        """Copy the old version over its file.

        None if the old version was just deleted.
        """
        key = ObjectRef(place.bucket, place.prefix + file.path[1:])
        try:
            head = self.copies.attributes(*key, file.version_id)
            metadata = {**head.metadata, CHANGE_METADATA: place.change}
            if PRIMARY_TYPE_METADATA in metadata:
                self.assets.record_typed_file(place.asset, file.path)
            file_copy = FileCopy(
                source=key,
                head=head,
                place=FileTarget(place.asset, place.bucket, place.prefix, key.key),
                content_type=head.content_type,
                metadata=metadata,
                still=place.still,
            )
            return self.copies.write(file_copy, copy_id, first=place.first)
        except SourceGoneError:
            return None
