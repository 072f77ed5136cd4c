"""Transfers content of files to and from the object storage, by presigned URLs.

A URL contains its permission, so no credentials are sent here. Memory use is constant: parts are
read from the file as they are sent, and received content is passed on in pieces.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from vitrine.errors import IntegrityError, ProtocolError, UnreachableError, VitrineError
from vitrine.retry import Pauses, RetryPolicy, retry_after_seconds

# Sent or received at once, so that progress is shown and little memory is used.
PIECE: Final = 1024 * 1024
# For each read and write, not for a whole part. `pool=None`: parts wait for a connection as long as
# others take.
TIMEOUT: Final = httpx.Timeout(60.0, connect=5.0, pool=None)


class StorageError(VitrineError):
    """The storage rejected a presigned request."""

    def __init__(self, status: int, detail: str) -> None:
        self.status = status
        super().__init__(f"the object store rejected the request with {status}: {detail}")


@dataclass(frozen=True, kw_only=True)
class Slice:
    """A range of a local file."""

    path: Path
    offset: int
    length: int

    def pieces(self, moved: Callable[[int], None]) -> Iterator[bytes]:
        """Yield the bytes in pieces.

        Raises:
            IntegrityError: the file is shorter than when it was measured.
        """
        left = self.length
        with self.path.open("rb") as file:
            file.seek(self.offset)
            while left:
                piece = file.read(min(PIECE, left))
                if not piece:
                    raise IntegrityError(f"{self.path} became shorter while being read")
                left -= len(piece)
                yield piece
                moved(len(piece))


class Storage:
    """Sends and receives content; safe to share between threads."""

    def __init__(
        self,
        *,
        http: httpx.BaseTransport | None = None,
        retry: RetryPolicy | None = None,
        pauses: Pauses | None = None,
    ) -> None:
        self._retry = retry or RetryPolicy()
        self._pauses = pauses or Pauses()
        self._client = httpx.Client(
            transport=http or httpx.HTTPTransport(retries=1),
            timeout=TIMEOUT,
            follow_redirects=False,
        )

    def close(self) -> None:
        self._client.close()

    def put(self, url: str, part: Slice, *, moved: Callable[[int], None] = lambda _: None) -> str:
        """Store a part and return its ETag without quotes.

        `moved` is called with the number of bytes sent, and with the negative sum after a failed
        attempt.

        Raises:
            StorageError: the request was rejected permanently.
            UnreachableError: no response.
            IntegrityError: the file is shorter than expected.
        """
        attempt, began = 0, self._pauses.clock()
        while True:
            attempt += 1
            last = attempt >= self._retry.attempts
            sent = _Count(moved)
            try:
                response = self._client.put(
                    url,
                    content=part.pieces(sent) if part.length else b"",
                    # A presigned request cannot have chunked encoding, which a generator would get.
                    headers={"Content-Length": str(part.length)},
                )
            except httpx.InvalidURL as error:
                raise ProtocolError(
                    f"the server returned an unusable storage URL: {error}"
                ) from error
            except httpx.RequestError as error:
                sent.subtract()
                if last or not self._retry.tries_error_again(error, repeatable=True):
                    raise UnreachableError(f"the object store does not respond: {error}") from error
                fact = "the object store does not respond"
                self._pauses.wait(self._retry.delay(attempt), since=began, fact=fact)
                continue
            if response.is_success:
                return _etag(response)
            sent.subtract()
            if last or not self._retry.tries_status_again(response.status_code, repeatable=True):
                raise StorageError(response.status_code, _detail(response.text))
            delay = self._retry.delay(attempt, retry_after_seconds(response))
            fact = f"the object store is busy (status {response.status_code})"
            self._pauses.wait(delay, since=began, fact=fact)

    @contextmanager
    def get(self, url: str, *, start: int = 0, end: int | None = None) -> Generator[httpx.Response]:
        """Make one attempt to receive bytes from a position, up to the one before `end`.

        The reply is 200 (whole) or 206 (a part).

        Raises:
            StorageError: the request was rejected.
            UnreachableError: no response, or the connection broke.
        """
        # Bytes are counted and resumed as they are stored, so nothing may be compressed on the way.
        headers = {"Accept-Encoding": "identity"}
        if start or end is not None:
            headers["Range"] = f"bytes={start}-" + ("" if end is None else str(end - 1))
        try:
            with self._client.stream("GET", url, headers=headers) as response:
                if not response.is_success:
                    response.read()
                    raise StorageError(response.status_code, _detail(response.text))
                yield response
        except httpx.InvalidURL as error:
            raise ProtocolError(f"the server returned an unusable storage URL: {error}") from error
        except httpx.RequestError as error:
            raise UnreachableError(f"the object store does not respond: {error}") from error


class _Count:
    """Reports progress, and can undo it."""

    def __init__(self, moved: Callable[[int], None]) -> None:
        self._moved = moved
        self._sum = 0

    def __call__(self, size: int) -> None:
        self._sum += size
        self._moved(size)

    def subtract(self) -> None:
        if self._sum:
            self._moved(-self._sum)
        self._sum = 0


def _etag(response: httpx.Response) -> str:
    etag = response.headers.get("ETag", "").strip('"')
    if not etag:
        raise ProtocolError("the object store returned no ETag for a part")
    return etag


def _detail(text: str) -> str:
    """Return the storage's own error text on one line, shortened."""
    return " ".join(text.split())[:300] or "no reason given"
