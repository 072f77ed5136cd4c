"""DynamoDB tables in memory, with global indexes that lag behind. For schedules by the thousand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from backend.core.errors import ConflictError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Query
from backend.core.transactions import Condition, Delete, Item, Key, Put, Update, Write
from backend.spec.tables.model import Table

Names = tuple[str, ...]


@dataclass
class MemoryTables:
    """What the indexing path uses of the port `Tables`.

    Queries over an index see what `settle_indexes` last showed them, item by item.
    """

    items: dict[str, dict[Names, Item]] = field(default_factory=dict[str, dict[Names, Item]])
    seen: dict[str, dict[Names, Item]] = field(default_factory=dict[str, dict[Names, Item]])
    before: Callable[[str], None] = lambda operation: None
    lagging: bool = False

    def get(self, table: Table, key: Key, *, consistent: bool = True) -> Item | None:
        self.before("get")
        return self._get(table, key)

    def get_many(
        self, wanted: Sequence[tuple[Table, Key]], *, consistent: bool = True
    ) -> list[tuple[Table, Item]]:
        self.before("get_many")
        found = [(table, self._get(table, key)) for table, key in wanted]
        return [(table, item) for table, item in found if item is not None]

    def query(self, query: Query, page: PageRequest) -> Page[Item]:
        return Page(tuple(self.query_all(query)))

    def query_all(self, query: Query) -> list[Item]:
        self.before("query")
        keys = query.index or query.table
        partition = keys.partition_key
        view = self.seen if query.index is not None and self.lagging else self.items
        rows = view.get(query.table.name, {}).values()
        return [dict(row) for row in rows if partition and row[partition.name] == query.partition]

    def scan(self, table: Table, page: PageRequest) -> Page[Item]:
        self.before("scan")
        return Page(tuple(dict(row) for row in self.items.get(table.name, {}).values()))

    def write(self, write: Write) -> Item | None:
        self.before("write")
        rows = self.items.setdefault(write.table.name, {})
        names = _names(write.table, write.item if isinstance(write, Put) else write.key)
        stored = rows.get(names, {})
        if not all(_holds(condition, stored) for condition in write.conditions):
            raise write.refused or ConflictError("a condition does not hold")
        if isinstance(write, Put):
            rows[names] = dict(write.item)
        elif isinstance(write, Update):
            added = {name: stored.get(name, 0) + by for name, by in write.add.items()}
            rows[names] = {**write.key, **stored, **write.set, **added}
            return dict(rows[names])
        elif isinstance(write, Delete):
            rows.pop(names, None)
        return None

    def increment(self, table: Table, key: Key, attribute: str, *, initial: int) -> Item:
        self.before("ticket")
        rows = self.items.setdefault(table.name, {})
        names = _names(table, key)
        row: Item = {**key, **rows.get(names, {})}
        rows[names] = {**row, attribute: row.get(attribute, initial) + 1}
        return dict(rows[names])

    def transact(self, writes: Sequence[Write]) -> None:
        for write in writes:
            self.write(write)

    def put_many(self, table: Table, items: Sequence[Item]) -> None:
        raise NotImplementedError

    def delete_many(self, table: Table, keys: Sequence[Key]) -> None:
        raise NotImplementedError

    def show(self, table: Table, key: Key) -> None:
        """Let the indexes of a table see an item as it is now."""
        names = _names(table, key)
        seen = self.seen.setdefault(table.name, {})
        item = self.items.get(table.name, {}).get(names)
        if item is None:
            seen.pop(names, None)
        else:
            seen[names] = item

    def _get(self, table: Table, key: Key) -> Item | None:
        found = self.items.get(table.name, {}).get(_names(table, key))
        return None if found is None else dict(found)


def _names(table: Table, key: Mapping[str, str]) -> Names:
    return tuple(key[name] for name in table.key_names)


def _holds(condition: Condition, stored: Item) -> bool:
    present = condition.attribute in stored
    if condition.operator in {"exists", "absent"}:
        return present == (condition.operator == "exists")
    if not present:
        return False
    found = stored[condition.attribute]
    return {
        "=": lambda: found == condition.value,
        "<>": lambda: found != condition.value,
        "<": lambda: found < condition.value,
        "<=": lambda: found <= condition.value,
        ">": lambda: found > condition.value,
        ">=": lambda: found >= condition.value,
    }[condition.operator]()
