"""The port to OpenSearch. `backend/aws/search_engine.py` implements it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from backend.core.errors import GoneError, UnavailableError

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """One document to index under an external version; `body` is its JSON text.

    The text is made once, by the writer, who needs its size and its hash as well.
    """

    index: str
    id: str
    version: int
    body: str


@dataclass(frozen=True, slots=True)
class DocumentRemoval:
    """One document to remove, unless a higher version than this one stands there."""

    index: str
    id: str
    version: int


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """What became of one write: HTTP status and, if it failed, the reason.

    `current_version` is the stored version that a conflict (409) met, if the engine reports it.
    """

    index: str
    id: str
    status: int
    reason: str = ""
    current_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Documents in the order of some keyword fields, in the order of bytes; no tombstones.

    `equal` are the values that some fields have; `above` is the place to begin after, a value for
    each field of `order`; `up_to` is the last value of the first of them that is wanted.
    """

    order: tuple[str, ...]
    equal: Mapping[str, str] = field(default_factory=dict[str, str])
    above: tuple[str, ...] | None = None
    up_to: str | None = None
    limit: int = 1000


@dataclass(frozen=True, slots=True)
class StandingDocument:
    """A document as it stands in an index; `place` is where a stretch goes on after it."""

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
        """Index documents in one request, each with `version_type=external`; results in order.

        Raises:
            InvalidInputError: OpenSearch refuses the request as a whole.
            TooLargeError: the request is larger than it takes.
        """
        ...

    def remove(self, removals: Sequence[DocumentRemoval]) -> list[DocumentResult]:
        """Remove documents in one request, each up to its version; results in order.

        404 is the status of one that is not there, 409 of one that has a higher version.
        """
        ...

    def search(self, indexes: Sequence[str], body: JsonObject, *, copy: str = "") -> JsonObject:
        """One search over some indexes; a part of them that does not answer is an outage.

        Searches with the same `copy`, any text, are answered by the same copy of each shard.

        Raises:
            InvalidInputError: OpenSearch refuses the query.
        """
        ...

    def open_point_in_time(self, indexes: Sequence[str], *, seconds: int) -> str:
        """Keep what the indexes hold now for that many seconds; answers with its id.

        Raises:
            TooManyPointsInTimeError: no more can be kept now.
        """
        ...

    def points_in_time(self) -> frozenset[str]:
        """The ids of all points in time that the cluster keeps now."""
        ...

    def search_at(self, point_in_time: str, body: JsonObject, *, seconds: int) -> JsonObject:
        """One search over what a point in time holds, which is kept for that long from now.

        Raises:
            InvalidInputError: OpenSearch refuses the query.
            PointInTimeGoneError: it is there no more.
        """
        ...

    def close_point_in_time(self, point_in_time: str) -> None:
        """Let go of a point in time; one that is there no more is no error."""
        ...

    def stretch(self, index: str, wanted: Stretch) -> list[StandingDocument]:
        """Documents with their ids, names and hash, as far as they can be searched by now."""
        ...

    def mapping(self, index: str) -> JsonObject: ...

    def create_index(self, name: str, *, mapping: JsonObject, settings: JsonObject) -> bool:
        """Make an index; False if it is there already."""
        ...

    def drop_index(self, name: str) -> bool:
        """Remove an index with all that is in it; False if it is gone already."""
        ...

    def point_alias(self, alias: str, index: str) -> None:
        """Let the alias name only this index, in one step; its indexes are named `<alias>-…`."""
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
