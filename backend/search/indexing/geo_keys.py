"""The metadata keys that have geographic fields: 200 of a deployment, 20 of a database.

Fields are never removed from a mapping, so their number is limited, in one item of SearchState. A
reindex frees those that no document has. Filters do not use these fields: they search the nested
pairs, which have no limit.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from backend.core.errors import AlreadyExistsError, ConflictError
from backend.core.tables import Tables
from backend.core.transactions import Condition, Item, Update, absent, equals, put_new
from backend.search.values import MAX_GEO_KEYS, MAX_KEYS_OF_DATABASE
from backend.spec.tables.operations import SEARCH_STATE

_KEY = {"stateKey": "geoKeys"}
_COUNT = "count"
# Each key with the database in whose share it is.
_PREFIX, _OF_DATABASE = "key#", "database#"


class _ChangedError(ConflictError):
    """Another writer was first, or took the last place."""


@dataclass(slots=True)
class GeoKeys:
    """The registry."""

    tables: Tables

    def add_keys(self, wanted: Mapping[str, str]) -> frozenset[str]:
        """Return those of the wanted keys that have fields; new ones are added up to the limits.

        `wanted` has the database of each key, whose share it takes.
        """
        item = self._read()
        for key in sorted(wanted.keys() - _keys(item)):
            item = self._add(key, wanted[key], item)
        return frozenset(wanted.keys() & _keys(item))

    def known_keys(self, wanted: Collection[str]) -> frozenset[str]:
        """Return those of the wanted keys that already have fields; add none."""
        return self.all_keys().intersection(wanted)

    def all_keys(self) -> frozenset[str]:
        return frozenset(_keys(self.tables.get(SEARCH_STATE, _KEY) or {}))

    def free(self, unused: Collection[str]) -> None:
        """Remove keys, which later documents may add again, and count the shares of the others."""
        while removed := self.all_keys().intersection(unused):
            item = self._read()
            kept = {key: item[_PREFIX + key] for key in _keys(item) - removed}
            # Earlier releases recorded no database.
            shares = Counter(owner for owner in kept.values() if isinstance(owner, str))
            old = {name for name in item if name.startswith(_OF_DATABASE)}
            counted = {_OF_DATABASE + owner: count for owner, count in shares.items()}
            change = Update(
                table=SEARCH_STATE,
                key=_KEY,
                set={_COUNT: len(kept), **counted},
                remove=(*(_PREFIX + key for key in sorted(removed)), *sorted(old - counted.keys())),
                conditions=(equals(_COUNT, item[_COUNT]),),
                refused=_ChangedError("geographic keys were added meanwhile"),
            )
            try:
                self.tables.write(change)
            except _ChangedError:
                continue

    def _read(self) -> Item:
        item = self.tables.get(SEARCH_STATE, _KEY)
        if item is not None:
            return item
        try:
            exists = AlreadyExistsError("it is there")
            self.tables.write(put_new(SEARCH_STATE, {**_KEY, _COUNT: 0}, exists))
        except AlreadyExistsError:
            return self._read()
        return {_COUNT: 0}

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
                    set={_PREFIX + key: database_id},
                    add={_COUNT: 1, share: 1},
                    conditions=(
                        absent(_PREFIX + key),
                        Condition(_COUNT, "<", MAX_GEO_KEYS),
                        has_room if share in item else absent(share),
                    ),
                    refused=_ChangedError(f"the geographic key {key} was not added"),
                )
            )
        except _ChangedError:
            item = self._read()
            return item if key in _keys(item) else self._add(key, database_id, item)
        return written or self._read()


def _keys(item: Item) -> set[str]:
    return {name.removeprefix(_PREFIX) for name in item if name.startswith(_PREFIX)}
