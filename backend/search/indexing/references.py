"""References to documents: an asset, a file of an asset, or an object in a bucket.

A reference names the document to rebuild, without any content. Rebuilds are requested through the
settle queue.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from backend.core.objects import ObjectRef
from backend.core.queues import Queues
from backend.core.references import AssetRef, FileKeyRef, FileRef
from backend.spec.queues import SETTLE

ROOT_PATH = "/"
"""The path of the asset's own metadata."""


# The asset of an object has to be looked up.
Reference = AssetRef | FileRef | FileKeyRef | ObjectRef


class MalformedReferenceError(Exception):
    """A message is not of the form that `to_messages` creates."""


# The queue port accepts 240,000 characters.
_MESSAGE_CHARS = 200_000


def at_path(database_id: str, asset_id: str, path: str) -> AssetRef | FileRef:
    """Return the references for metadata or attributes at a path."""
    if path == ROOT_PATH:
        return AssetRef(database_id, asset_id)
    return FileRef(database_id, asset_id, path if path.startswith("/") else "/" + path)


def to_messages(references: Iterable[Reference]) -> Iterator[dict[str, list[list[str]]]]:
    """Return the references as JSON bodies, each small enough for one message."""
    chunk: list[list[str]] = []
    size = 0
    for reference in sorted(references, key=_sort_key):
        entry = _encode(reference)
        length = len(json.dumps(entry)) + 1
        if chunk and size + length > _MESSAGE_CHARS:
            yield {"references": chunk}
            chunk, size = [], 0
        chunk.append(entry)
        size += length
    if chunk:
        yield {"references": chunk}


def to_entries(references: Iterable[Reference]) -> list[list[str]]:
    """Return the references as JSON, in order; `from_message` reads them below `references`."""
    return [_encode(reference) for reference in sorted(references, key=_sort_key)]


def from_message(body: object) -> set[Reference]:
    """Return the references in a message.

    Raises:
        MalformedReferenceError: the message is not one of `to_messages`.
    """
    entries = cast("dict[str, object]", body).get("references") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        raise MalformedReferenceError("the message has no list 'references'")
    return {_decode(entry) for entry in cast("list[object]", entries)}


def by_asset(references: Iterable[Reference]) -> list[Reference]:
    """Sort references so that those of one asset or folder are adjacent."""
    return sorted(references, key=_sort_key)


def _sort_key(reference: Reference) -> tuple[str, ...]:
    return tuple(_encode(reference)[1:])


def _encode(reference: Reference) -> list[str]:
    if isinstance(reference, AssetRef):
        return ["asset", reference.database_id, reference.asset_id]
    if isinstance(reference, FileRef):
        return ["file", reference.database_id, reference.asset_id, reference.path]
    if isinstance(reference, FileKeyRef):
        return ["key", reference.database_id, reference.asset_id, reference.key]
    return ["object", reference.bucket, reference.key]


def _decode(entry: object) -> Reference:
    parts = cast("list[object]", entry) if isinstance(entry, list) else []
    if parts and all(isinstance(part, str) and part for part in parts):
        match cast("list[str]", parts):
            case ["asset", database_id, asset_id]:
                return AssetRef(database_id, asset_id)
            case ["file", database_id, asset_id, path]:
                return FileRef(database_id, asset_id, path)
            case ["key", database_id, asset_id, key]:
                return FileKeyRef(database_id, asset_id, key)
            case ["object", bucket, key]:
                return ObjectRef(bucket, key)
            case _:
                pass
    raise MalformedReferenceError(f"{entry!r} is not a reference")


@dataclass(eq=False, repr=False)
class QueuedRebuildRequests:
    """Implements the port `core.rebuild_requests.RebuildRequests`.

    A message of the settle queue does not cause another one. Each document is therefore requested
    twice: now, and after the table indexes contain the writes that preceded the request.
    """

    queues: Queues
    settle_delay_seconds: int

    def assets(self, assets: Iterable[AssetRef]) -> None:
        self._send(assets)

    def files(self, database_id: str, asset_id: str, paths: Iterable[str]) -> None:
        self._send(FileRef(database_id, asset_id, path) for path in paths)

    def keys(self, database_id: str, asset_id: str, keys: Iterable[str]) -> None:
        self._send(FileKeyRef(database_id, asset_id, key) for key in keys)

    def _send(self, references: Iterable[Reference]) -> None:
        messages = list(to_messages(references))
        self.queues.send(SETTLE, messages)
        self.queues.send(SETTLE, messages, delay_seconds=self.settle_delay_seconds)
