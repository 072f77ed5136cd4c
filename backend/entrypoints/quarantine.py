"""Wires the consumer of malware scan results, which acts for no user."""

from dataclasses import dataclass
from functools import cached_property

from backend.core.authorization import Authorization, SystemOnly
from backend.domains.buckets.service import BucketRegistry
from backend.domains.quarantine.repository import QuarantineRepository
from backend.domains.quarantine.service.consumers import ScanConsumer
from backend.entrypoints.job_workers import Handler, WorkerWiring, handler_of
from backend.spec.buckets import ASSET_BUCKET
from backend.spec.settings import IMPORTED_BUCKETS


@dataclass(eq=False, repr=False)
class QuarantineWiring(WorkerWiring):
    """Creates the services of the consumer of scan results."""

    @cached_property
    def authorization(self) -> Authorization:
        return SystemOnly()

    @property
    def results_handler(self) -> Handler:
        imported = self.settings.text(IMPORTED_BUCKETS).split(",")
        consumer = ScanConsumer(
            repository=QuarantineRepository(self.tables),
            assets=self.assets,
            registry=BucketRegistry(self.tables),
            audit=self.audit,
            queues=self.queues,
            keep=self.failures.keep,
            ring=self.ring,
            clock=self.clock,
            bucket_names=frozenset({self.settings.bucket(ASSET_BUCKET), *imported} - {""}),
        )
        return handler_of(consumer.consume)
