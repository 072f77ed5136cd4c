"""Sealed page tokens, bound to a query and a caller.

A page that permissions thin out may end at a row which its caller must not know of. So a position
is encrypted, with AES-SIV (RFC 5297): nobody reads it but us, and what was changed, or is another
query's, is refused.
"""

import base64
import binascii
import hmac
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from backend.core.errors import InvalidInputError
from backend.core.paging import Position
from backend.core.wired import wired

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

_MAX_TOKEN_CHARS = 16_384


@wired
class PageTokens:
    """Issues and reads page tokens; `key` is called when the first one is needed."""

    key: Callable[[], bytes]

    def issue(self, position: Position, *, scope: str) -> str:
        """The token for a position in the list that `scope` (query and caller) names."""
        payload = json.dumps(position, separators=(",", ":"), sort_keys=True).encode()
        sealed = self._cipher().encrypt(payload, [scope.encode()])
        return base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def read(self, token: str, *, scope: str, field: str = "startingToken") -> Position:
        """The position in a token, which came in this field of the request.

        Raises:
            InvalidInputError: the token is forged, damaged, or was issued for another query or
                caller.
        """
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - see `_cipher`

        refused = InvalidInputError.of(field, "is not a page token of this list")
        if len(token) > _MAX_TOKEN_CHARS or not token.isascii():
            raise refused
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
            payload = self._cipher().decrypt(raw, [scope.encode()])
        except (binascii.Error, ValueError, InvalidTag):
            raise refused from None
        return cast("Position", json.loads(payload))

    def _cipher(self) -> "AESSIV":
        """The cipher of a key of its own; most runs of a function need none, so it loads here."""
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415

        return AESSIV(hmac.digest(self.key(), b"page tokens", "sha512"))
