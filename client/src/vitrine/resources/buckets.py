"""Buckets that hold assets: listed, registered, imported."""

from collections.abc import Iterator

from vitrine.models import Bucket, Wire
from vitrine.resources.registry import given
from vitrine.transport import Transport, path_of


class ImportStarted(Wire):
    """An import that goes on as a job."""

    bucket_id: str
    job_id: str
    message: str | None = None


class Buckets:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, page_size: int | None = None) -> Iterator[Bucket]:
        return self._transport.pages(Bucket, path_of("buckets"), page_size=page_size)

    def usual(self) -> Bucket | None:
        """The one for databases that name none: one that holds assets at its root before others.

        It stays the same while nothing is registered, though buckets are listed in no order.
        """
        found = sorted(self.list(), key=lambda one: (_below_root(one), one.bucket_name))
        return found[0] if found else None

    def register(
        self, name: str, *, prefix: str | None = None, database: str | None = None
    ) -> Bucket:
        """Lets a bucket, or what stands below a prefix in it, hold assets.

        Raises:
            ConflictError: it overlaps a prefix that is registered already.
            InvalidInputError: the bucket is absent, without versions, or closed to Vitrine.
        """
        body = given(bucketName=name, baseAssetsPrefix=prefix, defaultDatabaseId=database)
        return self._transport.write(Bucket, "POST", path_of("admin", "buckets"), body=body)

    def start_import(self, bucket_id: str) -> ImportStarted:
        """Starts making assets of what stands in a bucket; `Jobs.wait` follows it.

        Raises ConflictError where an import of it goes on already.
        """
        path = path_of("admin", "buckets", bucket_id, "import")
        return self._transport.write(ImportStarted, "POST", path, body={})


def _below_root(bucket: Bucket) -> bool:
    return (bucket.base_assets_prefix or "/") != "/"
