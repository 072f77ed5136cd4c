"""Consumes the results of malware scans.

Results are delivered at least once and in any order. The stored result of a version is read first
and replaced on the condition that it is unchanged, so two consumers of one version cannot overwrite
each other. The object itself need not exist: version ids are never reused, so the result of a
deleted version does no harm.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backend.core.deliveries import (
    CountMetric,
    Event,
    InvalidEventError,
    Message,
    Reply,
    StoreFailure,
    parse_messages,
    process_batch,
)
from backend.core.identity import SYSTEM
from backend.core.objects import ObjectRef
from backend.core.queues import Queues
from backend.core.transactions import Write
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.buckets.models import AssetBucket, BucketKey
from backend.domains.buckets.service import BucketRegistry
from backend.domains.quarantine import rules
from backend.domains.quarantine.models import ScannedVersion, StoredResult
from backend.domains.quarantine.models.events import ScanResult
from backend.domains.quarantine.repository import QuarantineRepository
from backend.spec.queues import SCAN_RESULTS


@dataclass(eq=False, repr=False)
class ScanConsumer:
    """Consumes scan results.

    `bucket_names` are the asset bucket and the imported ones: results for other buckets are stored
    as failures, and quarantine nothing.
    """

    repository: QuarantineRepository
    assets: AssetService
    registry: BucketRegistry
    audit: AuditService
    queues: Queues
    store_failure: StoreFailure
    count_metric: CountMetric
    bucket_names: frozenset[str]
    follow_picture: Callable[[Asset, str, str], None]
    """Chooses the asset's picture again after the result of an object with this key.

    The last argument marks the written objects.
    """

    def consume(self, event: Event) -> Reply:
        """Process the batch; after an outage, return all of its messages to the queue."""
        return process_batch(
            event, self._process, self.queues, SCAN_RESULTS, count_metric=self.count_metric
        )

    def _process(self, messages: Sequence[Message]) -> None:
        for message in parse_messages(messages, self._read, self.store_failure):
            if message is not None:
                self._store(message)

    def _read(self, message: Message) -> ScanResult | None:
        result = rules.scan_result(message)
        if result is not None and result.version.bucket not in self.bucket_names:
            raise InvalidEventError(f"{result.version.bucket} is no bucket of this deployment")
        return result

    def _store(self, result: ScanResult) -> None:
        known = self.repository.results([result.version]).get(result.version)
        if rules.replaces_stored(known, result.stored):
            is_same = known is not None and known.is_threat == result.stored.is_threat
            entries = () if is_same else self._entries(known, result)
            self.repository.replace(result.version, known, result.stored, entries)
        elif known is None:  # no scan has found a threat, as in most files
            return
        # Also for a repeated result: the first delivery may have ended before this.
        bucket = self._bucket(result.version)
        asset = None if bucket is None else self._owner(bucket, result.version.key)
        if asset is not None:
            self.follow_picture(asset, result.version.key, f"scan-{result.version.version_id}")

    def _entries(self, known: StoredResult | None, result: ScanResult) -> tuple[Write, ...]:
        """Return the audit entry of a quarantined or released version in a known bucket."""
        entity = self._entity(result.version)
        if entity is None:
            return ()
        about = {"key": result.version.key, "versionId": result.version.version_id}
        before: dict[str, Any] = {} if known is None else {"scanStatus": known.scan_status}
        after = {**about, "scanStatus": result.stored.scan_status, "threats": list(result.threats)}
        entry = self.audit.entry(
            SYSTEM,
            "quarantine_file" if result.stored.is_threat else "release_file",
            entity,
            before=before,
            after=after,
        )
        return (entry,)

    def _entity(self, version: ScannedVersion) -> str | None:
        bucket = self._bucket(version)
        if bucket is None:
            return None
        asset = self._owner(bucket, version.key)
        if asset is None:  # an asset that is not created yet, or deleted
            return audit_entity("bucket", bucket.bucket_id)
        path = "/" + version.key.removeprefix(asset.asset_location.key)
        return audit_entity("file", asset.database_id, asset.asset_id, path)

    def _bucket(self, version: ScannedVersion) -> AssetBucket | None:
        """The registered bucket and base prefix of an object; imported ones may have none yet."""
        records = self.registry.for_objects([ObjectRef(version.bucket, version.key)])
        named = (record for record in records if record.bucket_name == version.bucket)
        return next((bucket for bucket in named if version.key.startswith(bucket.key_prefix)), None)

    def _owner(self, bucket: AssetBucket, key: str) -> Asset | None:
        place = BucketKey(bucket.bucket_id, key)
        owner = self.assets.owners([place]).get(place)
        return None if owner is None else self.assets.find_asset(*owner.ids)
