"""DynamoDB tables in memory, with global indexes that lag. For thousands of schedules.

The contract suite of the real engines also tests them (`tests/contract/tables`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from backend.aws.items import check_item, check_key, from_wire, item_size, to_wire
from backend.core.errors import ConflictError, InvalidInputError, TooLargeError
from backend.core.paging import Page, PageRequest, Position
from backend.core.tables import Query
from backend.core.transactions import (
    MAX_TRANSACTION_ITEMS,
    Check,
    Condition,
    Delete,
    Item,
    Key,
    Put,
    Update,
    Write,
)
from backend.spec.tables.model import Index, Table

Names = tuple[str, ...]
_MAX_PAGE = 1000
_TRANSACTION_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """One item before and after a write, as in a stream record."""

    table: Table
    key: dict[str, str]
    old: Item | None
    new: Item | None


@dataclass
class Lagging:
    """The entries of an item in the indexes, once they have caught up."""

    since: int
    table: Table
    names: Names
    item: Item | None


@dataclass
class MemoryTables:
    """The port `Tables`.

    With `lagging`, queries over a global index see an item as of the last `catch_up` or `show`.
    `changed` is called after each change of an item, in order.
    """

    items: dict[str, dict[Names, Item]] = field(default_factory=dict[str, dict[Names, Item]])
    seen: dict[str, dict[Names, Item]] = field(default_factory=dict[str, dict[Names, Item]])
    before: Callable[[str], None] = lambda operation: None
    lagging: bool = False
    changed: Callable[[Change], None] = lambda change: None
    now: Callable[[], int] = lambda: 0
    behind: list[Lagging] = field(default_factory=list[Lagging])

    def get(self, table: Table, key: Key, *, consistent: bool = True) -> Item | None:
        self.before("get")
        return self._get(table, key)

    def get_many(
        self, wanted: Sequence[tuple[Table, Key]], *, consistent: bool = True
    ) -> list[tuple[Table, Item]]:
        self.before("get_many")
        unique = {(table.name, *_names(table, key)): (table, key) for table, key in wanted}
        result = [(table, self._get(table, key)) for table, key in unique.values()]
        return [(table, item) for table, item in result if item is not None]

    def query(self, query: Query, page: PageRequest) -> Page[Item]:
        self.before("query")
        rows = self._matching(query)
        if query.newest_first:
            rows.reverse()
        names = _position_names(query.table, query.index)
        result = _page(rows, page, names, newest_first=query.newest_first)
        items = tuple(_projected(query, item) for item in result.items)
        return Page(items, result.after)

    def query_all(self, query: Query) -> list[Item]:
        items: list[Item] = []
        page = self.query(query, PageRequest(_MAX_PAGE))
        items.extend(page.items)
        while page.after is not None:
            page = self.query(query, PageRequest(_MAX_PAGE, page.after))
            items.extend(page.items)
        return items

    def scan(self, table: Table, page: PageRequest, *, consistent: bool = True) -> Page[Item]:
        self.before("scan")
        rows = [row for _, row in sorted(self.items.get(table.name, {}).items())]
        result = _page(rows, page, table.key_names)
        return Page(tuple(dict(row) for row in result.items), result.after)

    def write(self, write: Write) -> Item | None:
        if isinstance(write, Check):
            raise TypeError("a check can only be part of a transaction")
        self.before("write")
        self._check_conditions([write])
        item = self._after(write)
        self._apply([(write, item)])
        return dict(item) if isinstance(write, Update) and item else None

    def increment(self, table: Table, key: Key, attribute: str, *, initial: int) -> Item:
        self.before("ticket")
        stored = self._get(table, key) or dict(key)
        item: Item = {**stored, attribute: stored.get(attribute, initial) + 1}
        self._apply([(Put(table=table, item=item), item)])
        return dict(item)

    def transact(self, writes: Sequence[Write]) -> None:
        if len(writes) > MAX_TRANSACTION_ITEMS:
            raise ValueError(
                f"{len(writes)} writes; a transaction can have {MAX_TRANSACTION_ITEMS}"
            )
        touched = {(write.table.name, *_names(write.table, _key_of(write))) for write in writes}
        if len(touched) < len(writes):
            raise ValueError("a transaction takes an item once")
        self.before("write")
        after = [
            (write, None if isinstance(write, Check) else self._after(write)) for write in writes
        ]
        if sum(item_size(to_wire(item)) for _, item in after if item) > _TRANSACTION_BYTES:
            raise TooLargeError("the change writes more than 4 MB at once")
        self._check_conditions(writes)
        self._apply(after)

    def put_many(self, table: Table, items: Sequence[Item]) -> None:
        self.before("write")
        puts = [Put(table=table, item=item) for item in items]
        self._apply([(put, self._after(put)) for put in puts])

    def delete_many(self, table: Table, keys: Sequence[Key]) -> None:
        self.before("write")
        self._apply([(Delete(table=table, key=key), None) for key in keys])

    def expire(self, table: Table, key: Key) -> None:
        """Remove an item as its time to live does."""
        self._apply([(Delete(table=table, key=key), None)])

    def show(self, table: Table, key: Key) -> None:
        """Update the indexes of a table for one item."""
        names = _names(table, key)
        self._show(table, names, self.items.get(table.name, {}).get(names))

    def catch_up(self, until: int) -> None:
        """Update the indexes for all changes until a time."""
        late = [entry for entry in self.behind if entry.since <= until]
        self.behind = [entry for entry in self.behind if entry.since > until]
        for entry in late:
            self._show(entry.table, entry.names, entry.item)

    def catch_up_one(self, number: int) -> None:
        """Update the indexes for the earliest change of one of the items that they lack."""
        if not self.behind:
            return
        picked = self.behind[number % len(self.behind)]
        entry = next(
            item for item in self.behind if (item.table, item.names) == (picked.table, picked.names)
        )
        self.behind.remove(entry)
        self._show(entry.table, entry.names, entry.item)

    def rows(self, table: Table) -> list[Item]:
        """All items of a table."""
        return [dict(row) for _, row in sorted(self.items.get(table.name, {}).items())]

    def _show(self, table: Table, names: Names, item: Item | None) -> None:
        seen = self.seen.setdefault(table.name, {})
        if item is None:
            seen.pop(names, None)
        else:
            seen[names] = item

    def _get(self, table: Table, key: Key) -> Item | None:
        check_key(table, to_wire(key))
        result = self.items.get(table.name, {}).get(_names(table, key))
        return None if result is None else from_wire(to_wire(result))

    def _matching(self, query: Query) -> list[Item]:
        """The rows of a query in the byte order of their sort key."""
        index = query.index
        is_global = index is not None and not index.is_local
        if is_global and query.consistent:
            raise ValueError("a global index has no consistent reads")
        keys = index or query.table
        partition, sort = keys.partition_key or query.table.partition_key, keys.sort_key
        view = self.seen if is_global and self.lagging else self.items
        result = [
            row
            for row in view.get(query.table.name, {}).values()
            if row.get(partition.name) == query.partition
            and (sort is None or _fits(query, row.get(sort.name)))
        ]
        return sorted(result, key=lambda row: _order(row, _position_names(query.table, index)))

    def _check_conditions(self, writes: Sequence[Write]) -> None:
        for write in writes:
            names = _names(write.table, _key_of(write))
            stored = self.items.get(write.table.name, {}).get(names, {})
            if not all(_holds(condition, stored) for condition in write.conditions):
                raise write.refused or ConflictError(
                    f"a condition on {write.table.name} does not hold"
                )

    def _after(self, write: Write) -> Item | None:
        """The item after the write."""
        if isinstance(write, Delete | Check):
            check_key(write.table, to_wire(write.key))
            return None
        if isinstance(write, Put):
            item = write.item
        else:
            names = _names(write.table, write.key)
            stored = self.items.get(write.table.name, {}).get(names, {})
            added = {name: stored.get(name, 0) + by for name, by in write.add.items()}
            item = {**stored, **write.key, **write.set, **added}
            item = {name: value for name, value in item.items() if name not in write.remove}
        wire = to_wire(item)
        check_item(write.table, wire)
        return from_wire(wire)

    def _apply(self, writes: Iterable[tuple[Write, Item | None]]) -> None:
        changes: list[Change] = []
        for write, item in writes:
            if isinstance(write, Check):
                continue
            key = {name: _key_of(write)[name] for name in write.table.key_names}
            rows = self.items.setdefault(write.table.name, {})
            names = _names(write.table, key)
            old = rows.pop(names, None)
            if item is not None:
                rows[names] = item
            if old != item:
                changes.append(Change(write.table, key, old, item))
                self._fall_behind(write.table, names, item)
        for change in changes:
            self.changed(change)

    def _fall_behind(self, table: Table, names: Names, item: Item | None) -> None:
        if self.lagging and any(not index.is_local for index in table.indexes):
            self.behind.append(Lagging(self.now(), table, names, item))


def _key_of(write: Write) -> Key:
    return write.item if isinstance(write, Put) else write.key


def _names(table: Table, key: Mapping[str, Any]) -> Names:
    if any(name not in key for name in table.key_names):
        raise ValueError(f"the key of {table.name} is {table.key_names}, not {tuple(key)}")
    return tuple(key[name] for name in table.key_names)


def _position_names(table: Table, index: Index | None) -> tuple[str, ...]:
    """The attributes of a position in a query.

    The sort key is first, because it decides the order.
    """
    keys = index or table
    sort = () if keys.sort_key is None else (keys.sort_key.name,)
    partition = () if keys.partition_key is None else (keys.partition_key.name,)
    return tuple(dict.fromkeys((*sort, *partition, *table.key_names)))


def _order(row: Mapping[str, Any], names: Names) -> tuple[bytes, ...]:
    return tuple(str(row[name]).encode() for name in names)


def _fits(query: Query, sort: object) -> bool:
    if sort is None:
        return False
    if query.sort_equals is not None and sort != query.sort_equals:
        return False
    if query.sort_between is not None:
        low, high = (bound.encode() for bound in query.sort_between)
        return low <= str(sort).encode() <= high
    return not query.sort_prefix or str(sort).startswith(query.sort_prefix)


def _page(
    rows: Sequence[Item], page: PageRequest, names: Names, *, newest_first: bool = False
) -> Page[Item]:
    """A page in DynamoDB's form: a full page always has the position of the next one."""
    if page.after is not None:
        place = _place(page.after, names)
        rows = [
            row
            for row in rows
            if (_order(row, names) < place if newest_first else _order(row, names) > place)
        ]
    limit = min(page.limit, _MAX_PAGE)
    result = tuple(rows[:limit])
    if len(result) < limit:
        return Page(result)
    return Page(result, {name: result[-1][name] for name in names})


