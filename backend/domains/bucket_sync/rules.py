"""Finds the folder and the bucket of a key. Pure.

Keys come as EventBridge sends them: not encoded, so `+` is a plus and `%20` is three characters.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from backend.core.deliveries import InvalidEventError
from backend.core.objects import ObjectRef
from backend.core.quoting import quoted
from backend.domains.bucket_sync.models import Folder, Skip, SkipKind
from backend.domains.buckets.models import AssetBucket
from backend.spec.key_layouts import RESERVED_FOLDERS, SCAN_PROBE_KEY

# The contract's limit for an asset's description.
ABOUT_CHARS = 256


def named_object(message: Mapping[str, Any]) -> ObjectRef:
    """Return the object that a message of the queue names.

    Raises:
        InvalidEventError: it names none.
    """
    try:
        event: object = json.loads(message["body"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InvalidEventError(f"the message's body is not JSON: {quoted(error)}") from error
    match event:
        case {"detail": {"bucket": {"name": str(bucket)}, "object": {"key": str(key)}}} if key:
            return ObjectRef(bucket, key)
        case _:
            raise InvalidEventError("the event has no detail.bucket.name and detail.object.key")


def adds_marker(message: Mapping[str, Any]) -> bool:
    """Return whether a message reports a new delete marker."""
    event: object = json.loads(message["body"])
    match event:
        case {"detail": {"deletion-type": "Delete Marker Created"}}:
            return True
        case _:
            return False


def event_of(named: ObjectRef) -> dict[str, Any]:
    """Parse the used parts of an object event."""
    return {"detail": {"bucket": {"name": named.bucket}, "object": {"key": named.key}}}


def place_of(named: ObjectRef, buckets: Iterable[AssetBucket]) -> Folder | Skip:
    """Return the folder of an object, or why the object has none that may become an asset."""
    bucket = next(
        (
            bucket
            for bucket in buckets
            if bucket.bucket_name == named.bucket and named.key.startswith(bucket.key_prefix)
        ),
        None,
    )
    if bucket is None:
        return _skip("outsideBasePrefixes", named, "", "it is not below a registered base prefix")
    base = bucket.key_prefix
    first, slash, _ = named.key.removeprefix(base).partition("/")
    if named.key == SCAN_PROBE_KEY:
        return _skip("reservedFolder", named, named.key, "it is an object written by GuardDuty")
    if first in RESERVED_FOLDERS:
        reason = f"the folder {quoted(first)} is reserved"
        return _skip("reservedFolder", named, f"{base}{first}/", reason)
    if not slash:
        reason = "it is not in a folder; the name of the top folder becomes the asset's id"
        return _skip("noFolder", named, named.key, reason)
    return Folder(bucket, first)


def skip_of(folder: Folder, example: str, kind: SkipKind, reason: str) -> Skip:
    """Return why a folder does not become an asset."""
    return _skip(kind, ObjectRef(folder.bucket.bucket_name, example), folder.prefix, reason)


def description_of(folder: Folder) -> str:
    """Return the description of an asset created from a folder: its origin."""
    place = f"s3://{folder.bucket.bucket_name}/{folder.prefix}"
    text = f"Found in the bucket: {place}"
    return text if len(text) <= ABOUT_CHARS else text[: ABOUT_CHARS - 1] + "…"


def _skip(kind: SkipKind, named: ObjectRef, place: str, reason: str) -> Skip:
    return Skip(kind, f"s3://{named.bucket}/{place}", named, reason)
