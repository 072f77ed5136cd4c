"""Finds the asset that an object of a bucket belongs to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from backend.core.objects import ObjectRef
from backend.core.references import AssetRef
from backend.domains.buckets.models import BucketKey
from backend.domains.buckets.service import BucketRegistry
from backend.spec.key_layouts import RESERVED_FOLDERS

Owners = Callable[[Iterable[BucketKey]], Mapping[BucketKey, AssetRef]]
"""Returns the asset that owns each object; see `AssetService.owners`."""


@dataclass(eq=False, repr=False)
class ObjectOwners:
    """Resolves objects to assets by the reservations of prefixes, which are read consistently."""

    registry: BucketRegistry
    owners: Owners

    def of(self, objects: Iterable[ObjectRef]) -> dict[ObjectRef, AssetRef]:
        """Return the asset of each object; objects that belong to no asset are left out."""
        references = list(objects)
        rows = self.registry.for_objects(references)
        locations = {
            ref: {
                BucketKey(row.bucket_id, ref.key)
                for row in rows
                if row.bucket_name == ref.bucket and ref.key.startswith(row.key_prefix)
                for first, slash, _ in [ref.key.removeprefix(row.key_prefix).partition("/")]
                if slash and first not in RESERVED_FOLDERS
            }
            for ref in references
        }
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
