"""The port to OpenSearch. `backend/aws/search_engine.py` implements it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

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

    `current_version` is the stored version that a conflict (409) met, where the engine tells it.
    """

    index: str
    id: str
    status: int
    reason: str = ""
    current_version: int | None = None


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

    def search(self, indexes: Sequence[str], body: JsonObject) -> JsonObject:
        """One search over some indexes.

        Raises:
            InvalidInputError: OpenSearch refuses the query.
        """
        ...

    def mapping(self, index: str) -> JsonObject: ...

    def create_index(self, name: str, *, mapping: JsonObject, settings: JsonObject) -> bool:
        """Make an index; False if it is there already."""
        ...

    def point_alias(self, alias: str, index: str) -> None:
        """Let the alias name just this index, in one step."""
        ...

    def refresh(self, indexes: Sequence[str]) -> None: ...
