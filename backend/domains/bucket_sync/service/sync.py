"""Creates assets from folders that contain objects and have no owner; S3 is only listed.

The type of an event does not matter: S3 lists whether a folder contains anything, and the
reservations, which are written with a new asset, name its owner. So events may repeat and arrive
late in any order, and of several workers at one folder only one creates the asset.

The owner is read before S3 is. An asset that is deleted loses its objects first and its reservation
last: if there are objects and no owner, the objects were written since.

An archived asset has no visible object. Its archiving walks over the files until it finds none, but
a write that started before may end after that; the event of such an object makes the archiving walk
again. Every write has its event, and an event that finds the asset active comes before the walk.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

from backend.core.deliveries import StoreFailure
from backend.core.errors import AlreadyExistsError, InvalidInputError, UnavailableError
from backend.core.identity import SYSTEM
from backend.core.objects import ObjectRef, Objects
from backend.core.parallel import in_parallel
from backend.core.references import AssetRef
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService, FolderAdoption
from backend.domains.bucket_sync import rules
from backend.domains.bucket_sync.models import Folder, Followed, Skip, SkipKind
from backend.domains.buckets.models import BucketKey
from backend.domains.buckets.service import BucketRegistry
from backend.domains.databases.errors import DatabaseNotFoundError, DatabasePurgingError
from backend.domains.databases.models import CreateDatabaseBody
from backend.domains.databases.service import DatabaseService
from backend.domains.files.service.queries import FileQueries
from backend.domains.jobs.service.commands import JobService

Count = Callable[[SkipKind, int], None]
"""Counts skipped objects."""


@dataclass(eq=False, repr=False)
class SkipReports:
    """Stores one failure per folder and day, for any number of objects.

    Its body is a message of the sync's own queue: replayed, it is tried again.
    """

    store_failure: StoreFailure
    count: Count

    def report(self, skips: Iterable[Skip]) -> None:
        """Count all of them, and store those that need attention."""
        counted = Counter[SkipKind]()
        for skip in skips:
            counted[skip.kind] += 1
            if not skip.is_expected:
                self.store_failure(skip.place, _message(skip.example), sentence(skip))
        for kind, number in counted.items():
            self.count(kind, number)


def sentence(skip: Skip) -> str:
    """Return the message for people."""
    return f"{skip.place} was not imported: {skip.reason}"


def _message(named: ObjectRef) -> dict[str, str]:
    return {"body": json.dumps(rules.event_of(named))}


_Owners = Mapping[ObjectRef, AssetRef]
_FOUND_IN_BUCKETS = "Assets found in buckets without a database of their own"


class _Later(NamedTuple):
    """Objects of a folder that can become an asset when the purge of its database has ended."""

    objects: list[ObjectRef]


@dataclass(eq=False, repr=False)
class BucketSync:
    """Creates assets. `default_database_id` is used for buckets without a database of their own."""

    adoption: FolderAdoption
    assets: AssetService
    databases: DatabaseService
    files: FileQueries
    objects: Objects
    jobs: JobService
    registry: BucketRegistry
    default_database_id: str

    def follow(self, named: Iterable[ObjectRef]) -> Followed:
        """Update the assets of some objects to the content of S3; no effect if repeated.

        Raises:
            UnavailableError: a service is unavailable; the call can be repeated.
        """
        done = Followed()
        objects = sorted(set(named))
        buckets = self.registry.for_objects(objects)
        placed: dict[ObjectRef, Folder] = {}
        for item in objects:
            place = rules.place_of(item, buckets)
            if isinstance(place, Skip):
                done.skips.append(place)
            else:
                placed[item] = place
        owners = self._owners(placed)
        self._record_owned(owners, placed, done)
        self._adopt({item: f for item, f in placed.items() if item not in owners}, done)
        return done

    def _owners(self, placed: Mapping[ObjectRef, Folder]) -> _Owners:
        places = {item: BucketKey(f.bucket.bucket_id, item.key) for item, f in placed.items()}
        owners = self.assets.owners(places.values())
        return {item: owners[place] for item, place in places.items() if place in owners}

    def _record_owned(
        self, owners: _Owners, placed: Mapping[ObjectRef, Folder], done: Followed
    ) -> None:
        """Update assets from their existing files."""
        by_asset: dict[AssetRef, list[ObjectRef]] = {}
        for item, owner in owners.items():
            by_asset.setdefault(owner, []).append(item)
        assets = in_parallel(lambda ref: self.assets.find_asset(*ref.ids), list(by_asset))
        for ref, asset in zip(by_asset, assets, strict=True):
            if asset is None:  # its row does not exist, its reservations belong to the deletion
                done.later += self._left(by_asset[ref], placed[by_asset[ref][0]])
                continue
            done.owned[ref] = [item.key for item in by_asset[ref]]
            if asset.is_archived:
                done.later += self._seen_after_archiving(
                    asset, by_asset[ref], placed[by_asset[ref][0]]
                )
            else:
                done.files += by_asset[ref]
        in_parallel(self._follow_files, [asset for asset in assets if asset is not None])

    def _seen_after_archiving(
        self, asset: Asset, named: list[ObjectRef], folder: Folder
    ) -> list[ObjectRef]:
        """Request another walk of the archiving for visible objects that it may have missed.

        If it was cancelled or failed, no walk is requested: users decide about the remaining files.
        """
        files = [item for item in named if not item.key.endswith("/")]
        shown = self._left(files, folder) if files else []
        job_id = asset.lifecycle_job_id if shown else None
        job = None if job_id is None else self.jobs.find(job_id)
        if job is None:
            return []
        if job.state == "done":
            self.jobs.restart_finished(job)
        return [] if job.is_finished else shown

    def _adopt(self, unowned: Mapping[ObjectRef, Folder], done: Followed) -> None:
        folders: dict[BucketKey, Folder] = {f.id: f for f in unowned.values()}
        objects: dict[BucketKey, list[ObjectRef]] = {}
        for item, folder in unowned.items():
            objects.setdefault(folder.id, []).append(item)
        made = in_parallel(
            lambda asset: self._adopt_folder(folders[asset], objects[asset]), list(folders)
        )
        for folder_id, item in zip(folders, made, strict=True):
            if isinstance(item, Skip):
                done.skips.append(item)
            elif isinstance(item, _Later):
                done.later += item.objects
            else:
                done.files += objects[folder_id]  # also where another worker made the asset
                done.made += [item] if item else []

    def _adopt_folder(
        self, folder: Folder, inside: list[ObjectRef]
    ) -> AssetRef | Skip | _Later | None:
        """Return the asset that a folder has become; None if there is nothing to do."""
        bucket = folder.bucket.bucket_name
        if not self.objects.list_objects(bucket, folder.prefix, limit=1).objects:
            return None
        database_id = folder.bucket.default_database_id or self.default_database_id
        try:
            if self.databases.find_database(database_id) is None:
                body = CreateDatabaseBody(
                    database_id=database_id,
                    description=_FOUND_IN_BUCKETS,
                    default_bucket_id=folder.bucket.bucket_id,
                )
                # Another worker may create it meanwhile.
                with suppress(AlreadyExistsError):
                    self.databases.create_database(SYSTEM, body)
            asset = self.adoption.adopt(
                SYSTEM,
                folder.bucket,
                folder.name,
                database_id=database_id,
                about=rules.description_of(folder),
            )
        except InvalidInputError as error:
            return rules.skip_of(folder, inside[0].key, "badAssetId", error.message)
        except DatabasePurgingError:
            return _Later(inside)
        except DatabaseNotFoundError as error:  # deleted between the two reads
            raise UnavailableError(error.message) from error
        except AlreadyExistsError as error:
            owners = self._owners(dict.fromkeys(inside, folder))
            left = [item for item in inside if item not in owners and self._is_there(item)]
            return rules.skip_of(folder, left[0].key, "taken", error.message) if left else None
        self._follow_files(asset)
        return AssetRef(database_id=database_id, asset_id=folder.name)

    def _follow_files(self, asset: Asset) -> None:
        """Write the asset's type until it is stable: the last one to write has read all files."""
        if asset.is_archived:
            return
        try:
            while (asset_type := self.files.asset_type(asset)) != asset.asset_type:
                asset = self.assets.set_content(asset, asset_type=asset_type)
        except AssetNotFoundError:  # archived or deleted meanwhile
            return

    def _left(self, named: list[ObjectRef], folder: Folder) -> list[ObjectRef]:
        """Return those of a folder's objects that still exist; usually with one listing."""
        page = self.objects.list_objects(folder.bucket.bucket_name, folder.prefix)
        if page.next_key is None:
            left = {item.key for item in page.objects}
            return [item for item in named if item.key in left]
        return list(compress(named, in_parallel(self._is_there, named)))

    def _is_there(self, ref: ObjectRef) -> bool:
        objects = self.objects.list_objects(ref.bucket, ref.key, limit=1).objects
        return bool(objects) and objects[0].key == ref.key
