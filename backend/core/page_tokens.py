"""Sealed page tokens, bound to a query and a caller.

A page that is filtered by permissions may end at a row that the caller may not see. So positions
are encrypted with AES-SIV (RFC 5297): clients cannot read them, and a token that was changed or
belongs to another query is rejected. In lists, its length does not reveal that of a position.
"""

import base64
import binascii
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from backend.core.errors import InvalidInputError
from backend.core.paging import Position

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

# The largest tokens are cursors with the values that order a list (`MAX_CURSOR_CHARS`): longer
# texts are refused before they are decoded.
_MAX_TOKEN_CHARS = 16_384
# Bytes to which positions in lists are padded: two ids in UTF-8, or a token of Cognito.
POSITION_BYTES = 1280


@dataclass(eq=False, repr=False)
class PageTokens:
    """Issues and reads page tokens; `key` is called when the first one is needed."""

    key: Callable[[], bytes]

    def issue(self, position: Position, *, scope: str, size: int = 0) -> str:
        """Return the token for a position in the list that `scope` (query and caller) names.

        A position that may be that of a hidden row is padded to `size` bytes. Tokens that name only
        what the caller has seen are as short as possible: several of them share a header.
        """
        text = json.dumps(position, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        # Spaces after a JSON value have no meaning, also to the reader of an earlier release.
        payload = text.encode(errors="surrogatepass").ljust(size)
        sealed = self._cipher().encrypt(payload, [scope.encode()])
        return base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def read(
        self,
        token: str,
        *,
        scope: str,
        field: str = "startingToken",
        fact: str = "is not a page token of this list",
    ) -> Position:
        """Return the position in a token, which was sent in this field of the request.

        `fact` is the error of a token that is refused.

        Raises:
            InvalidInputError: the token is forged, damaged, or was issued for another query or
                caller.
        """
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - see `_cipher`

        refused = InvalidInputError.of(field, fact)
        if len(token) > _MAX_TOKEN_CHARS or not token.isascii():
            raise refused
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
            payload = self._cipher().decrypt(raw, [scope.encode()])
        except (binascii.Error, ValueError, InvalidTag):
            raise refused from None
        return cast("Position", json.loads(payload))

    def _cipher(self) -> "AESSIV":
        """Return the cipher of a key."""
        # Imported here: most invocations encrypt no token (decision 26).
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415

        # Deterministic: the same place in a list has the same token, and no nonce can be used
        # twice.
        return AESSIV(hmac.digest(self.key(), b"page tokens", "sha512"))
