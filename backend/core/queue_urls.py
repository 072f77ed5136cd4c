"""Parses the URLs of queues. Pure."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

# The last two are the hosts of the local runtime's queues, whose URLs may begin with a path.
_HOST = re.compile(r"sqs\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?|127\.0\.0\.1|localhost")


class QueuePlace(NamedTuple):
    """A queue's region (None on this machine), account and name."""

    region: str | None
    account: str
    name: str


def queue_place(url: str) -> QueuePlace | None:
    """Parse the URL of a queue; None for any other host. Messages are sent to queue hosts only."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    host, path = _HOST.fullmatch(parts.hostname or ""), parts.path.strip("/").split("/")
    if host is None or len(path) not in ((2,) if host[1] else (2, 3)):
        return None
    return QueuePlace(host[1], *path[-2:])
