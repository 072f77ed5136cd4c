"""Generators of ids, which are passed to services. Only this module creates random ids."""

import hashlib
import secrets
from collections.abc import Callable
from datetime import datetime
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5  # noqa: TID251 - this is the one place

NewId = Callable[[], str]


def new_uuid() -> str:
    """Return a random UUID, for asset links, API keys, buckets and jobs."""
    return str(uuid4())


def new_asset_id() -> str:
    """Return `x` and a UUID, as VAMS does."""
    return "x" + new_uuid()


def new_upload_id() -> str:
    """Return `y` and a UUID, as VAMS does."""
    return "y" + new_uuid()


def new_secret() -> str:
    """Return 48 random bytes as 64 URL-safe characters."""
    return secrets.token_urlsafe(48)


def new_suffix() -> str:
    """Return 8 characters that distinguish events of one object in one microsecond."""
    return secrets.token_hex(4)


def new_write_id() -> str:
    """Return 16 characters (96 random bits) that identify one write of an item."""
    return secrets.token_urlsafe(12)


def stable_uuid(name: str) -> str:
    """Return the UUID of a name, the same in every deployment, for rows that bootstrap creates."""
    return str(uuid5(NAMESPACE_URL, f"vitrine:{name}"))


def ordered_uuid(at: datetime, name: str | None = None) -> str:
    """Return a UUID (version 7) that begins with its time, so that ids are ordered by time.

    With a name, the result is the same in every deployment; otherwise it is random.
    """
    rest = secrets.token_bytes(10) if name is None else hashlib.sha256(name.encode()).digest()[:10]
    milliseconds = int(at.timestamp() * 1000).to_bytes(6, "big")
    raw = milliseconds + rest
    version, variant = 0x70 | raw[6] & 0x0F, 0x80 | raw[8] & 0x3F
    return str(UUID(bytes=(raw[:6] + bytes([version, raw[7], variant]) + raw[9:])))
