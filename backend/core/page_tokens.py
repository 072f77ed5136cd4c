"""Opaque, signed page tokens, bound to a query and a caller."""

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
        return base64.urlsafe_b64encode(self._sign(payload, scope) + payload).decode().rstrip("=")

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
        signature, payload = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._sign(payload, scope)):
            raise refused
        return cast("Position", json.loads(payload))

    def _sign(self, payload: bytes, scope: str) -> bytes:
        message = hashlib.sha256(scope.encode()).digest() + payload
        return hmac.new(self.key(), message, hashlib.sha256).digest()[:_SIGNATURE_BYTES]
