"""The port to OpenSearch. `backend/aws/search_engine.py` implements it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from backend.core.errors import GoneError, UnavailableError

JsonObject = dict[str, Any]


class DocumentRef(NamedTuple):
    """A document, by its index and its id. Ids in two indexes may be equal."""

    index_name: str
    id: str


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """One document to index under an external version; `body` is its JSON text.

    The text is created once, by the writer, which also needs its size and hash.
    """

    index: str
    id: str
    version: int
    body: str


@dataclass(frozen=True, slots=True)
class DocumentRemoval:
    """One document to remove, unless its stored version is higher than this one."""

    index: str
    id: str
    version: int


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """The result of one write: HTTP status and, if it failed, the reason.

    `current_version` is the stored version of a conflict (409), if OpenSearch reports it.
    """

    index: str
    id: str
    status: int
    reason: str = ""
    current_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A range of documents in the byte order of some keyword fields, without tombstones.

    `equal` are fixed values of some fields. The range begins after `above`, a value for each field
    of `order`, and ends with `up_to`, the last value of the first field.
    """

    order: tuple[str, ...]
    equal: Mapping[str, str] = field(default_factory=dict[str, str])
    above: tuple[str, ...] | None = None
    up_to: str | None = None
    limit: int = 1000


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored document; `place` is the position after it in a range."""

    id: str
    body: JsonObject
    place: tuple[str, ...]


class PointInTimeGoneError(GoneError):
    """The point in time of a search was closed or has expired."""

    code = "PointInTimeGone"

    def __init__(self) -> None:
        super().__init__("The point in time has expired")


class TooManyPointsInTimeError(UnavailableError):
    """The OpenSearch cluster has reached its limit of open points in time."""

    code = "TooManyPointsInTime"

    def __init__(self) -> None:
        super().__init__("OpenSearch has reached its limit of open points in time; try again later")


class SearchEngine(Protocol):
    """A search cluster. All may raise UnavailableError (no connection, 429, 5xx)."""

    def bulk(self, writes: Sequence[DocumentWrite]) -> list[DocumentResult]:
        """Index documents in one request with `version_type=external`; return the results in order.

        Raises:
            InvalidInputError: OpenSearch rejects the request as a whole.
            TooLargeError: the request is larger than OpenSearch accepts.
        """
        ...

    def remove(self, removals: Sequence[DocumentRemoval]) -> list[DocumentResult]:
        """Remove documents in one request, each up to its version; return the results in order.

        The status is 404 for a missing document, and 409 for one with a higher version.
        """
        ...

    def search(self, indexes: Sequence[str], body: JsonObject, *, copy: str = "") -> JsonObject:
        """Search indexes. A shard that does not respond is an outage.

        Searches with the same `copy` (any text) are served by the same copy of each shard.

        Raises:
            InvalidInputError: OpenSearch rejects the query.
        """
        ...

    def open_point_in_time(self, indexes: Sequence[str], *, seconds: int) -> str:
        """Keep the current content of indexes for that many seconds; return the id to search it.

        Raises:
            TooManyPointsInTimeError: the cluster has reached its limit.
        """
        ...

    def points_in_time(self) -> frozenset[str]:
        """Return the ids of all open points in time of the cluster."""
        ...

    def search_at(self, point_in_time: str, body: JsonObject, *, seconds: int) -> JsonObject:
        """Search a point in time, and extend it by that many seconds.

        Raises:
            InvalidInputError: OpenSearch rejects the query.
            PointInTimeGoneError: the point in time no longer exists.
        """
        ...

    def close_point_in_time(self, point_in_time: str) -> None:
        """Close a point in time; no effect if it no longer exists."""
        ...

    def stretch(self, index: str, wanted: Stretch) -> list[StoredDocument]:
        """Return documents with their ids, names and hash, as far as searches can find them now."""
        ...

    def mapping(self, index: str) -> JsonObject: ...

    def analysis(self, index: str) -> JsonObject:
        """Return the analysis of texts of an index, with texts for all values."""
        ...

    def create_index(self, name: str, *, mapping: JsonObject, settings: JsonObject) -> bool:
        """Create an index; return False if it exists."""
        ...

    def drop_index(self, name: str) -> bool:
        """Remove an index with its documents; return False if it does not exist."""
        ...

    def point_alias(self, alias: str, index: str) -> None:
        """Let the alias name only this index, in one step. Its indexes are named `<alias>-…`."""
        ...

    def tune_index(self, index: str, settings: JsonObject) -> str | None:
        """Change dynamic settings of an index; if the service refuses them, return its reason."""
        ...

    def limit_memory(self, limits: Mapping[str, str]) -> str | None:
        """Set circuit breakers of the cluster, by the names that OpenSearch gives them.

        If the service refuses them, return its reason.
        """
        ...

    def refresh(self, indexes: Sequence[str]) -> None: ...