def _place(after: Position, names: Names) -> tuple[bytes, ...]:
    """A position in the order of rows; its own row may have been deleted."""
    if set(after) != set(names):
        raise InvalidInputError("the position is not one of this query")
    return _order(after, names)


def _projected(query: Query, row: Item) -> Item:
    kept = set(row)
    if query.index is not None and query.index.projection == "KEYS_ONLY":
        kept &= set(_position_names(query.table, query.index))
    if query.attributes:
        kept &= set(query.attributes)
    return from_wire(to_wire({name: value for name, value in row.items() if name in kept}))


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda found, wanted: found == wanted,
    "<>": lambda found, wanted: found != wanted,
    "<": lambda found, wanted: found < wanted,
    "<=": lambda found, wanted: found <= wanted,
    ">": lambda found, wanted: found > wanted,
    ">=": lambda found, wanted: found >= wanted,
    "not >": lambda found, wanted: not found > wanted,
}


def _holds(condition: Condition, stored: Item) -> bool:
    present = condition.attribute in stored
    if condition.operator in {"exists", "absent"}:
        return present == (condition.operator == "exists")
    if not present:
        return condition.operator in {"<>", "not >"}
    result, wanted = stored[condition.attribute], cast("Any", condition.value)
    if condition.operator not in {"=", "<>"} and isinstance(result, str) != isinstance(wanted, str):
        return False
    return _COMPARISONS[condition.operator](result, wanted)
