"""The addresses of viewers whose requests come through the page's distribution."""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.core.clock import Clock
from backend.core.errors import UnavailableError
from backend.spec.page import PROOF_HEADER, VIEWER_HEADER

_REREAD_AFTER = timedelta(minutes=1)  # for a proof that does not match
_KNOWN_FOR = timedelta(minutes=10)


@dataclass(eq=False, repr=False)
class ViewerAddresses:
    """Determines the address of who sent a request, also if CloudFront forwarded it.

    CloudFront sends a secret as proof; anyone may send the header with the viewer's address.
    """

    read_keys: Callable[[], frozenset[str]]
    """Reads the secret's current and previous values."""
    clock: Clock
    _keys: frozenset[str] = frozenset()
    _read_at: datetime | None = None

    def address_of(self, headers: Mapping[str, str], source: str) -> str:
        """Return the viewer's address; without a valid proof that of the connection, `source`.

        Raises:
            UnavailableError: the secret cannot be read.
        """
        return headers.get(VIEWER_HEADER, source) if self.is_proven(headers) else source

    def is_proven(self, headers: Mapping[str, str]) -> bool:
        """Return whether the request came through the distribution.

        Raises:
            UnavailableError: the secret cannot be read.
        """
        proof = headers.get(PROOF_HEADER)
        if proof is None:
            return False
        # The secret may have been rotated: values before the previous one end in a bounded time.
        # Forged proofs must not read it with each request.
        now, known_for = self.clock(), _KNOWN_FOR if self._matches(proof) else _REREAD_AFTER
        if self._read_at is None or now - self._read_at >= known_for:
            try:
                self._keys = self.read_keys()
            except UnavailableError:
                # It ends no proof that matched before.
                if not self._matches(proof):
                    raise
            self._read_at = now
        return self._matches(proof)

    def _matches(self, proof: str) -> bool:
        sent = proof.encode(errors="surrogatepass")
        return any(hmac.compare_digest(sent, key.encode()) for key in self._keys)
