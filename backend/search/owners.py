"""Which asset an object of a bucket belongs to, and the bucket of an asset.

A bucket's row is nothing but its key (id, name, base prefix): it is there, or it is not. So rows
that were read stay true and are kept; that one is absent is never kept.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.core.wired import wired
from backend.domains.assets.models import AssetReference
from backend.domains.buckets.models import AssetBucket
from backend.search.references import AssetRef, ObjectRef
from backend.spec.buckets import RESERVED_FOLDERS
from backend.spec.tables.registry import ASSET_BUCKETS

Location = tuple[str, str]
Owners = Callable[[Iterable[Location]], Mapping[Location, AssetReference]]
"""Tells which asset owns an object (bucket id and key); see `AssetService.owners`."""

_PAGE = 1000


@dataclass(slots=True)
class BucketRegistry:
    """The rows of asset buckets. A scan, because the index by bucket name lags behind."""

    tables: Tables
    _known: dict[str, AssetBucket] = field(default_factory=dict[str, AssetBucket])

    def by_id(self, bucket_ids: Iterable[str]) -> dict[str, AssetBucket]:
        """The buckets of some ids; ids without a row are left out."""
        wanted = set(bucket_ids)
        if not wanted <= self._known.keys():
            self.read_again()
        return {bucket_id: self._known[bucket_id] for bucket_id in wanted & self._known.keys()}

    def named(self, name: str) -> list[AssetBucket]:
        """The known rows of a bucket, one for each prefix in it that holds assets."""
        return [bucket for bucket in self._known.values() if bucket.bucket_name == name]

    def read_again(self) -> None:
        """Learn of rows that were added."""
        page = self.tables.scan(ASSET_BUCKETS, PageRequest(_PAGE))
        while True:
            for item in page.items:
                bucket = AssetBucket.model_validate(item)
                self._known[bucket.bucket_id] = bucket
            if page.after is None:
                return
            page = self.tables.scan(ASSET_BUCKETS, PageRequest(_PAGE, page.after))


@wired
class ObjectOwners:
    """Resolves objects to assets by the reservations of prefixes, which are read consistently."""

    registry: BucketRegistry
    owners: Owners

    def of(self, objects: Iterable[ObjectRef]) -> dict[ObjectRef, AssetRef]:
        """The asset of each object; objects of no asset are left out."""
        wanted = list(objects)
        found = self._resolve(wanted)
        left = [reference for reference in wanted if reference not in found]
        if left:
            before = {reference: self._locations(reference) for reference in left}
            self.registry.read_again()
            changed = [ref for ref in left if self._locations(ref) != before[ref]]
            found |= self._resolve(changed)
        return found

    def _resolve(self, objects: Iterable[ObjectRef]) -> dict[ObjectRef, AssetRef]:
        locations = {ref: self._locations(ref) for ref in objects}
        wanted = {location for several in locations.values() for location in several}
        if not wanted:
            return {}
        owners = self.owners(wanted)
        return {
            reference: AssetRef(owners[location].database_id, owners[location].asset_id)
            for reference, several in locations.items()
            for location in several
            if location in owners
        }

    def _locations(self, reference: ObjectRef) -> set[Location]:
        return set(self._possible(reference))

    def _possible(self, reference: ObjectRef) -> Iterator[Location]:
        for bucket in self.registry.named(reference.bucket):
            base = bucket.key_prefix
            first, slash, _ = reference.key.removeprefix(base).partition("/")
            if reference.key.startswith(base) and slash and first not in RESERVED_FOLDERS:
                yield bucket.bucket_id, reference.key
