"""The port to the audit log of reads: who received which bytes, presigned URLs or exports.

Services return the facts, and `http.app` reports them before it replies: a read that cannot be
reported is refused.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from backend.core.identity import Identity

REQUEST_PARAMETER = "x-vitrine-request"
"""Query parameter of presigned URLs: the id of the request that issued them."""


class ReadAsset(NamedTuple):
    """An asset of a read, and the paths of its files whose bytes or URLs the caller receives."""

    database_id: str
    asset_id: str
    files: tuple[str, ...] = ()


class Read(NamedTuple):
    """The data that one request returns to its caller, as recorded in the audit log.

    `urls`: presigned URLs of the files, to get them or to put their parts. A read that is `hourly`
    has one entry an hour for its caller and file, however often it is repeated. If `all_named`, the
    entries name every file, however many entries that takes.
    """

    assets: tuple[ReadAsset, ...]
    urls: bool = False
    hourly: bool = False
    all_named: bool = False


class Reads(Protocol):
    """Records reads."""

    def record(self, caller: Identity, operation: str, request_id: str, read: Read) -> None:
        """Record a read under the name of its route.

        Raises:
            UnavailableError: the read cannot be recorded now.
        """
        ...


class CurrentRequest:
    """The id of the request that is being served; a function serves one request at a time."""

    def __init__(self) -> None:
        self.id = ""


class LateReads:
    """Created at the first read, so that other requests do not load it."""

    def __init__(self, make: Callable[[], Reads]) -> None:
        self._make = make
        self._made: Reads | None = None

    def record(self, caller: Identity, operation: str, request_id: str, read: Read) -> None:
        self._made = self._made or self._make()
        self._made.record(caller, operation, request_id, read)


class UnrecordedReads:
    """Records nothing, because the setting `auditReads` is off."""

    def record(self, caller: Identity, operation: str, request_id: str, read: Read) -> None:
        """Do nothing."""
