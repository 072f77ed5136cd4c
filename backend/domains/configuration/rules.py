"""The address at which a client reached the API. Pure."""

import re
from collections.abc import Mapping

from backend.core.errors import InvalidInputError

_HOST = re.compile(r"[A-Za-z0-9._\-\[\]:]{1,255}")


def api_url(headers: Mapping[str, str]) -> str:
    """Return the address of the API in this request, ending in a slash.

    Raises:
        InvalidInputError: the host is invalid.
    """
    host = headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise InvalidInputError.of("Host", "is not a valid host name")
    scheme = "http" if headers.get("x-forwarded-proto") == "http" else "https"
    return f"{scheme}://{host}/"
