"""Downloads: presigned URLs and content."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from posixpath import basename
from typing import Literal

from backend.core.attempts import attempts
from backend.core.errors import InvalidInputError, UnavailableError, VitrineError
from backend.core.file_kinds import Serving, saved, serving_of
from backend.core.identity import Identity
from backend.core.object_ranges import ObjectRanges
from backend.core.objects import ObjectHead, Objects, ObjectVersion
from backend.core.parallel import in_parallel
from backend.core.references import AssetRef
from backend.domains.assets.errors import (
    FileNotFoundInAssetError,
    NotDistributableError,
    PreviewNotFoundError,
)
from backend.domains.assets.models import Asset, AssetVersion
from backend.domains.assets.service.commands import AssetService
from backend.domains.downloads import rules
from backend.domains.downloads.errors import (
    AssetVersionArchivedError,
    FileArchivedError,
    NotStreamedError,
)
from backend.domains.downloads.models import (
    DownloadBody,
    DownloadKey,
    DownloadReply,
    FileDownload,
    VersionChoice,
)
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.rows import FileTarget
from backend.spec.key_layouts import source_of_glb
from backend.values import frozen

_READINGS = 3  # of a file that is replaced between HEAD and GET


@frozen
class _Place:
    asset_id: str
    path: str
    bucket: str
    key: str
    version_id: str | None = None
    is_scanned: bool = True


class _ReplacedError(Exception):
    """The object was replaced after its headers were read."""


def _replacement_error(_: object, place: _Place, *_others: object) -> UnavailableError:
    return UnavailableError(f"{place.key} is being replaced by other requests; try again")


@dataclass(eq=False, repr=False)
class DownloadService:
    assets: AssetService
    files: FileQueries
    objects: Objects
    url_seconds: int

    def get_download_url(
        self, caller: Identity, ref: AssetRef, body: DownloadBody
    ) -> tuple[DownloadReply, str]:
        """Return a URL to GET one file or the preview of an asset (database id, asset id).

        The second value is the path of the file in the asset.

        S3 requests: one HEAD; for a preview that the asset's row does not name, one list.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            AssetVersionArchivedError: the requested version of the asset is archived.
            FileArchivedError: the file, or the version of it, is archived.
            FileQuarantinedError: a malware scan found a threat in it.
            NotRestoredError: the object is in an archive storage class.
            NotDistributableError: the asset is not distributable.
            PreviewNotFoundError: the asset has no preview.
            FileNotFoundInAssetError: the file or version does not exist.
        """
        asset = self._asset(caller, ref)
        bucket, key, wanted = self._found(asset, body)
        head = self._readable(asset, bucket, key, wanted)
        reply = DownloadReply(
            download_url=self._url(bucket, head, body),
            expires_in=self.url_seconds,
            download_type=body.download_type,
            version_id=head.version.version_id,
            message=f"The URL of {basename(key)} is valid for {self.url_seconds} seconds",
        )
        _, prefix = self.assets.location(asset)
        return reply, FileTarget(asset, bucket, prefix, key).path

    def get_download_urls(
        self, caller: Identity, ref: AssetRef, body: DownloadBody, keys: Sequence[str | DownloadKey]
    ) -> tuple[DownloadReply, tuple[str, ...]]:
        """Return a URL, or the reason why there is none, for each of these files of an asset.

        The second value is the paths of the files with a URL. S3 requests: one HEAD a file.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            AssetVersionArchivedError: the requested version of the asset is archived.
            AssetVersionNotFoundError: the asset has no such version.
            InvalidInputError: none of the files can be downloaded.
            NotDistributableError: the asset is not distributable.
            UnavailableError: a store does not answer.
        """
        asset = self._asset(caller, ref)
        version = _wanted_version(self.files, asset, body)
        read: set[str] = set()

        def download(sent: DownloadKey) -> FileDownload:
            try:
                target = self.files.target(asset, sent.key, field="key")
                wanted = version and self.files.version_id_in(target, version)
                head = self._readable(asset, target.bucket, target.key, wanted or sent.version_id)
            except UnavailableError:
                raise
            except VitrineError as error:
                return FileDownload(key=sent.key, success=False, error=error.message)
            read.add(target.path)
            return FileDownload(
                key=sent.key,
                download_url=self._url(target.bucket, head, body),
                version_id=head.version.version_id,
                success=True,
            )

        named = [key if isinstance(key, DownloadKey) else DownloadKey(key=key) for key in keys]
        files = in_parallel(download, named)
        done = [file for file in files if file.success]
        if not done:
            fact = f"no file of {len(files)} can be downloaded; {files[0].key}: {files[0].error}"
            raise InvalidInputError.of("keys", fact)
        reply = DownloadReply(
            download_url=done[0].download_url or "",
            expires_in=self.url_seconds,
            download_type=body.download_type,
            version_id=done[0].version_id or "",
            message=f"{len(done)} of {len(files)} files can be downloaded for "
            f"{self.url_seconds} seconds",
            files=files,
        )
        return reply, tuple(sorted(read))

    def _asset(self, caller: Identity, ref: AssetRef) -> Asset:
        asset = self.assets.asset_for(caller, "GET", *ref.ids)
        if not asset.is_distributable:
            raise NotDistributableError
        return asset

    def _readable(self, asset: Asset, bucket: str, key: str, version_id: str | None) -> ObjectHead:
        head = self.objects.head(bucket, key, version_id=version_id)
        if head is None:
            raise FileNotFoundInAssetError(key, asset.asset_id, version_id)
        if isinstance(head, ObjectVersion):
            raise FileArchivedError(key)
        self.files.check_clean(bucket, key, head.version.version_id)
        head.check_restored()
        return head

    def _url(self, bucket: str, head: ObjectHead, body: DownloadBody) -> str:
        key = head.version.key
        return self.objects.presign_get(
            bucket,
            key,
            version_id=head.version.version_id,
            serving=saved(key) if body.attachment else serving_of(key),
            expires=self.url_seconds,
        )

    def _found(self, asset: Asset, body: DownloadBody) -> tuple[str, str, str | None]:
        """Return bucket, key and S3 version id of the requested object."""
        if body.download_type == "assetPreview":
            bucket, key = self.files.preview_of(asset)
            if key is None:
                raise PreviewNotFoundError(asset.asset_id)
            return bucket, key, body.version_id
        target = self.files.target(asset, body.key or "", field="key")
        return target.bucket, target.key, version_id_of(self.files, target, body)


Reading = Literal["headers", "bytes"]


@frozen
class Streamed:
    """A file, or some of its bytes, to be served.

    `path` is its path in the asset. `span` is the requested range, None for the whole file. `body`
    is set if the content was requested and fits a reply, otherwise `url` is the URL of it.
    `is_known`: the client already has the content.
    """

    path: str
    head: ObjectHead
    serving: Serving
    validators: rules.Validators
    span: tuple[int, int] | None = None
    body: bytes = b""
    url: str | None = None
    is_known: bool = False


@dataclass(eq=False, repr=False)
class StreamService:
    """Streams files; `auxiliary` is the bucket of files that viewers and pipelines created."""

    assets: AssetService
    files: FileQueries
    objects: Objects
    ranges: ObjectRanges
    auxiliary: Callable[[], str]
    url_seconds: int

    def stream_file(
        self,
        caller: Identity,
        ref: AssetRef,
        path: str,
        version: VersionChoice,
        *,
        wanted: rules.Wanted,
        reading: Reading,
    ) -> Streamed:
        """Return a file of an asset (database id, asset id).

        S3 requests: one HEAD, and one GET for bytes.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            AssetVersionArchivedError: the requested version of the asset is archived.
            FileArchivedError: the file, or the version of it, is archived.
            FileQuarantinedError: a malware scan found a threat in it.
            NotRestoredError: the object is in an archive storage class.
            InvalidInputError: the path is invalid.
            FileNotFoundInAssetError: the file or version does not exist.
            NotStreamedError: the asset is not distributable.
            RangeError: the requested range is outside the file.
        """
        asset = self._require_distributable(caller, ref)
        target = self.files.target(asset, path, field="proxy")
        version_id = version_id_of(self.files, target, version)
        place = _Place(asset.asset_id, target.path, target.bucket, target.key, version_id)
        return self._stream(place, wanted, reading)

    def stream_auxiliary(
        self,
        caller: Identity,
        ref: AssetRef,
        path: str,
        *,
        wanted: rules.Wanted,
        reading: Reading,
    ) -> Streamed:
        """Return an auxiliary file of an asset (database id, asset id), which has no versions.

        S3 requests: one HEAD, and one GET for bytes.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            FileQuarantinedError: it was made of a file in which a malware scan found a threat.
            InvalidInputError: the path is invalid.
            FileNotFoundInAssetError: the file does not exist.
            NotStreamedError: the asset is not distributable.
            RangeError: the requested range is outside the file.
        """
        asset = self._require_distributable(caller, ref)
        relative = self.files.target(asset, path, field="proxy").path
        source = source_of_glb(relative)
        if source is not None:
            bucket, prefix = self.assets.location(asset)
            self.files.check_clean(bucket, prefix + source[0].removeprefix("/"), source[1])
        key = asset.asset_id + relative
        place = _Place(asset.asset_id, relative, self.auxiliary(), key, is_scanned=False)
        return self._stream(place, wanted, reading)

    def _require_distributable(self, caller: Identity, ref: AssetRef) -> Asset:
        asset = self.assets.asset_for(caller, "GET", *ref.ids)
        if not asset.is_distributable:
            raise NotStreamedError
        return asset

    # Headers and bytes must be of one content. An object without versions may be replaced between
    # HEAD and GET; the GET's `If-Match` then fails, and both are repeated.
    @attempts(_READINGS, _ReplacedError, refusal=_replacement_error)
    def _stream(self, place: _Place, wanted: rules.Wanted, reading: Reading) -> Streamed:
        head = self._head(place)
        streamed = Streamed(
            path=place.path,
            head=head,
            serving=serving_of(head.version.key),
            validators=rules.Validators(f'"{head.version.etag}"', head.version.last_modified),
        )
        if rules.is_known(wanted, streamed.validators):
            return replace(streamed, is_known=True)
        if reading == "headers":
            return streamed
        head.check_restored()
        size = head.version.size
        span = rules.wanted_span(wanted, streamed.validators, size)
        first, end = span or (0, size)
        if end - first > rules.STREAMED_BYTES:
            return replace(streamed, span=span, url=self._url(place, streamed))
        body = self._read(place, head, (first, end))
        if body is None:
            raise _ReplacedError
        return replace(streamed, span=span, body=body)

    def _head(self, place: _Place) -> ObjectHead:
        head = self.objects.head(place.bucket, place.key, version_id=place.version_id)
        if head is None:
            raise FileNotFoundInAssetError(place.key, place.asset_id, place.version_id)
        if isinstance(head, ObjectVersion):
            raise FileArchivedError(place.key)
        if place.is_scanned:
            self.files.check_clean(place.bucket, place.key, head.version.version_id)
        return head

    def _read(self, place: _Place, head: ObjectHead, span: tuple[int, int]) -> bytes | None:
        if span[0] == span[1]:
            return b""  # S3 finds no byte of an empty file in any range
        return self.ranges.read(
            place.bucket,
            place.key,
            version_id=_kept_version(head),
            etag=head.version.etag,
            span=span,
        )

    def _url(self, place: _Place, streamed: Streamed) -> str:
        return self.objects.presign_get(
            place.bucket,
            place.key,
            version_id=_kept_version(streamed.head),
            serving=streamed.serving,
            expires=self.url_seconds,
        )


def version_id_of(files: FileQueries, target: FileTarget, choice: VersionChoice) -> str | None:
    """Return the S3 version id of the file version that a client named; None for the current one.

    Raises:
        AssetVersionArchivedError: the asset's version is archived.
        NotFoundError: the asset has no such version, or the version does not contain the file.
    """
    version = _wanted_version(files, target.asset, choice)
    return choice.version_id if version is None else files.version_id_in(target, version)


def _wanted_version(files: FileQueries, asset: Asset, choice: VersionChoice) -> AssetVersion | None:
    version = files.assets.wanted_version(
        asset, choice.asset_version_id, choice.asset_version_id_alias
    )
    if version is not None and version.is_archived:
        raise AssetVersionArchivedError(version.asset_version_id)
    return version


def _kept_version(head: ObjectHead) -> str | None:
    """Return the version to read, to match the headers; None for buckets without versioning."""
    version_id = head.version.version_id
    return None if version_id == "null" else version_id
