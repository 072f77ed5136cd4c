"""Content of files, whole or in part, through the API, which redirects to the storage if large."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from vitrine.resources.assets import asset_path
from vitrine.storage import PIECE, Storage
from vitrine.transfer.names import compose_name
from vitrine.transport import Query, Transport, path_of

Family = Literal["file", "viewer"]
_FAMILIES: dict[Family, tuple[str, str]] = {
    "file": ("download", "stream"),
    "viewer": ("auxiliaryPreviewAssets", "stream"),
}
_REDIRECT = 307


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file of an asset, or an auxiliary file (which has no versions).

    At most one of the three ways to name a version is allowed. `path` is a path in the asset, or a
    key. The URL loses a leading slash, and a path that begins like the keys of the asset is then
    taken for a key: `prefix` (`asset.asset_location.key`) keeps `/base/pump/x` a path also there.
    """

    database_id: str
    asset_id: str
    path: str
    prefix: str | None = None
    family: Family = "file"
    version_id: str | None = None
    asset_version_id: str | None = None
    asset_version_alias: str | None = None

    @property
    def url_path(self) -> str:
        path = compose_name(self.path).removeprefix("/")
        if self.prefix and self.path.startswith(f"/{self.prefix}"):
            path = self.prefix + path  # its key
        inside = path_of(*path.split("/"))
        return asset_path(self.database_id, self.asset_id, *_FAMILIES[self.family]) + inside

    @property
    def query(self) -> Query:
        return {
            "versionId": self.version_id,
            "assetVersionId": self.asset_version_id,
            "assetVersionIdAlias": self.asset_version_alias,
        }


@dataclass(frozen=True, kw_only=True)
class FileHead:
    """The size and type of a file; `size` is None if the gateway omits it."""

    size: int | None
    content_type: str | None
    etag: str | None
    version_id: str | None


class Streams:
    def __init__(self, transport: Transport, storage: Storage) -> None:
        self._transport = transport
        self._storage = storage

    def head(self, source: Source) -> FileHead:
        """Return size and type of a file. Raises GoneError if it is archived."""
        response = self._transport.send("HEAD", source.url_path, query=source.query)
        length = response.headers.get("Content-Length")
        return FileHead(
            size=int(length) if length is not None else None,
            content_type=response.headers.get("Content-Type"),
            etag=response.headers.get("ETag"),
            version_id=response.headers.get("X-Amz-Version-Id"),
        )

    @contextmanager
    def open(
        self, source: Source, *, start: int = 0, end: int | None = None
    ) -> Generator[Iterator[bytes]]:
        """Yield the bytes from `start` up to the one before `end`, in pieces.

        Raises:
            GoneError: the file, or this version of it, is archived.
            NotFoundError: the file does not exist.
            RangeError: the file ends before `start`.
        """
        span = f"bytes={start}-{'' if end is None else end - 1}"
        response = self._transport.send(
            "GET",
            source.url_path,
            query=source.query,
            headers={"Range": span} if start or end is not None else None,
            redirects=True,
        )
        if response.status_code != _REDIRECT:
            yield iter([response.content])
            return
        where = response.headers["Location"]  # requested without the key, which is for the API only
        with self._storage.get(where, start=start, end=end) as stored:
            yield stored.iter_raw(PIECE)
