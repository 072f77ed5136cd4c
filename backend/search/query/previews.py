"""The pictures of hits: presigned URLs of previews, or the reasons why there are none.

No request to S3 is sent: documents have the version of their preview (mapping version 5). One batch
read returns the assets of all hits, which decide what may be downloaded, one the quarantine of
files and previews, and one the results of inspections, of files without a preview only.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from backend.core.authorization import Authorization
from backend.core.clock import Clock, iso
from backend.core.file_kinds import is_asset_preview, preview_base, serving_of
from backend.core.identity import Identity
from backend.core.names import extension_of
from backend.core.objects import UNVERSIONED, Objects, VersionRef
from backend.core.previews import NOT_PROCESSED, Missing
from backend.core.reads import Read, ReadAsset
from backend.core.references import AssetRef, FileRef
from backend.core.search_engine import JsonObject
from backend.domains.assets.models import Asset
from backend.domains.assets.service.queries import AssetQueries
from backend.domains.facts.repository import NO_SOURCE, FactRepository
from backend.domains.quarantine.models import ScannedVersion
from backend.domains.quarantine.service.queries import Quarantine
from backend.search.query.replies import Preview
from backend.spec import routes
from backend.spec.formats import reason_not_inspected
from backend.spec.key_layouts import (
    DEFAULT_BASE_PREFIX,
    small_preview_key,
    uploaded_previews_folder,
)
from backend.spec.search_indexes import PREVIEW_VERSION, SMALL_PREVIEW_VERSION

NO_PREVIEW = Missing(reason="none", message="There is no preview")
_WITHOUT_VERSIONS = f"{UNVERSIONED}:"
# 128 bits in base 16.
_ID_CHARS = 32


class _Picture(NamedTuple):
    """A preview that a document names: its object, and the path under which reads record it."""

    bucket: str
    key: str
    version: str
    path: str
    small: str | None = None
    """The version of the small image beside it."""

    @property
    def places(self) -> list[VersionRef]:
        """Return the version of each object that is shown."""
        shown = VersionRef(self.key, self.version)
        if self.small is None:
            return [shown]
        return [shown, VersionRef(small_preview_key(self.key), self.small)]


@dataclass(eq=False, repr=False)
class PreviewQueries:
    """Adds previews to hits. Permissions are those of `POST …/download`, by the stored assets."""

    assets: AssetQueries
    facts: FactRepository
    quarantine: Quarantine
    objects: Objects
    authorization: Authorization
    is_processed: Callable[[str], bool]
    """Returns whether the shipped workflows process uploads to a database."""
    url_seconds: int
    clock: Clock

    def visible(self, caller: Identity, assets: Iterable[AssetRef]) -> dict[str, Asset]:
        """Return those of the assets that the caller may see, by id."""
        return self.assets.visible(caller, sorted(set(assets)))

    def add(
        self, caller: Identity, hits: Sequence[JsonObject], held: Collection[str] = ()
    ) -> tuple[list[JsonObject], Read | None]:
        """Return hits, and their files, with `preview` or `previewMissing`; and what was read.

        A hit has its `_source`. Previews whose ids are `held` are named in `previewHeld` instead:
        signing takes most of the time, and their URLs were recorded when they were signed.
        """
        whole = [part for hit in hits for part in (hit, *hit.get("files", ()))]
        sources: list[JsonObject] = [hit["_source"] for hit in whole]
        assets = self.visible(
            caller,
            [AssetRef(source["str_databaseid"], source["str_assetid"]) for source in sources],
        )
        pictures: list[_Picture | Missing] = [
            self._picture(caller, source, assets) for source in sources
        ]
        pictures = self._without_quarantined(sources, pictures, assets)
        pictures = self._with_reasons(whole, pictures, assets)
        until = iso(self.clock() + timedelta(seconds=self.url_seconds))
        parts: list[JsonObject] = []
        read: dict[ReadAsset, None] = {}
        for source, picture in zip(sources, pictures, strict=True):
            if isinstance(picture, Missing):
                parts.append({"previewMissing": picture.model_dump(by_alias=True)})
                continue
            name = "\n".join(picture[:3])
            preview_id = hashlib.sha256(name.encode()).hexdigest()[:_ID_CHARS]
            if preview_id in held:
                parts.append({"previewHeld": preview_id})
                continue
            url, *small = (self._url(picture.bucket, *place) for place in picture.places)
            preview = Preview(
                id=preview_id, url=url, small_url=small[0] if small else None, expires_at=until
            )
            parts.append({"preview": preview.model_dump(by_alias=True, exclude_none=True)})
            ids = source["str_databaseid"], source["str_assetid"]
            read[ReadAsset(*ids, (picture.path,))] = None
        remaining = iter(parts)  # in the order of `whole`
        added = [
            {**hit, **next(remaining)}
            | (
                {"files": [{**file, **next(remaining)} for file in hit["files"]]}
                if "files" in hit
                else {}
            )
            for hit in hits
        ]
        return added, Read(tuple(read), urls=True, hourly=True) if read else None

    def _picture(
        self, caller: Identity, document: JsonObject, assets: dict[str, Asset]
    ) -> _Picture | Missing:
        """Return the preview of a document, or why its caller may not download one."""
        asset = assets.get(document["str_assetid"])
        if document.get("bool_archived"):
            kind = "file" if "str_key" in document else "asset"
            return Missing(reason="archived", message=f"The {kind} is archived")
        if asset is None:  # changed since it was indexed
            return NO_PREVIEW
        ids = {"databaseId": asset.database_id, "assetId": asset.asset_id}
        if not self.authorization.may_use(caller, routes.DOWNLOAD, ids):
            denied = "You do not have permission to download from this asset"
            return Missing(reason="notPermitted", message=denied)
        if not asset.is_distributable:
            return Missing(reason="notDistributable", message="The asset is not distributable")
        return _picture_of(document, asset) or NO_PREVIEW

    def _without_quarantined(
        self,
        sources: Sequence[JsonObject],
        previews: Sequence[_Picture | Missing],
        assets: Mapping[str, Asset],
    ) -> list[_Picture | Missing]:
        """Withhold previews if a scan found a threat in them or their file; one read a bucket."""
        files = [
            _scanned_file(source, preview) if source["str_assetid"] in assets else []
            for source, preview in zip(sources, previews, strict=True)
        ]
        pictures = [
            [
                ScannedVersion(
                    preview.bucket,
                    key,
                    UNVERSIONED if version.startswith(_WITHOUT_VERSIONS) else version,
                )
                for key, version in preview.places
            ]
            if isinstance(preview, _Picture)
            else []
            for preview in previews
        ]
        wanted = [version for versions in (*files, *pictures) for version in versions]
        infected: set[ScannedVersion] = set()
        for bucket in dict.fromkeys(version.bucket for version in wanted):
            places = [VersionRef(*version[1:]) for version in wanted if version.bucket == bucket]
            marked = self.quarantine.among(bucket, places)
            infected |= {ScannedVersion(bucket, *place) for place in marked or ()}
        return [
            _missing_for_threat("file")
            if not infected.isdisjoint(file)
            else preview
            if infected.isdisjoint(shown)
            else _missing_for_threat("preview")
            for preview, file, shown in zip(previews, files, pictures, strict=True)
        ]

    def _with_reasons(
        self,
        hits: Sequence[JsonObject],
        previews: Sequence[_Picture | Missing],
        assets: dict[str, Asset],
    ) -> list[_Picture | Missing]:
        """Explain why files have no preview; one read for all of them."""
        places: dict[int, tuple[Asset, str]] = {}
        for number, (hit, preview) in enumerate(zip(hits, previews, strict=True)):
            asset = assets.get(hit["_source"]["str_assetid"])
            key = hit["_source"].get("str_key")
            if preview is NO_PREVIEW and asset is not None and isinstance(key, str):
                places[number] = asset, "/" + key.removeprefix(asset.asset_location.key)
        known = self.facts.sources_of(places.values())
        explained = list(previews)
        for number, (asset, path) in places.items():
            inspected = known.get(FileRef(*asset.ref.ids, path), NO_SOURCE)
            explained[number] = _reason(hits[number]["_source"], *inspected)
        # In databases whose files nothing inspects, none is waiting; one read each.
        waiting = {
            number: asset.database_id
            for number, (asset, _) in places.items()
            if isinstance(preview := explained[number], Missing) and preview.reason == "inspecting"
        }
        for database_id in set(waiting.values()):
            if not self.is_processed(database_id):
                never = Missing(reason="none", message=NOT_PROCESSED)
                for number in (n for n, name in waiting.items() if name == database_id):
                    explained[number] = never
        return explained

    def _url(self, bucket: str, key: str, version: str) -> str:
        is_versioned = not version.startswith(_WITHOUT_VERSIONS)
        return self.objects.presign_get(
            bucket,
            key,
            version_id=version if is_versioned else None,
            serving=serving_of(key)._replace(
                cache_control=f"private, max-age={self.url_seconds}, immutable"
            ),
            expires=self.url_seconds,
        )


def _picture_of(document: JsonObject, asset: Asset) -> _Picture | None:
    """Return the preview that a document names, if it is one of this asset."""
    key, version = document.get("str_previewfilekey"), document.get(PREVIEW_VERSION)
    if not isinstance(key, str) or not isinstance(version, str):
        return None
    prefix, base = asset.asset_location.key, document["str_bucketprefix"]
    folder = uploaded_previews_folder("" if base == DEFAULT_BASE_PREFIX else base, asset.asset_id)
    is_own = is_asset_preview(prefix, key) or key.startswith(folder)
    if "str_key" in document:
        is_own = key.startswith(prefix) and preview_base(key) == document["str_key"]
    if not is_own:
        return None
    path = "/" + key.removeprefix(prefix) if key.startswith(prefix) else key
    small = document.get(SMALL_PREVIEW_VERSION)
    is_small = isinstance(small, str) and key.endswith(".png")
    return _Picture(document["str_bucketname"], key, version, path, small if is_small else None)


def _scanned_file(document: JsonObject, preview: _Picture | Missing) -> list[ScannedVersion]:
    """Return the version of the file of which a preview is requested, as scans name it."""
    if "str_key" not in document or (isinstance(preview, Missing) and preview is not NO_PREVIEW):
        return []
    version = document.get("str_s3_version_id") or UNVERSIONED
    return [ScannedVersion(document["str_bucketname"], document["str_key"], version)]


def _missing_for_threat(subject: str) -> Missing:
    return Missing(reason="quarantined", message=f"A malware scan found a threat in the {subject}")


def _reason(document: JsonObject, source: str | None, refused: str | None) -> Missing:
    """Return why a file has no preview, by the version that was inspected."""
    fact = reason_not_inspected(extension_of(document["str_key"]).removeprefix("."))
    if fact is not None:
        return Missing(reason="none", message=fact)
    if source != document.get("str_s3_version_id"):
        return Missing(reason="inspecting", message="The file has not been inspected yet")
    if refused is not None:
        return Missing(reason="refused", message=refused)
    return NO_PREVIEW
