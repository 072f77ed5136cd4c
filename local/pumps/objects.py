"""The pump from buckets to the event bus.

Changes are read from the bucket, never from a notification: versions in the bucket that are not in
the journal were created, and versions in the journal that are not in the bucket were deleted. The
engine's notifications, which are sent at most once and without version ids, only show where to
check soon. Every bucket is listed completely at the start, every half minute, and for `drained`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections import defaultdict
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote_plus

from botocore.exceptions import BotoCoreError, ClientError

from local import arns
from local.pumps.batches import pause_while_away
from local.pumps.bus import new_event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_s3.type_defs import DeleteMarkerEntryTypeDef, ObjectVersionTypeDef
    from pydantic import JsonValue

    from local.clients import Clients
    from local.plan import Object, Plan
    from local.pumps.activity import Activity
    from local.pumps.bus import Bus
    from local.pumps.journal import Journal, Version

# Only for hints that were lost.
_LIST_EVERY = 30.0
# Uploads arrive in groups: hints of this time are compared in one listing.
_GATHER = 0.03
_MOST_SINGLE = 40  # for more changed keys than this, one listing of the bucket takes less time

_log = logging.getLogger(__name__)

_Versions = dict["Version", "Object"]


def watched_buckets(plan: Plan) -> list[str]:
    """Return the buckets whose events go to EventBridge."""
    made = {bucket.name for bucket in plan.buckets}
    buckets = [bucket.name for bucket in plan.buckets if bucket.sends_events]
    for rule in plan.rules:
        names = _named(json.loads(rule.pattern)) if rule.pattern else []
        # Buckets that no template creates: tests create them, as a user's own bucket exists on AWS.
        buckets += [name for name in names if name not in made and name not in buckets]
    return buckets


def _named(pattern: JsonValue) -> list[str]:
    """Return the buckets that a rule of object events names literally."""
    match pattern:
        case {"source": ["aws.s3"], "detail": {"bucket": {"name": list(names)}}}:
            return [name for name in names if isinstance(name, str)]
        case _:
            return []


class ObjectPump:
    """Watches the buckets whose events go to EventBridge."""

    def __init__(
        self,
        buckets: list[str],
        *,
        clients: Clients,
        bus: Bus,
        journal: Journal,
        activity: Activity,
    ) -> None:
        """Store the buckets and the pump's dependencies."""
        self._buckets = buckets
        self._clients = clients
        self._bus = bus
        self._journal = journal
        self._activity = activity
        self._hints: dict[str, set[str]] = defaultdict(set)
        self._hinted = asyncio.Event()
        self._looking = asyncio.Lock()

    def hint(self, notification: JsonValue) -> None:
        """Process a notification of the engine: a list of S3 event records."""
        records = notification.get("Records") if isinstance(notification, dict) else None
        for record in records if isinstance(records, list) else []:
            place = record.get("s3") if isinstance(record, dict) else None
            if not isinstance(place, dict):
                continue
            bucket, key = place.get("bucket"), place.get("object")
            if isinstance(bucket, dict) and isinstance(key, dict):
                self._hints[str(bucket.get("name"))].add(str(key.get("key")))
        self._hinted.set()

    async def run(self) -> None:
        """Watch the buckets without end."""
        failures = 0
        listed = 0.0
        while True:
            try:
                if time.monotonic() - listed >= _LIST_EVERY:
                    await self.compare()
                    listed = time.monotonic()
                await self._follow_hints()
                failures = 0
            except (BotoCoreError, ClientError) as error:
                failures += 1
                listed = 0.0
                if failures == 1:
                    _log.warning("the buckets cannot be listed: %s", error)
                await asyncio.sleep(pause_while_away(failures))
            await self._wait(listed)

    @property
    def is_looking(self) -> bool:
        """Return whether events are being found and sent; thousands of them take minutes."""
        return self._looking.locked()

    async def compare(self) -> int:
        """List all buckets, send missed events, and return their number."""
        sent = 0
        async with self._looking:
            for bucket in self._buckets:
                versions = await asyncio.to_thread(self._list, bucket, None)
                sent += await self._compare(bucket, versions, self._journal.objects(bucket))
        return sent

    async def _follow_hints(self) -> None:
        self._hinted.clear()
        hints, self._hints = self._hints, defaultdict(set)
        async with self._looking:
            for bucket in self._buckets:
                # The engine sends keys encoded or not, by its version.
                keys = {variant for key in hints[bucket] for variant in (key, unquote_plus(key))}
                if len(keys) > _MOST_SINGLE:
                    versions = await asyncio.to_thread(self._list, bucket, None)
                    await self._compare(bucket, versions, self._journal.objects(bucket))
                    continue
                for key in sorted(keys):
                    versions = await asyncio.to_thread(self._list, bucket, key)
                    await self._compare(bucket, versions, self._journal.objects(bucket, key))

    async def _wait(self, listed: float) -> None:
        left = listed + _LIST_EVERY - time.monotonic()
        try:
            await asyncio.wait_for(self._hinted.wait(), max(0.0, left))
        except TimeoutError:
            return
        await asyncio.sleep(_GATHER)  # uploads arrive in groups

    async def _compare(self, bucket: str, versions: _Versions, known: set[Version]) -> int:
        sent = 0
        for version, detail in versions.items():
            if version not in known:
                # First the event, then the journal: a crash between both repeats the event, and
                # loses none.
                await self._send(bucket, version, detail, gone=False)
                self._journal.add_object(bucket, version)
                sent += 1
        for version in known - versions.keys():
            await self._send(bucket, version, _object(version), gone=True)
            self._journal.remove_object(bucket, version)
            sent += 1
        return sent

    async def _send(self, bucket: str, version: Version, detail: Object, *, gone: bool) -> None:
        marker = version[2]
        reason = "DeleteObject" if gone or marker else "PutObject"
        described: Object = {
            "version": "0",
            "bucket": {"name": bucket},
            "object": detail,
            "request-id": uuid.uuid4().hex[:16].upper(),
            "requester": arns.ACCOUNT,
            "source-ip-address": "127.0.0.1",
            "reason": reason,
        }
        if gone or marker:
            kind = "Permanently Deleted" if gone else "Delete Marker Created"
            described["deletion-type"] = kind
        name = "Object Deleted" if gone or marker else "Object Created"
        with self._activity.working():
            await self._bus.publish(
                new_event("aws.s3", name, [f"arn:aws:s3:::{bucket}"], described)
            )

    def _list(self, bucket: str, key: str | None) -> _Versions:
        """Return all versions of a bucket, or of one key, the oldest of a key first.

        A bucket that does not exist yet has none.
        """
        try:
            return self._listed(bucket, key)
        except self._clients.s3.exceptions.NoSuchBucket:
            return {}

    def _listed(self, bucket: str, key: str | None) -> _Versions:
        pages = self._clients.s3.get_paginator("list_object_versions").paginate(
            Bucket=bucket, Prefix=key or ""
        )
        entries = [
            entry
            for page in pages
            for entry in _entries(page.get("Versions", []), page.get("DeleteMarkers", []))
            if key is None or entry[0] == key
        ]
        # Events of a key are sent in the order of its versions.
        entries.sort(key=lambda entry: entry[1])
        return {version: _object(version) | detail for _, _, version, detail in entries}


def _entries(
    versions: list[ObjectVersionTypeDef], markers: list[DeleteMarkerEntryTypeDef]
) -> Iterator[tuple[str, float, Version, Object]]:
    for version in versions:
        key, modified = version.get("Key", ""), version.get("LastModified")
        detail: Object = {
            "size": version.get("Size", 0),
            "etag": version.get("ETag", "").strip('"'),
        }
        when = modified.timestamp() if modified else 0.0
        yield key, when, (key, version.get("VersionId", "null"), False), detail
    for marker in markers:
        key, modified = marker.get("Key", ""), marker.get("LastModified")
        when = modified.timestamp() if modified else 0.0
        yield key, when, (key, marker.get("VersionId", "null"), True), cast("Object", {})


def _object(version: Version) -> Object:
    key, version_id, _ = version
    detail: Object = {"key": key, "sequencer": f"{time.time_ns():016X}"}
    if version_id != "null":
        detail["version-id"] = version_id
    return detail
