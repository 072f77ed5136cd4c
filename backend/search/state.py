"""The ticket counter and the names of the indexes that are written and read (one item).

Nothing here knows what a ticket is used for: see `rebuild`.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

from backend.core.clock import Clock
from backend.core.errors import AlreadyExistsError, StateForbidsError, UnavailableError
from backend.core.tables import Tables
from backend.core.transactions import Condition, Item, Update, absent, equals
from backend.core.wired import wired
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, MAPPING_VERSION, SearchIndex
from backend.spec.tables.operations import SEARCH_STATE
from backend.values import frozen

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
        """The physical indexes that a document of `index` is written to."""
        return self.assets_write if index is ASSET_INDEX else self.files_write

    @property
    def names(self) -> tuple[str, ...]:
        """All physical indexes that are written."""
        return (*self.assets_write, *self.files_write)

    def current(self, index: SearchIndex) -> str:
        """The physical index that searches over `index` read."""
        return self.assets_read if index is ASSET_INDEX else self.files_read


def numbered(number: int) -> Pointer:
    """The pointer to the pair of indexes that have this number, and to no others."""
    assets, files = f"{ASSET_INDEX.alias}-{number}", f"{FILE_INDEX.alias}-{number}"
    return Pointer(assets, (assets,), files, (files,))


FIRST_POINTER = numbered(1)


class Mappings(dict[str, int]):
    """The mapping version of each physical index."""

    def __missing__(self, name: str) -> int:
        """Return the version of an index that is older than their recording."""
        return 1


@frozen
class Reading:
    """The names of the indexes, and the mapping version of the pair that is read."""

    pointer: Pointer
    mapping_version: int


@frozen
class Ticket:
    """A number higher than every one given before, when it was taken, where to write under it.

    `mappings` are the mapping versions of the indexes to write to.
    """

    number: int
    pointer: Pointer
    taken_at: datetime
    mappings: Mappings


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
        return Ticket(int(item[_NUMBER]), _pointer(item), now, _mappings(item))

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

    def mappings(self) -> Mappings:
        """Return the mapping versions of the indexes."""
        return _mappings(self.tables.get(SEARCH_STATE, KEY) or {})

    def reading(self) -> Reading:
        """Return the names of the indexes, and the mapping version of the pair that is read.

        Raises:
            SearchNotSetUpError: the item names no indexes.
        """
        item = self.tables.get(SEARCH_STATE, KEY) or {}
        pointer = _pointer(item)
        return Reading(pointer, _mappings(item)[pointer.assets_read])

    def mapping_version_read(self) -> int:
        """Return the mapping version of the pair of indexes that is read.

        Raises:
            SearchNotSetUpError: the item names no indexes.
        """
        return self.reading().mapping_version

    def begin(self, pointer: Pointer, mappings: Mapping[str, int] | None = None) -> Pointer:
        """Name the indexes, unless that was done before; answers with the names that hold.

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

    def new_number(self) -> int:
        """A number for a pair of indexes that none has had."""
        first = int(self.pointer().assets_read.rpartition("-")[2])
        item = self.tables.increment(SEARCH_STATE, KEY, _INDEX_NUMBER, initial=first)
        return int(item[_INDEX_NUMBER])

    def moved_by(self) -> str | None:
        """The reindex job that has moved the pointer and is not through with it."""
        found = (self.tables.get(SEARCH_STATE, KEY) or {}).get(_MOVED_BY)
        return None if found is None else str(found)

    def take_pointer(self, job_id: str, old: Pointer, pointer: Pointer, *, number: int) -> None:
        """Have a reindex job move the pointer from where it is; done before, it stays so.

        `number` is that of the new indexes, which are created as declared.

        Raises:
            PointerHeldError: another job has it, it is elsewhere, or the number was given up.
        """
        free = (absent(_MOVED_BY), Condition(_LEFT, "not >", number - 1))
        held = (*free, equals("assetsRead", old.assets_read))
        known = self.mappings()
        mappings = dict.fromkeys(pointer.names, MAPPING_VERSION)
        mappings |= {name: known[name] for name in old.names}
        taken = {_MOVED_BY: job_id, _MAPPINGS: mappings}
        if not self._move(pointer, taken, held) and self.moved_by() != job_id:
            raise PointerHeldError

    def give_up_number(self, number: int) -> None:
        """See to it that no worker that overslept points to indexes that are being removed."""
        with suppress(PointerHeldError):
            self.tables.write(
                Update(
                    table=SEARCH_STATE,
                    key=KEY,
                    set={_LEFT: number},
                    conditions=(Condition(_LEFT, "not >", number),),
                    refused=PointerHeldError(),  # a later number was given up already
                )
            )

    def move_pointer(self, job_id: str, pointer: Pointer) -> None:
        """Move the pointer, for the job that has it.

        Raises:
            PointerHeldError: it does not have it.
        """
        if not self._move(pointer, {}, (equals(_MOVED_BY, job_id),)):
            raise PointerHeldError

    def leave_pointer(self, job_id: str, pointer: Pointer) -> bool:
        """Move the pointer for the last time; False where the job did not have it any more.

        Done before, it is True as well.
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
