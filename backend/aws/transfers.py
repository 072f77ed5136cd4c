"""Files by presigned URLs, for a function without permissions."""

from collections.abc import Mapping
from pathlib import Path

import urllib3
from urllib3.exceptions import HTTPError

# Read at once of a body, so that memory does not depend on the size of the file.
_BLOCK = 1 << 20
_OK, _WRITTEN_BEFORE = 200, 412
_SCHEMES = ("https://", "http://")  # without TLS only locally


class TransferError(Exception):
    """A URL could not be read or written; the message is the reason."""


class UrlTransfers:
    """Reads and writes presigned URLs of S3."""

    def __init__(self) -> None:
        again = urllib3.Retry(3, backoff_factor=0.5, status_forcelist=(500, 503), redirect=0)
        self._pool = urllib3.PoolManager(
            retries=again, timeout=urllib3.Timeout(connect=5, read=30), maxsize=4
        )

    def download(self, url: str, destination: Path, *, most_bytes: int) -> None:
        _check(url)
        try:
            response = self._pool.request("GET", url, preload_content=False)
            try:
                if response.status != _OK:
                    raise TransferError(f"a file cannot be read: status {response.status}")
                self._save(response, destination, most_bytes)
            finally:
                response.release_conn()
        except HTTPError as error:
            raise TransferError(f"a file cannot be read: {type(error).__name__}") from error

    def upload(self, source: Path, url: str, headers: Mapping[str, str]) -> None:
        _check(url)
        size = str(source.stat().st_size)
        try:
            with source.open("rb") as file:
                response = self._pool.request(
                    "PUT", url, body=file, headers={**headers, "Content-Length": size}
                )
        except HTTPError as error:
            raise TransferError(f"an output cannot be written: {type(error).__name__}") from error
        # An attempt whose reply was lost has written it: the URL writes once.
        if response.status not in {_OK, _WRITTEN_BEFORE}:
            raise TransferError(f"an output cannot be written: status {response.status}")

    @staticmethod
    def _save(response: urllib3.BaseHTTPResponse, destination: Path, most_bytes: int) -> None:
        size = 0
        with destination.open("wb") as file:
            for block in response.stream(_BLOCK):
                size += len(block)
                if size > most_bytes:
                    raise TransferError(f"a file has more than the expected {most_bytes} bytes")
                file.write(block)


def _check(url: str) -> None:
    if not url.startswith(_SCHEMES):
        raise TransferError("not a URL of S3")
