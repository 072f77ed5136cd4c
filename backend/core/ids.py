"""Generated ids, as something that is passed in. The one place that makes random ids."""

from collections.abc import Callable
from uuid import uuid4  # noqa: TID251 - this is the one place

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
