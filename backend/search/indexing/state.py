"""The ticket counter and the names of the current indexes, in one item.

`rebuild` explains the use of tickets.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from backend.core.clock import Clock, epoch_seconds
from backend.core.errors import (
    AlreadyExistsError,
    RateLimitedError,
    StateForbidsError,
    UnavailableError,
)
from backend.core.rates import count_in_minute
from backend.core.tables import Tables
from backend.core.transactions import Condition, Item, Update, absent, equals
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, MAPPING_VERSION, SearchIndex
from backend.spec.tables.operations import SEARCH_STATE
from backend.values import frozen

# Weight of a user's heavy searches in a minute (`search.query.weights`): 7 seconds of a processor,
# of the 120 that two processors have.
WEIGHT_PER_MINUTE = 240
KEY = {"stateKey": "search"}
_NUMBER = "n"
_MAPPINGS = "mappingVersions"
_INDEX_NUMBER = "indexNumber"
_MOVED_BY = "reindexJob"
_LEFT = "leftNumber"


class SearchNotSetUpError(UnavailableError):
    """The search indexes are not set up yet; try again later."""

    code = "SearchNotSetUp"

    def __init__(self) -> None:
        super().__init__("The search indexes are not set up yet")


class PointerHeldError(StateForbidsError):
    """Another reindex is switching the indexes."""

    code = "SearchPointerHeld"

    def __init__(self) -> None:
        super().__init__("The search indexes are being switched by another reindex")


@frozen
class Pointer:
    """Physical names: the index that is read, and all that are written, of each search index."""

    assets_read: str
    assets_write: tuple[str, ...]
    files_read: str
    files_write: tuple[str, ...]

    def targets(self, index: SearchIndex) -> tuple[str, ...]:
        """Return the physical indexes to which a document of `index` is written."""
        return self.assets_write if index is ASSET_INDEX else self.files_write

    @property
    def names(self) -> tuple[str, ...]:
        """Return all physical indexes that are written."""
        return (*self.assets_write, *self.files_write)

    def current(self, index: SearchIndex) -> str:
        """Return the physical index that searches over `index` use."""
        return self.assets_read if index is ASSET_INDEX else self.files_read


def pointer_to(number: int) -> Pointer:
    """Return the pointer to only the pair of indexes with this number."""
    assets, files = f"{ASSET_INDEX.alias}-{number}", f"{FILE_INDEX.alias}-{number}"
    return Pointer(assets, (assets,), files, (files,))


# The bootstrap creates this pair; each reindex creates the next number.
FIRST_POINTER = pointer_to(1)


class Mappings(dict[str, int]):
    """The mapping version of each physical index."""

    def __missing__(self, name: str) -> int:
        """Return the version of an index from before versions were recorded."""
        return 1


@frozen
class Reading:
    """The names of the indexes, and the mapping version of the pair that is read."""

    pointer: Pointer
    mapping_version: int


@frozen
class Ticket:
    """A number above all earlier ones, the time it was taken, and the indexes to write to.

    `mappings` are the mapping versions of the indexes to write to.
    """

    number: int
    pointer: Pointer
    taken_at: datetime
    mappings: Mappings


@dataclass(eq=False, repr=False)
class SearchState:
    tables: Tables
    clock: Clock

    def issue_ticket(self) -> Ticket:
        """Return a new ticket and, from the same atomic write, the indexes to write to.

        A lost counter restarts at the time in milliseconds, which is above every earlier ticket as
        long as there are fewer than a thousand per second.

        Raises:
            SearchNotSetUpError: the item names no indexes.
        """
        now = self.clock()
        now_ms = int(now.timestamp() * 1000)
        item = self.tables.increment(SEARCH_STATE, KEY, _NUMBER, initial=now_ms)
        return Ticket(int(item[_NUMBER]), _pointer(item), now, _mappings(item))

    def last_ticket(self) -> int:
        """Return the highest ticket issued so far; 0 if there was none."""
        item = self.tables.get(SEARCH_STATE, KEY) or {}
        return int(item.get(_NUMBER, 0))

    def pointer(self) -> Pointer:
        """Return the names of the indexes.

        Raises:
            SearchNotSetUpError: the item names no indexes.
        """
        return _pointer(self.tables.get(SEARCH_STATE, KEY) or {})

    def mappings(self) -> Mappings:
        """Return the mapping versions of the indexes."""
        return _mappings(self.tables.get(SEARCH_STATE, KEY) or {})

    def read_names(self) -> Reading:
        """Return the names of the indexes, and the mapping version of the pair that is read.

        Raises:
            SearchNotSetUpError: the item names no indexes.
        """
        item = self.tables.get(SEARCH_STATE, KEY) or {}
        pointer = _pointer(item)
        versions = cast("Mapping[str, Any]", item.get(_MAPPINGS, {}))
        return Reading(pointer, int(versions.get(pointer.assets_read, 1)))

    def mapping_version_read(self) -> int:
        """Return the mapping version of the pair of indexes that is read.

        Raises:
            SearchNotSetUpError: the item names no indexes.
        """
        return self.read_names().mapping_version

    def begin(self, pointer: Pointer, mappings: Mapping[str, int] | None = None) -> Pointer:
        """Store the names of the indexes, unless that was done before; return the stored names.

        `mappings` are their mapping versions; without them, they are created as declared.
        """
        if mappings is None:
            mappings = dict.fromkeys(pointer.names, MAPPING_VERSION)
        try:
            self.tables.write(
                Update(
                    table=SEARCH_STATE,
                    key=KEY,
                    set={**_item(pointer), _MAPPINGS: dict(mappings)},
                    conditions=(absent("assetsRead"),),
                    refused=AlreadyExistsError("The search indexes are already set up"),
                )
            )
        except AlreadyExistsError:
            return self.pointer()
        return pointer

    def add_search_weight(self, user_id: str, weight: int) -> None:
        """Count the weight of a search in its user's budget of this minute.

        Raises:
            RateLimitedError: the budget is used up.
        """
        now = epoch_seconds(self.clock())
        minute = now // 60
        total = count_in_minute(self.tables, "SearchWeight", user_id, weight, minute=minute)
        if total > WEIGHT_PER_MINUTE:
            raise RateLimitedError(
                f"Heavy searches of this user have a weight above {WEIGHT_PER_MINUTE} within this "
                "minute; send lighter ones, or wait",
                retry_after=60 - now % 60,
            )

    def new_number(self) -> int:
        """Return a new number for a pair of indexes."""
        first = int(self.pointer().assets_read.rpartition("-")[2])
        item = self.tables.increment(SEARCH_STATE, KEY, _INDEX_NUMBER, initial=first)
        return int(item[_INDEX_NUMBER])

    def moved_by(self) -> str | None:
        """Return the reindex job that has changed the pointer and is not done."""
        moved_by = (self.tables.get(SEARCH_STATE, KEY) or {}).get(_MOVED_BY)
        return None if moved_by is None else str(moved_by)

    def change_pointer_once(
        self, job_id: str, old: Pointer, pointer: Pointer, *, number: int
    ) -> None:
        """Let a reindex job change the pointer; no effect if it already has.

        `number` is that of the new indexes, which are created as declared.

        Raises:
            PointerHeldError: another job is changing it, it has changed, or the number was
                discarded.
        """
        # A number that a cancelled reindex discarded must not be used by its delayed worker.
        free = (absent(_MOVED_BY), Condition(_LEFT, "not >", number - 1))
        held = (*free, equals("assetsRead", old.assets_read))
        known = self.mappings()
        mappings = dict.fromkeys(pointer.names, MAPPING_VERSION)
        mappings |= {name: known[name] for name in old.names}
        taken = {_MOVED_BY: job_id, _MAPPINGS: mappings}
        if not self._move(pointer, taken, held) and self.moved_by() != job_id:
            raise PointerHeldError

    def discard_number(self, number: int) -> None:
        """Discard the number of a pair of indexes."""
        with suppress(PointerHeldError):
            self.tables.write(
                Update(
                    table=SEARCH_STATE,
                    key=KEY,
                    # `move_pointer` refuses a discarded number, so a delayed worker cannot switch
                    # to its pair.
                    set={_LEFT: number},
                    conditions=(Condition(_LEFT, "not >", number),),
                    refused=PointerHeldError(),  # a later number was discarded already
                )
            )

    def move_pointer(self, job_id: str, pointer: Pointer) -> None:
        """Change the pointer, for the job that is changing it.

        Raises:
            PointerHeldError: another job is changing it.
        """
        if not self._move(pointer, {}, (equals(_MOVED_BY, job_id),)):
            raise PointerHeldError

    def finish_pointer_changes(self, job_id: str, pointer: Pointer) -> bool:
        """Change the pointer for the last time; return False if the job was no longer changing it.

        A repeated call also returns True.
        """
        held = (equals(_MOVED_BY, job_id),)
        return self._move(pointer, {}, held, remove=(_MOVED_BY,)) or self.pointer() == pointer

    def _move(
        self,
        pointer: Pointer,
        more: Item,
        conditions: tuple[Condition, ...],
        *,
        remove: tuple[str, ...] = (),
    ) -> bool:
        try:
            self.tables.write(
                Update(
                    table=SEARCH_STATE,
                    key=KEY,
                    set={**_item(pointer), **more},
                    remove=remove,
                    conditions=conditions,
                    refused=PointerHeldError(),
                )
            )
        except PointerHeldError:
            return False
        return True


def _item(pointer: Pointer) -> Item:
    return {
        "assetsRead": pointer.assets_read,
        "assetsWrite": list(pointer.assets_write),
        "filesRead": pointer.files_read,
        "filesWrite": list(pointer.files_write),
    }


def _mappings(item: Item) -> Mappings:
    stored = cast("Mapping[str, Any]", item.get(_MAPPINGS, {}))
    return Mappings({name: int(version) for name, version in stored.items()})


def _pointer(item: Item) -> Pointer:
    if "assetsRead" not in item:
        raise SearchNotSetUpError
    return Pointer(
        str(item["assetsRead"]),
        tuple(cast("list[str]", item["assetsWrite"])),
        str(item["filesRead"]),
        tuple(cast("list[str]", item["filesWrite"])),
    )
