"""Converts reads to messages, and messages to entries. Pure.

Separate from the other rules, which every function that writes entries loads.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from backend.core.clock import epoch_seconds, iso
from backend.core.reads import Read, ReadAsset
from backend.domains.audit.models import Entry, ReadFacts, read_entity
from backend.domains.audit.models.reads import ReadMessage, ReadOfAsset
from backend.domains.audit.rules import SEPARATOR, encoded

# The number of all files is in the entry; its paths are an example (decision 15).
FILES_OF_ASSET = 100
PATHS_OF_ASSET, PATHS_OF_READ = 16_000, 48_000
"""Bytes of JSON. The first keeps an entry small, the second leaves room for ids in a message."""
# A message may have 240,000 bytes.
MESSAGE_BYTES = 200_000


def hour_of(at: datetime) -> datetime:
    """Return the beginning of the hour."""
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def read_messages(
    user_id: str, operation: str, request_id: str, read: Read, at: datetime
) -> list[ReadMessage]:
    """Return the messages of a read: one, unless the ids of its assets exceed a message."""
    room = PATHS_OF_READ
    parts: list[list[ReadOfAsset]] = []
    size = MESSAGE_BYTES
    for part, (database_id, asset_id, paths) in _numbered(read):
        # The key of an hourly entry is a hash of its paths, so all of them are named.
        if (read.hourly or read.all_named) and sum(map(_path_bytes, paths)) > room:
            parts.append([])
            size, room = 0, PATHS_OF_READ
        files, room = _first(paths, room)
        asset = ReadOfAsset(
            database_id=database_id,
            asset_id=asset_id,
            files=files,
            file_count=len(paths),
            part=part,
        )
        more = len(json.dumps(asset.model_dump(by_alias=True)))
        if size + more > MESSAGE_BYTES:
            parts.append([])
            size = 0
        size += more
        parts[-1].append(asset)
    return [
        ReadMessage(
            user_id=user_id,
            operation=operation,
            request_id=request_id,
            at=at,
            urls=read.urls,
            hourly=read.hourly,
            assets=assets,
        )
        for assets in parts
    ]


def _numbered(read: Read) -> Iterator[tuple[int, ReadAsset]]:
    """Yield the assets of a read; one whose files are all named, in parts that fit an entry."""
    for asset in read.assets:
        part, rest = 0, asset.files
        while read.all_named and len(rest) > len(first := _first(rest, PATHS_OF_ASSET)[0]) > 0:
            yield part, asset._replace(files=tuple(first))
            part, rest = part + 1, rest[len(first) :]
        yield part, asset._replace(files=rest)


def _path_bytes(path: str) -> int:
    return len(json.dumps(path)) + 1


def _first(paths: Sequence[str], room: int) -> tuple[list[str], int]:
    """Return the first paths that fit an entry and its message, and the remaining room."""
    kept: list[str] = []
    left = min(room, PATHS_OF_ASSET)
    for path in paths[:FILES_OF_ASSET]:
        size = _path_bytes(path)
        if size > left:
            break
        left -= size
        room -= size
        kept.append(path)
    return kept, room


def read_entries(message: ReadMessage, kept_for: timedelta) -> Iterator[Entry]:
    """Return the entries of a message, with the same keys at each delivery.

    The entry of an hourly read has the key of every such read of the user in that hour.
    """
    for asset in message.assets:
        at, suffix = message.at, message.request_id
        if asset.part:
            suffix = f"{suffix}.{asset.part}"
        if message.hourly:
            at = hour_of(message.at)
            suffix = hashlib.sha256(
                encoded([message.user_id, message.operation, asset.files])
            ).hexdigest()
        yield Entry(
            entity=read_entity(asset.database_id, asset.asset_id),
            at=iso(at) + SEPARATOR + suffix,
            user_id=message.user_id,
            operation=message.operation,
            changes={},
            read=ReadFacts(
                request_id=message.request_id,
                urls=message.urls,
                files=asset.files,
                file_count=asset.file_count,
                first_at=iso(message.at) if message.hourly else None,
            ),
            expires_at=epoch_seconds(message.at + kept_for),
        )
