"""The port to documents that others publish. `backend/aws/documents.py` fetches them."""

from typing import Protocol


class Documents(Protocol):
    def read(self, url: str) -> bytes:
        """The document at this address.

        Raises:
            UnavailableError: it was not told whole, in time and without leading elsewhere.
        """
        ...
