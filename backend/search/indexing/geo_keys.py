"""The metadata keys that have geographic fields: the first 200 of a deployment, 20 of a database.

Fields are never removed from a mapping, so their number is limited, in one item of SearchState.
Filters do not use these fields: they search the nested pairs, which have no limit.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from backend.core.errors import AlreadyExistsError, ConflictError
from backend.core.tables import Tables
from backend.core.transactions import Condition, Item, Update, absent, put_new
from backend.search.values import MAX_GEO_KEYS
from backend.spec.tables.operations import SEARCH_STATE

_KEY = {"stateKey": "geoKeys"}
_COUNT = "count"
_PREFIX, _OF_DATABASE = "key#", "database#"
# Keys that the documents of one database may add, so that one cannot take those of all others.
MAX_KEYS_OF_DATABASE = 20


class _NotAddedError(ConflictError):
    """The key exists, or the limit is reached, or the item does not exist yet."""


@dataclass(slots=True)
class GeoKeys:
    """The registry. Keys are never removed from it, so they can be cached."""

    tables: Tables
    _known: set[str] = field(default_factory=set[str])

    def add_keys(self, wanted: Mapping[str, str]) -> frozenset[str]:
        """Return those of the wanted keys that have fields; new ones are added up to the limits.

        `wanted` has the database of each key, whose share it takes.
        """
        if not wanted.keys() <= self._known:
            item = self._read()
            for key in sorted(wanted.keys() - self._known):
                item = self._add(key, wanted[key], item)
        return frozenset(wanted.keys() & self._known)

    def known_keys(self, wanted: Collection[str]) -> frozenset[str]:
        """Return those of the wanted keys that already have fields; add none."""
        if not self._known.issuperset(wanted):
            self._add_known(self.tables.get(SEARCH_STATE, _KEY) or {})
        return frozenset(self._known.intersection(wanted))

    def _read(self) -> Item:
        item = self.tables.get(SEARCH_STATE, _KEY)
        if item is None:
            empty = put_new(SEARCH_STATE, {**_KEY, _COUNT: 0}, AlreadyExistsError("it is there"))
            try:
                self.tables.write(empty)
            except AlreadyExistsError:
                return self._read()
            return {_COUNT: 0}
        self._add_known(item)
        return item

    def _add_known(self, item: Item) -> None:
        self._known.update(name.removeprefix(_PREFIX) for name in item if name.startswith(_PREFIX))

    def _add(self, key: str, database_id: str, item: Item) -> Item:
        """Add a key unless a limit is reached; return the item as it is then."""
        share = _OF_DATABASE + database_id
        has_room = Condition(share, "<", MAX_KEYS_OF_DATABASE)
        if int(item[_COUNT]) >= MAX_GEO_KEYS or int(item.get(share, 0)) >= MAX_KEYS_OF_DATABASE:
            return item
        try:
            written = self.tables.write(
                Update(
                    table=SEARCH_STATE,
                    key=_KEY,
                    set={_PREFIX + key: True},
                    add={_COUNT: 1, share: 1},
                    conditions=(
                        absent(_PREFIX + key),
                        Condition(_COUNT, "<", MAX_GEO_KEYS),
                        has_room if share in item else absent(share),
                    ),
                    refused=_NotAddedError(f"the geographic key {key} was not added"),
                )
            )
        except _NotAddedError:
            item = self._read()  # another writer was first, or took the last place
            return item if key in self._known else self._add(key, database_id, item)
        self._known.add(key)
        return written or self._read()
