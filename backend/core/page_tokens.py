"""Sealed page tokens, bound to a query and a caller.

A page that permissions thin out may end at a row which its caller must not know of. So a position
is encrypted, with the signature over it as the nonce (as in RFC 5297): nobody reads it but us, and
what was changed, or is another query's, is refused.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import cast

from backend.core.errors import InvalidInputError
from backend.core.paging import Position
from backend.core.wired import wired

_SIGNATURE_BYTES = 16
_MAX_TOKEN_CHARS = 16_384


@wired
class PageTokens:
    """Issues and reads page tokens; `key` is called when the first one is needed."""

    key: Callable[[], bytes]

    def issue(self, position: Position, *, scope: str) -> str:
        """The token for a position in the list that `scope` (query and caller) names."""
        payload = json.dumps(position, separators=(",", ":"), sort_keys=True).encode()
        signature = self._sign(payload, scope)
        sealed = signature + self._masked(payload, signature)
        return base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def read(self, token: str, *, scope: str, field: str = "startingToken") -> Position:
        """The position in a token, which came in this field of the request.

        Raises:
            InvalidInputError: the token is forged, damaged, or was issued for another query or
                caller.
        """
        refused = InvalidInputError.of(field, "is not a token that this list has issued")
        if len(token) > _MAX_TOKEN_CHARS or not token.isascii():
            raise refused
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise refused from None
        signature = raw[:_SIGNATURE_BYTES]
        payload = self._masked(raw[_SIGNATURE_BYTES:], signature)
        if not hmac.compare_digest(signature, self._sign(payload, scope)):
            raise refused
        return cast("Position", json.loads(payload))

    def _sign(self, payload: bytes, scope: str) -> bytes:
        message = hashlib.sha256(scope.encode()).digest() + payload
        return hmac.new(self.key(), message, hashlib.sha256).digest()[:_SIGNATURE_BYTES]

    def _masked(self, text: bytes, signature: bytes) -> bytes:
        """The text under a stream of bytes that the key and the signature make; twice is once."""
        key = hmac.new(self.key(), b"stream", hashlib.sha256).digest()
        stream = hashlib.shake_256(key + signature).digest(len(text))
        return bytes(a ^ b for a, b in zip(text, stream, strict=True))
