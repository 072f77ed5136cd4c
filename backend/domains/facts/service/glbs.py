"""The GLB of a file and what is beside it: presigned URLs, or the reason why there is no GLB."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, TypeVar

from backend.core.clock import Clock, iso, utc_now
from backend.core.file_kinds import serving_of
from backend.core.identity import Identity
from backend.core.names import extension_of
from backend.core.objects import ObjectHead, Objects, ObjectVersion, VersionRef
from backend.core.parallel import in_parallel
from backend.core.previews import NOT_PROCESSED, Missing
from backend.core.references import AssetRef
from backend.domains.assets.errors import FileNotFoundInAssetError
from backend.domains.assets.service.commands import AssetService
from backend.domains.facts.models.replies import (
    GlbAddress,
    GlbReply,
    StructureAddress,
    TurntableAddress,
)
from backend.domains.facts.repository import FactRepository
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.rows import FileTarget
from backend.spec.formats import EXTENSIONS_OF, reason_not_inspected
from backend.spec.key_layouts import glb_key, structure_key, turntable_key

Beside = TypeVar("Beside", TurntableAddress, StructureAddress)

# Earlier versions whose GLBs are searched. All of them are requested in parallel.
OLDER_VERSIONS = 8
# Includes the delete markers between them, in one request.
_LISTED = 50


class FoundGlb(NamedTuple):
    """The reply for a file, and the path of the file in its asset."""

    path: str
    reply: GlbReply


@dataclass(eq=False, repr=False)
class GlbQueries:
    """Finds GLBs. `auxiliary` is the bucket that they are stored in; `is_processed` returns whether
    shipped workflows inspect what is uploaded to a database.
    """

    assets: AssetService
    files: FileQueries
    facts: FactRepository
    objects: Objects
    auxiliary: Callable[[], str]
    is_processed: Callable[[str], bool]
    url_seconds: int
    clock: Clock = utc_now

    def get_glb(self, caller: Identity, ref: AssetRef, sent: str) -> FoundGlb:
        """Return the newest GLB of a file, and the reason if its current version has none.

        S3 requests: two HEADs, one of the turntable, and one of the structure of an IFC model;
        without a GLB of the current version, a list and up to eight HEADs.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            FileNotFoundInAssetError: the asset has no such file.
            InvalidInputError: the path is invalid.
        """
        asset = self.assets.asset_for(caller, "GET", *ref.ids)
        target = self.files.target(asset, sent, field="key")
        head = self.objects.head(target.bucket, target.key)
        if head is None:
            raise FileNotFoundInAssetError(target.key, asset.asset_id)
        withheld = self._reason_withheld(target, head)
        if withheld is not None or isinstance(head, ObjectVersion):
            return FoundGlb(target.path, GlbReply(glb_missing=withheld))
        current = head.version.version_id
        made, missing = self._made(target, current), None
        if made is None:
            made, missing = self._older(target, current), self._reason(target, head)
        of = target.asset.asset_id, target.path, made.version_id if made else current
        has_structure = extension_of(target.path).removeprefix(".") in EXTENSIONS_OF["InspectIfc"]
        reply = GlbReply(
            glb=made and self._address(made, current),
            turntable=self._beside(TurntableAddress, turntable_key(*of)),
            structure=self._beside(StructureAddress, structure_key(*of)) if has_structure else None,
            glb_missing=missing,
        )
        return FoundGlb(target.path, reply)

    def _reason_withheld(
        self, target: FileTarget, head: ObjectHead | ObjectVersion
    ) -> Missing | None:
        """Return why no GLB of the file may be downloaded."""
        if not target.asset.is_distributable:
            return Missing(reason="notDistributable", message="The asset is not distributable")
        if isinstance(head, ObjectVersion):
            return Missing(reason="archived", message="The file is archived")
        if self._without_threats(target, [head.version.version_id]):
            return None
        threat = "A malware scan found a threat in the file"
        return Missing(reason="quarantined", message=threat)

    def _without_threats(self, target: FileTarget, version_ids: list[str]) -> list[str]:
        """Return the versions in which no scan found a threat."""
        versions = [VersionRef(target.key, version_id) for version_id in version_ids]
        quarantined = self.files.find_quarantined(target.bucket, versions)
        return [version.version_id for version in versions if version not in quarantined]

    def _made(self, target: FileTarget, version_id: str) -> "_Made | None":
        key = glb_key(target.asset.asset_id, target.path, version_id)
        head = self.objects.head(self.auxiliary(), key)
        if not isinstance(head, ObjectHead):
            return None
        return _Made(key, version_id, head.version.size)

    def _older(self, target: FileTarget, current: str) -> "_Made | None":
        """Return the GLB of the newest of the versions before the current one that has one."""
        page = self.objects.list_versions(target.bucket, target.key, limit=_LISTED)
        before = [
            version.version_id
            for version in page.versions
            if version.key == target.key
            and not version.is_delete_marker
            and version.version_id != current
        ]
        clean = self._without_threats(target, before[:OLDER_VERSIONS])
        made = in_parallel(lambda version_id: self._made(target, version_id), clean)
        return next((glb for glb in made if glb is not None), None)

    def _address(self, made: "_Made", current: str) -> GlbAddress:
        return GlbAddress(
            url=self._url(made.key),
            expires_at=self._expiry(),
            version_id=made.version_id,
            size=made.size,
            current=made.version_id == current,
        )

    def _beside(self, kind: type[Beside], key: str) -> Beside | None:
        """Return the address of an object beside a GLB, if there is one."""
        if not isinstance(self.objects.head(self.auxiliary(), key), ObjectHead):
            return None
        return kind(url=self._url(key), expires_at=self._expiry())

    def _url(self, key: str) -> str:
        return self.objects.presign_get(
            self.auxiliary(),
            key,
            version_id=None,  # the bucket has no versions
            serving=serving_of(key),
            expires=self.url_seconds,
        )

    def _expiry(self) -> str:
        return iso(self.clock() + timedelta(seconds=self.url_seconds))

    def _reason(self, target: FileTarget, head: ObjectHead) -> Missing:
        """Return why the current version of a file has no GLB."""
        fact = reason_not_inspected(extension_of(target.key).removeprefix("."))
        if fact is None and head.needs_restore:
            fact = "The file is in an archive class of S3"
        if fact is not None:
            return Missing(reason="none", message=fact)
        source, refused = self.facts.source_of(target.asset, target.path)
        if source != head.version.version_id and not self.is_processed(target.asset.database_id):
            return Missing(reason="none", message=NOT_PROCESSED)
        if source != head.version.version_id:
            return Missing(reason="inspecting", message="The file has not been inspected yet")
        if refused is not None:
            return Missing(reason="refused", message=refused)
        return Missing(reason="none", message="The file contains no model")


class _Made(NamedTuple):
    """A stored GLB, and the version of the file that it was made of."""

    key: str
    version_id: str
    size: int
