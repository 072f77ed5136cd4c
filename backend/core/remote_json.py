"""The port to JSON documents of identity providers. `backend/aws/remote_json.py` implements it."""

from typing import Protocol


class RemoteJson(Protocol):
    def read(self, url: str) -> bytes:
        """Return the content of the document at a URL.

        Raises:
            UnavailableError: the server did not return the whole document in time, or redirects.
        """
        ...
