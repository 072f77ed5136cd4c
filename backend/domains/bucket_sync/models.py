"""Objects, their folders, and results of the sync; its replies."""

from dataclasses import dataclass, field
from typing import Literal

from backend.core.models import WireModel
from backend.core.objects import ObjectRef
from backend.core.references import AssetRef
from backend.domains.buckets.models import AssetBucket, BucketKey
from backend.values import frozen

SkipKind = Literal["reservedFolder", "outsideBasePrefixes", "noFolder", "badAssetId", "taken"]
"""Why an object became no file of an asset. The first two are expected and only counted. The others
need an operator and are also stored as failure entries."""
EXPECTED: frozenset[SkipKind] = frozenset({"reservedFolder", "outsideBasePrefixes"})


@frozen
class Folder:
    """A folder directly below a base prefix, which becomes the asset of that name."""

    bucket: AssetBucket
    name: str

    @property
    def prefix(self) -> str:
        return f"{self.bucket.key_prefix}{self.name}/"

    @property
    def id(self) -> BucketKey:
        """Return what identifies a folder."""
        return BucketKey(self.bucket.bucket_id, self.name)


@frozen
class Skip:
    """Objects that did not become files: their folder, one of them, and the reason."""

    kind: SkipKind
    place: str
    example: ObjectRef
    reason: str

    @property
    def is_expected(self) -> bool:
        return self.kind in EXPECTED


@dataclass(slots=True)
class Followed:
    """The result for some objects.

    `owned` are objects by their existing asset; `made` are new assets; `files` are all objects that
    belong to an asset now, if they still exist; `later` are objects whose asset is being deleted or
    archived, or whose database is being purged, so that the result is not known yet.
    """

    owned: dict[AssetRef, list[str]] = field(default_factory=dict[AssetRef, list[str]])
    made: list[AssetRef] = field(default_factory=list[AssetRef])
    files: list[ObjectRef] = field(default_factory=list[ObjectRef])
    skips: list[Skip] = field(default_factory=list[Skip])
    later: list[ObjectRef] = field(default_factory=list[ObjectRef])


class ImportBucketReply(WireModel):
    bucket_id: str
    job_id: str
    message: str
