"""The ticket counter and the names of the indexes that are written and read (one item).

Nothing here knows what a ticket is used for: see `rebuild`.
"""

from datetime import datetime
from typing import cast

from backend.core.clock import Clock
from backend.core.errors import AlreadyExistsError, UnavailableError
from backend.core.tables import Tables
from backend.core.transactions import Item, Update, absent
from backend.core.wired import wired
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, SearchIndex
from backend.spec.tables.operations import SEARCH_STATE
from backend.values import frozen

KEY = {"stateKey": "search"}
_NUMBER = "n"


class SearchNotSetUpError(UnavailableError):
    """Bootstrap has not named the indexes yet; whoever asks tries again later."""

    code = "SearchNotSetUp"

    def __init__(self) -> None:
        super().__init__("The search indexes are not set up yet")


@frozen
class Pointer:
    """Physical names: the index that is read, and all that are written, of each search index."""

    assets_read: str
    assets_write: tuple[str, ...]
    files_read: str
    files_write: tuple[str, ...]

    def targets(self, index: SearchIndex) -> tuple[str, ...]:
        """The physical indexes that a document of `index` is written to."""
        return self.assets_write if index is ASSET_INDEX else self.files_write

    def current(self, index: SearchIndex) -> str:
        """The physical index that searches over `index` read."""
        return self.assets_read if index is ASSET_INDEX else self.files_read


FIRST_POINTER = Pointer(
    ASSET_INDEX.first_name,
    (ASSET_INDEX.first_name,),
    FILE_INDEX.first_name,
    (FILE_INDEX.first_name,),
)


@frozen
class Ticket:
    """A number higher than every one given before, when it was taken, where to write under it."""

    number: int
    pointer: Pointer
    taken_at: datetime


@wired
class SearchState:
    tables: Tables
    clock: Clock

    def take_ticket(self) -> Ticket:
        """A new ticket and, from the same atomic write, the indexes to write to.

        A counter that was lost starts at the time in milliseconds, which is above every ticket
        ever given as long as there are fewer than a thousand a second.

        Raises:
            SearchNotSetUpError: the item names no indexes.
        """
        now = self.clock()
        now_ms = int(now.timestamp() * 1000)
        item = self.tables.increment(SEARCH_STATE, KEY, _NUMBER, initial=now_ms)
        return Ticket(int(item[_NUMBER]), _pointer(item), now)

    def last_ticket(self) -> int:
        """The highest ticket given so far; 0 if there was none."""
        item = self.tables.get(SEARCH_STATE, KEY) or {}
        return int(item.get(_NUMBER, 0))

    def pointer(self) -> Pointer:
        """The names of the indexes.

        Raises:
            SearchNotSetUpError: the item names none.
        """
        return _pointer(self.tables.get(SEARCH_STATE, KEY) or {})

    def begin(self, pointer: Pointer) -> Pointer:
        """Name the indexes, unless that was done before; answers with the names that hold."""
        try:
            self.tables.write(
                Update(
                    table=SEARCH_STATE,
                    key=KEY,
                    set={
                        "assetsRead": pointer.assets_read,
                        "assetsWrite": list(pointer.assets_write),
                        "filesRead": pointer.files_read,
                        "filesWrite": list(pointer.files_write),
                    },
                    conditions=(absent("assetsRead"),),
                    refused=AlreadyExistsError("The search indexes are set up already"),
                )
            )
        except AlreadyExistsError:
            return self.pointer()
        return pointer


def _pointer(item: Item) -> Pointer:
    if "assetsRead" not in item:
        raise SearchNotSetUpError
    return Pointer(
        str(item["assetsRead"]),
        tuple(cast("list[str]", item["assetsWrite"])),
        str(item["filesRead"]),
        tuple(cast("list[str]", item["filesWrite"])),
    )
