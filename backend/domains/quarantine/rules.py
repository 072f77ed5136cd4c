"""Parses scan results, and decides which of two results of a version counts. Pure."""

from collections.abc import Mapping
from typing import Any, cast

from backend.core.clock import iso
from backend.core.deliveries import InvalidEventError, read_body
from backend.core.objects import UNVERSIONED
from backend.domains.quarantine.models import ScannedVersion, StoredResult
from backend.domains.quarantine.models.events import ScanEvent, ScanResult
from backend.spec import keys
from backend.spec.buckets import NO_THREATS_FOUND, THREATS_FOUND
from backend.spec.keys import PARTITION_KEY_BYTES

# Names of threats are for people, and part of an item that a page of a list reads 100 of.
MAX_THREATS = 10
MAX_THREAT_CHARS = 256


def scan_result(message: Mapping[str, Any]) -> ScanResult | None:
    """Return the result that a message of the queue holds.

    None for results without a verdict: an object that GuardDuty could not scan.

    Raises:
        InvalidEventError: the message contains no scan result.
    """
    event = read_body(ScanEvent, message)
    scanned, scan = event.detail.s3_object_details, event.detail.scan_result_details
    if scan.scan_result_status not in {THREATS_FOUND, NO_THREATS_FOUND}:
        return None
    version_id = scanned.version_id or UNVERSIONED
    version = ScannedVersion(scanned.bucket_name, scanned.object_key, version_id)
    if "#" in version.bucket or "#" in version.version_id:
        raise InvalidEventError("the bucket's name or the version id holds '#'")
    size = len(keys.quarantine(version.bucket, version.version_id, version.key).encode())
    if size > PARTITION_KEY_BYTES:
        raise InvalidEventError(f"the item of the object needs a key of {size} bytes")
    try:
        scanned_at = iso(event.time)
    except OverflowError as error:  # an hour before the first year
        raise InvalidEventError(f"time: {error}") from error
    stored = StoredResult(scan_status=scan.scan_result_status, scanned_at=scanned_at)
    return ScanResult(version, stored, _names(scan.threats))


def replaces_stored(known: StoredResult | None, result: StoredResult) -> bool:
    """Return whether a result replaces the stored one of the same version.

    A version without a threat is not stored, unless it had one.
    """
    if known is None:
        return result.is_threat
    # Results may be repeated and in any order: the later scan counts, and within one second the
    # threat.
    return (result.scanned_at, result.is_threat) > (known.scanned_at, known.is_threat)


def _names(threats: object) -> tuple[str, ...]:
    """Return the names of threats; a list of another form must not release the file."""
    entries = cast("list[object]", threats) if isinstance(threats, list) else []
    names: list[str] = []
    for entry in entries[:MAX_THREATS]:
        match entry:
            case {"name": str(name)}:
                names.append(name[:MAX_THREAT_CHARS])
            case _:
                continue
    return tuple(names)
