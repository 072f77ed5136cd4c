"""The URLs of one upload's parts: those the server returned, and new ones when they expire."""

import threading
from typing import Final

from vitrine.client import Vitrine
from vitrine.errors import ProtocolError
from vitrine.models import PartUrl

MAX_REPLY_URLS: Final = 3_000  # the API's limit of part URLs in one reply
# Number of parts whose URLs one request returns. They are uploaded before the URLs expire.
AHEAD: Final = 500


class PartUrls:
    """Safe to share between threads; one of them requests, the others wait for its result."""

    def __init__(self, client: Vitrine, upload_id: str, counts: dict[str, int]) -> None:
        """Store the numbers of parts by file in `counts`."""
        self._client = client
        self._upload_id = upload_id
        self._counts = counts
        self._urls: dict[tuple[str, int], str] = {}
        self._lock = threading.Lock()

    def add(self, key: str, count: int, urls: tuple[PartUrl, ...]) -> None:
        """Add a file with its number of parts, and the URLs that are known already."""
        with self._lock:
            self._counts[key] = count
            self._urls.update({(key, part.part_number): part.upload_url for part in urls})

    def url(self, key: str, number: int, *, refused: str | None = None) -> str:
        """Return the URL of a part; another one than was `refused`.

        Raises:
            ApiError: the server returns none.
            ProtocolError: it returns others, or the refused one.
        """
        with self._lock:
            known = self._urls.get((key, number))
            if known is not None and known != refused:
                return known
            # From this part on: earlier ones are sent already, as parts start in order.
            last = min(number + AHEAD, self._counts[key] + 1)
            renewal = self._client.uploads.renew(self._upload_id, {key: list(range(number, last))})
            for file in renewal.files:
                for part in file.part_upload_urls:
                    self._urls[key, part.part_number] = part.upload_url
            address = self._urls.get((key, number))
            if address is None or address == refused:
                raise ProtocolError(f"the server returned no URL for part {number} of {key}")
            return address
