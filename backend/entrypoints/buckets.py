"""Wires the registration of buckets, and the start of their imports.

Slices are imported where they are wired, as in `wiring`.
"""
# ruff: noqa: PLC0415

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backend.aws import clients
from backend.entrypoints.wiring import Wiring
from backend.spec.buckets import ASSET_BUCKET
from backend.spec.settings import IMPORTED_BUCKETS

if TYPE_CHECKING:
    from backend.domains.bucket_sync.service import BucketImports
    from backend.domains.buckets.service import BucketRegistration


@dataclass(eq=False, repr=False)
class RegistryWiring(Wiring):
    """Creates the services of both functions."""

    @property
    def bucket_registration(self) -> "BucketRegistration":
        from backend.aws.bucket_facts import S3BucketFacts
        from backend.domains.buckets.repository import BucketRepository
        from backend.domains.buckets.service import BucketRegistration

        return BucketRegistration(
            buckets=BucketRepository(self.tables),
            facts=S3BucketFacts(clients.at_first_use(clients.s3), self._allowed),
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
        )

    @property
    def bucket_imports(self) -> "BucketImports":
        from backend.domains.bucket_sync.repository import ImportRepository
        from backend.domains.bucket_sync.service import BucketImports

        imports = ImportRepository(self.tables)
        return BucketImports(imports, self.buckets, self.jobs, self.audit, self.clock)

    @property
    def _allowed(self) -> frozenset[str]:
        imported = self.settings.text(IMPORTED_BUCKETS).split(",")
        return frozenset({self.settings.bucket(ASSET_BUCKET), *imported})
