"""Asset buckets: list, register, import."""

from collections.abc import Iterator

from vitrine import api_models as api
from vitrine.api_models import ImportStarted as ImportStarted
from vitrine.models import Bucket
from vitrine.resources.resource import Resource
from vitrine.transport import path_of


class Buckets(Resource):
    def list(self, *, page_size: int | None = None) -> Iterator[Bucket]:
        return self._transport.pages(Bucket, path_of("buckets"), page_size=page_size)

    def usual(self) -> Bucket | None:
        """Return the default bucket for databases: one with assets at its root takes precedence."""
        # Sorted: buckets are listed in no order, and the default must be the same each time.
        buckets = sorted(
            self.list(),
            key=lambda bucket: ((bucket.base_assets_prefix or "/") != "/", bucket.bucket_name),
        )
        return buckets[0] if buckets else None

    def register(
        self, name: str, *, prefix: str | None = None, database: str | None = None
    ) -> Bucket:
        """Register a bucket, or a prefix in it, for assets.

        Raises:
            ConflictError: it overlaps a prefix that is registered already.
            InvalidInputError: the bucket does not exist, has no versioning, or is not accessible.
        """
        body = api.RegisterBucketBody(
            bucket_name=name, base_assets_prefix=prefix, default_database_id=database
        )
        return self._transport.write(Bucket, "POST", path_of("admin", "buckets"), body=body)

    def start_import(self, bucket_id: str) -> ImportStarted:
        """Start to import the objects of a bucket; `Jobs.wait` waits for it.

        Raises ConflictError if an import of it is running.
        """
        path = path_of("admin", "buckets", bucket_id, "import")
        return self._transport.write(ImportStarted, "POST", path, body={})
