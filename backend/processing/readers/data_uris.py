"""Files that are embedded in a text as `data:` URIs."""

import base64
import binascii
from urllib.parse import unquote_to_bytes

from backend.processing.scene import RefusedError


def data_of(uri: str) -> bytes:
    """Return the content of a `data:` URI.

    Raises:
        RefusedError: the content is not valid base64.
    """
    head, _, text = uri.partition(",")
    if not head.endswith(";base64"):
        return unquote_to_bytes(text)
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise RefusedError("an embedded file is not valid base64") from None
