"""The metadata keys that have geographic fields: the first 200 of a deployment.

Fields are never removed from a mapping, so their number is limited, in one item of SearchState.
"""

from dataclasses import dataclass, field

from backend.core.errors import AlreadyExistsError, ConflictError
from backend.core.tables import Tables
from backend.core.transactions import Condition, Item, Update, absent, put_new
from backend.search.values import MAX_GEO_KEYS
from backend.spec.tables.operations import SEARCH_STATE

_KEY = {"stateKey": "geoKeys"}
_COUNT = "count"
_PREFIX = "key#"


class _NotAddedError(ConflictError):
    """The key exists, or the limit is reached, or the item does not exist yet."""


@dataclass(slots=True)
class GeoKeys:
    """The registry. Keys are never removed from it, so they can be cached."""

    tables: Tables
    _known: set[str] = field(default_factory=set[str])

    def add_keys(self, wanted: set[str]) -> frozenset[str]:
        """Return those of the wanted keys that have fields; new ones are added up to the limit."""
        if wanted <= self._known:
            return frozenset(wanted)
        count = self._read()
        for key in sorted(wanted - self._known):
            if count >= MAX_GEO_KEYS:
                break
            count = self._add(key)
        return frozenset(wanted & self._known)

    def known_keys(self, wanted: set[str]) -> frozenset[str]:
        """Return those of the wanted keys that already have fields; add none."""
        if not wanted <= self._known:
            self._add_known(self.tables.get(SEARCH_STATE, _KEY) or {})
        return frozenset(wanted & self._known)

    def _read(self) -> int:
        item = self.tables.get(SEARCH_STATE, _KEY)
        if item is None:
            empty = put_new(SEARCH_STATE, {**_KEY, _COUNT: 0}, AlreadyExistsError("it is there"))
            try:
                self.tables.write(empty)
            except AlreadyExistsError:
                return self._read()
            return 0
        self._add_known(item)
        return int(item[_COUNT])

    def _add_known(self, item: Item) -> None:
        self._known.update(name.removeprefix(_PREFIX) for name in item if name.startswith(_PREFIX))

    def _add(self, key: str) -> int:
        try:
            item = self.tables.write(
                Update(
                    table=SEARCH_STATE,
                    key=_KEY,
                    set={_PREFIX + key: True},
                    add={_COUNT: 1},
                    conditions=(absent(_PREFIX + key), Condition(_COUNT, "<", MAX_GEO_KEYS)),
                    refused=_NotAddedError(f"the geographic key {key} was not added"),
                )
            )
        except _NotAddedError:
            return self._read()  # another writer was first, or took the last place
        self._known.add(key)
        return int(item[_COUNT]) if item else 0
