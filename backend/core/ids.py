"""Generated ids, as something that is passed in. The one place that makes random ids."""

import secrets
from collections.abc import Callable
from uuid import NAMESPACE_URL, uuid4, uuid5  # noqa: TID251 - this is the one place

NewId = Callable[[], str]


def new_uuid() -> str:
    """A random UUID: asset links, API keys, buckets, jobs."""
    return str(uuid4())


def new_asset_id() -> str:
    """`x` and a UUID, as VAMS makes them."""
    return "x" + new_uuid()


def new_upload_id() -> str:
    """`y` and a UUID, as VAMS makes them."""
    return "y" + new_uuid()


def new_secret() -> str:
    """48 random bytes as 64 URL-safe characters."""
    return secrets.token_urlsafe(48)


def new_suffix() -> str:
    """8 characters that tell apart what happened to one thing in one microsecond."""
    return secrets.token_hex(4)


def new_write_id() -> str:
    """16 characters (96 random bits) that identify one write of an item."""
    return secrets.token_urlsafe(12)


def stable_uuid(name: str) -> str:
    """The same UUID for the same name, in every deployment: rows that bootstrap makes."""
    return str(uuid5(NAMESPACE_URL, f"vitrine:{name}"))
