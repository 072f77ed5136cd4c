"""The port to the trail of reads: who was given bytes, presigned URLs or an export of what.

Services return the facts, and `http.app` reports them before it replies: what cannot be reported is
not given.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from backend.core.identity import Identity

REQUEST_PARAMETER = "x-vitrine-request"
"""Of presigned URLs: the id of the request that issued them."""


class ReadAsset(NamedTuple):
    """An asset of a read, and the paths of its files whose bytes or URLs the caller is given."""

    database_id: str
    asset_id: str
    files: tuple[str, ...] = ()


class Read(NamedTuple):
    """What one request gives its caller.

    `urls`: presigned URLs of the files, to get them or to put their parts. A read that is `hourly`
    has one entry an hour for its caller and file, however often it is repeated.
    """

    assets: tuple[ReadAsset, ...]
    urls: bool = False
    hourly: bool = False


class Reads(Protocol):
    """Where reads are reported."""

    def record(self, caller: Identity, operation: str, request_id: str, read: Read) -> None:
        """Report a read by the name of its route.

        Raises:
            UnavailableError: it cannot be reported now.
        """
        ...


class CurrentRequest:
    """The id of the request that is being served: a function serves one at a time."""

    def __init__(self) -> None:
        self.id = ""


class LateReads:
    """Built by the first read: other requests do not load what reports them."""

    def __init__(self, make: Callable[[], Reads]) -> None:
        self._make = make
        self._made: Reads | None = None

    def record(self, caller: Identity, operation: str, request_id: str, read: Read) -> None:
        self._made = self._made or self._make()
        self._made.record(caller, operation, request_id, read)


class UnrecordedReads:
    """Where the setting `auditReads` is off."""

    def record(self, caller: Identity, operation: str, request_id: str, read: Read) -> None:
        """Report nothing."""
