"""Under which address a client reached the API. Nothing is read here."""

import re
from collections.abc import Mapping

from backend.core.errors import InvalidInputError

_HOST = re.compile(r"[A-Za-z0-9._\-\[\]:]{1,255}")


def api_url(headers: Mapping[str, str]) -> str:
    """The address of the API as this request names it, ending in a slash.

    Raises:
        InvalidInputError: the host is none.
    """
    host = headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise InvalidInputError.of("Host", "is not a valid host name")
    scheme = "http" if headers.get("x-forwarded-proto") == "http" else "https"
    return f"{scheme}://{host}/"
