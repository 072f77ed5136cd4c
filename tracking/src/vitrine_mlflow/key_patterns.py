"""Patterns of keys, and entities: types of items that are declared by them.

A pattern is text with fields, as `R#{run_id}#METRIC#{key}`. `#` inside a field is escaped.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from vitrine_mlflow.encoding import escape, unescape

DEFAULT_WORKSPACE = "default"
_FIELD = re.compile(r"{(\w+)}")


class Key(NamedTuple):
    """The primary key of an item."""

    pk: str
    sk: str


@dataclass(frozen=True)
class Pattern:
    """Text of a key with named fields."""

    text: str

    @cached_property
    def _parts(self) -> list[str]:
        return _FIELD.split(self.text)  # literal, field, literal, field, …

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        literals, fields = self._parts[::2], self._parts[1::2]
        groups = [f"(?P<{name}>[^#]*)" for name in fields]
        mixed = [re.escape(literals[0])]
        for group, literal in zip(groups, literals[1:], strict=True):
            mixed += [group, re.escape(literal)]
        return re.compile("".join(mixed), re.DOTALL)

    def build(self, fields: Mapping[str, str]) -> str:
        """The key with all its fields."""
        parts = self._parts
        return "".join(
            escape(fields[part]) if index % 2 else part for index, part in enumerate(parts)
        )

    def prefix(self, fields: Mapping[str, str]) -> str:
        """The key up to the first field that is not given."""
        built: list[str] = []
        for index, part in enumerate(self._parts):
            if index % 2 and part not in fields:
                break
            built.append(escape(fields[part]) if index % 2 else part)
        return "".join(built)

    def parse(self, key: str) -> dict[str, str] | None:
        """The fields of a key, or None if the key has another pattern."""
        match = self._regex.fullmatch(key)
        if match is None:
            return None
        return {name: unescape(text) for name, text in match.groupdict().items()}


@dataclass(frozen=True)
class Entity:
    """A type of item: its primary key, and its keys in global indexes."""

    name: str
    pk: Pattern
    sk: Pattern
    title: str
    description: str
    indexes: Mapping[str, tuple[Pattern, Pattern]] = field(
        default_factory=dict[str, tuple[Pattern, Pattern]]
    )
    local: Mapping[str, Pattern] = field(default_factory=dict[str, Pattern])  # in local indexes
    ours: bool = False
    elsewhere: "Entity | None" = None  # in workspaces other than the default

    def key(self, **fields: str) -> Key:
        placed = self._add_fields(fields)
        return Key(placed.pk.build(fields), placed.sk.build(fields))

    def _add_fields(self, fields: Mapping[str, str]) -> "Entity":
        if (
            self.elsewhere is None
            or fields.get("workspace", DEFAULT_WORKSPACE) == DEFAULT_WORKSPACE
        ):
            return self
        return self.elsewhere

    def prefix(self, **fields: str) -> str:
        """The start of the sort keys of all items that have these fields."""
        return self.sk.prefix(fields)

    def index_keys(self, **fields: str) -> dict[str, str]:
        """Attributes that place the item in the global indexes."""
        attributes: dict[str, str] = {}
        for index, (pk, sk) in self._add_fields(fields).indexes.items():
            attributes[f"{index}pk"] = pk.build(fields)
            attributes[f"{index}sk"] = sk.build(fields)
        return attributes

    def parse(self, key: Key) -> dict[str, str] | None:
        pk, sk = self.pk.parse(key.pk), self.sk.parse(key.sk)
        if pk is not None and sk is not None:
            return {**pk, **sk}
        return None if self.elsewhere is None else self.elsewhere.parse(key)


def entity(
    name: str,
    pk: str,
    sk: str,
    title: str,
    description: str,
    **indexes: tuple[str, str] | str,
) -> Entity:
    """Declare an item of the schema. A local index has a sort key only."""
    pairs = {name: keys for name, keys in indexes.items() if not isinstance(keys, str)}
    local = {name: Pattern(keys) for name, keys in indexes.items() if isinstance(keys, str)}
    patterns = {name: (Pattern(pair[0]), Pattern(pair[1])) for name, pair in pairs.items()}
    return Entity(name, Pattern(pk), Pattern(sk), title, description, patterns, local)


def own(name: str, pk: str, sk: str, title: str, description: str) -> Entity:
    return Entity(name, Pattern(pk), Pattern(sk), title, description, ours=True)


def with_index(entity: Entity, **indexes: tuple[str, str]) -> Entity:
    patterns = {name: (Pattern(pair[0]), Pattern(pair[1])) for name, pair in indexes.items()}
    return replace(entity, indexes=patterns)


def in_workspaces(
    entity: Entity, pk: str, sk: str | None = None, **indexes: tuple[str, str]
) -> Entity:
    """Return the entity with other keys in workspaces other than the default."""
    patterns = {name: (Pattern(pair[0]), Pattern(pair[1])) for name, pair in indexes.items()}
    elsewhere = replace(
        entity,
        pk=Pattern(pk),
        sk=entity.sk if sk is None else Pattern(sk),
        indexes=patterns,
    )
    return replace(entity, elsewhere=elsewhere)
