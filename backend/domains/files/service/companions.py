"""The data of a file besides its content: previews, auxiliary files, metadata and attributes.

All operations can be repeated.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, get_args

from backend.core.errors import ConflictError, InvalidInputError, UnavailableError
from backend.core.file_kinds import content_type_of
from backend.core.identity import Identity
from backend.core.objects import MAX_BATCH, ObjectHead, ObjectRef, Objects, ObjectVersion
from backend.core.parallel import in_parallel
from backend.core.previews import find_previews
from backend.core.transactions import Write
from backend.domains.assets.models import Asset
from backend.domains.files import rules
from backend.domains.files.service.copies import tags_of_copy
from backend.domains.files.service.rows import FileTarget
from backend.domains.metadata.models import Entity, Kind, NewRecord, Record, is_reserved
from backend.domains.metadata.service.records import RecordService
from backend.domains.quarantine.service.queries import Quarantine
from backend.spec.buckets import CHANGE_METADATA
from backend.spec.key_layouts import (
    auxiliary_folder,
    glb_folder,
    glb_key,
    structure_key,
    turntable_key,
)

_OF_VERSIONS = (glb_key, turntable_key, structure_key)
# Objects that one step copies. A viewer's octree has many thousands.
AUXILIARY_OBJECTS = 200


class RemovedPage(NamedTuple):
    """The number of objects that were removed, and whether some are left."""

    items: int
    more: bool


@dataclass(eq=False, repr=False)
class Companions:
    """Copies and removes this data.

    `auxiliary` is the bucket of auxiliary files, without versions.
    """

    objects: Objects
    records: RecordService
    quarantine: Quarantine
    auxiliary: str

    def keys(self, target: FileTarget) -> list[str]:
        """Return the keys of the file, and of its previews that are not archived."""
        previews = find_previews(self.objects, target.bucket, target.key)
        return [target.key, *(preview.key for preview in previews)]

    def own_data(self, target: FileTarget) -> str | None:
        """Return what a copy to this place would replace besides the content; None for nothing."""
        for entity in _records_of(target):
            records = self.records.records_of(entity)
            if any(not is_reserved(entity, record.metadata_key) for record in records):
                return "metadata" if entity.kind == "metadata" else "attributes"
        folder = auxiliary_folder(target.asset.asset_id, target.path)
        page = self.objects.list_objects(self.auxiliary, folder, limit=1)
        return "viewer data" if page.objects else None

    def copy_previews(self, source: FileTarget, target: FileTarget, change: str) -> None:
        """Copy the previews of the source; those that the target had before are kept.

        Quarantined previews are not copied.
        """
        for preview in find_previews(self.objects, source.bucket, source.key):
            key = preview.key
            head = self.objects.head(source.bucket, key)
            if not isinstance(head, ObjectHead):
                continue
            if self.quarantine.among(source.bucket, [head.version.ref]):
                continue
            copied = ObjectRef(target.bucket, target.key + key.removeprefix(source.key))
            there = self.objects.head(*copied)
            # By our own mark: under KMS, the ETag of a copy is not that of its source.
            if isinstance(there, ObjectHead) and there.metadata.get(CHANGE_METADATA) == change:
                continue
            place = ObjectRef(source.bucket, key)
            self.objects.copy(
                place,
                copied,
                content_type=content_type_of(copied.key),
                metadata=rules.metadata_of_copy(head.metadata, change),
                tags=tags_of_copy(self.objects, place, head),
                version_id=head.version.version_id,
            )

    def copy_records(
        self, caller: Identity, source: FileTarget, target: FileTarget, guard: Write
    ) -> None:
        """Replace the metadata and attributes of a copy by those of its source.

        `guard` is part of each transaction.

        Raises:
            InvalidInputError: the schemas of another database do not allow them.
            UnavailableError: they are changed concurrently at every attempt, or cannot be read.
        """
        is_abroad = source.asset.database_id != target.asset.database_id
        for from_entity, entity in zip(_records_of(source), _records_of(target), strict=True):
            with _conflicts_as_unavailable():
                records = self.records.records_of(from_entity)
                facts = [r for r in records if is_reserved(entity, r.metadata_key)]
                own = [record for record in records if record not in facts]
                if is_abroad and own:
                    self._write_abroad(caller, entity, own, guard)
                    self.records.put_facts(entity, facts, guards=(guard,))
                else:
                    entry_of = self.records.entries(caller, "copy", entity)
                    self.records.write_as_is(entity, records, entry_of, guards=(guard,))

    def _write_abroad(
        self, caller: Identity, entity: Entity, records: Sequence[Record], guard: Write
    ) -> None:
        sent = [NewRecord.model_validate(record.model_dump()) for record in records]
        keys = ", ".join(record.metadata_key for record in records)
        refused = f"Database {entity.database_id} does not accept the {entity.kind} {keys}"
        try:
            done = self.records.change_records(
                caller, entity, sent, update_type="replace_all", guards=(guard,)
            )
        except InvalidInputError as error:
            raise InvalidInputError(f"{refused}: {error.message}") from error
        if done.failed:
            raise InvalidInputError(f"{refused}: {done.failed[0][1]}")

    def remove_copied_records(
        self, caller: Identity, source: FileTarget | None, target: FileTarget
    ) -> None:
        """Remove what `copy_records` wrote; facts that the target had before are kept.

        Raises:
            UnavailableError: they are changed concurrently at every attempt, or cannot be read.
        """
        theirs = () if source is None else _records_of(source)
        copied = [record for entity in theirs for record in self.records.records_of(entity)]
        for entity in _records_of(target):
            with _conflicts_as_unavailable():
                records = self.records.records_of(entity)
                facts = [record for record in records if is_reserved(entity, record.metadata_key)]
                kept = [] if all(record in copied for record in facts) else facts
                entry_of = self.records.entries(caller, "delete", entity)
                self.records.write_as_is(entity, kept, entry_of)

    def delete_records(self, caller: Identity, asset: Asset, path: str, *guards: Write) -> None:
        """Remove the metadata and attributes of a file, without schema checks.

        Raises:
            UnavailableError: they are changed concurrently at every attempt, or cannot be read.
        """
        for entity in _entities(asset, path):
            with _conflicts_as_unavailable():
                entry_of = self.records.entries(caller, "delete", entity)
                self.records.write_as_is(entity, [], entry_of, guards=guards)

    def copy_auxiliary(
        self, source: FileTarget, target: FileTarget, after: str | None
    ) -> tuple[int, str | None]:
        """Copy a page of auxiliary files.

        Return their number, and the position of the next page.
        """
        folder = auxiliary_folder(source.asset.asset_id, source.path)
        copied = auxiliary_folder(target.asset.asset_id, target.path)
        page = self.objects.list_objects(
            self.auxiliary, folder, limit=AUXILIARY_OBJECTS, after=after
        )

        def copy(version: ObjectVersion) -> None:
            head = self.objects.head(self.auxiliary, version.key)
            if isinstance(head, ObjectHead):
                self.objects.copy(
                    ObjectRef(self.auxiliary, version.key),
                    ObjectRef(self.auxiliary, copied + version.key.removeprefix(folder)),
                    content_type=head.content_type,
                    metadata=head.metadata,
                )

        in_parallel(copy, page.objects)
        return len(page.objects), page.next_key

    def copy_glb(
        self, source: FileTarget, source_version: str, target: FileTarget, target_version: str
    ) -> None:
        """Copy the GLB of an S3 version of the source, and what is beside it."""
        for key_of in _OF_VERSIONS:
            made = key_of(source.asset.asset_id, source.path, source_version)
            copied = key_of(target.asset.asset_id, target.path, target_version)
            if isinstance(self.objects.head(self.auxiliary, made), ObjectHead):
                self.objects.copy(
                    ObjectRef(self.auxiliary, made),
                    ObjectRef(self.auxiliary, copied),
                    content_type=content_type_of(made),
                    metadata={},
                )

    def remove_glb(self, target: FileTarget, version_id: str) -> None:
        """Remove the GLB of an S3 version, and what is beside it."""
        keys = [key(target.asset.asset_id, target.path, version_id) for key in _OF_VERSIONS]
        self.objects.delete_many(self.auxiliary, [(key, None) for key in keys])

    def remove_generated(self, asset_id: str, path: str) -> RemovedPage:
        """Remove a page of auxiliary files of a file, or of the files of a folder, including GLBs.

        For files whose versions are deleted too: a moved file keeps its GLBs with its old versions.
        """
        removed = self.remove_auxiliary(asset_id, path)
        if removed.more:
            return removed
        folder = glb_folder(asset_id, path)
        page = self.objects.list_objects(self.auxiliary, folder, limit=MAX_BATCH)
        self.objects.delete_many(self.auxiliary, [(item.key, None) for item in page.objects])
        return RemovedPage(removed.items + len(page.objects), page.next_key is not None)

    def remove_auxiliary(
        self, asset_id: str, path: str, *, with_itself: bool = False
    ) -> RemovedPage:
        """Remove a page of auxiliary files of a file, or of the files of a folder.

        `with_itself` also removes an object with exactly this name.
        """
        folder = auxiliary_folder(asset_id, path)
        page = self.objects.list_objects(self.auxiliary, folder, limit=MAX_BATCH)
        keys = [item.key for item in page.objects]
        itself = folder.removesuffix("/")
        if with_itself:  # the key itself is the first one with this prefix
            first = self.objects.list_objects(self.auxiliary, itself, limit=1).objects
            keys = [item.key for item in first if item.key == itself] + keys
        self.objects.delete_many(self.auxiliary, [(key, None) for key in keys])
        return RemovedPage(len(keys), page.next_key is not None)


@contextmanager
def _conflicts_as_unavailable() -> Generator[None]:
    """Retry on conflicts: concurrent changes of the same records must not fail a change."""
    try:
        yield
    except ConflictError as error:
        raise UnavailableError(error.message) from error


def _records_of(target: FileTarget) -> Sequence[Entity]:
    return tuple(_entities(target.asset, target.path))


def _entities(asset: Asset, path: str) -> Iterator[Entity]:
    for kind in get_args(Kind):
        yield Entity(asset.database_id, asset.asset_id, path, kind)
