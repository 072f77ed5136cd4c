"""The tables of tags and tag types, by access pattern. Both are registries: scanned by page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from backend.core.errors import (
    InvalidInputError,
)
from backend.core.names import GLOBAL
from backend.core.paging import Page, PageRequest
from backend.core.tables import Tables
from backend.core.transactions import (
    Check,
    Condition,
    Delete,
    Item,
    Key,
    Update,
    Write,
    absent,
    equals,
    exists,
    put_new,
)
from backend.domains.tags.errors import (
    TagExistsError,
    TagRevisionError,
    TagTypeExistsError,
    TagTypeFullError,
    TagTypeNotFoundError,
    TagTypeRevisionError,
)
from backend.domains.tags.models import MAX_TAGS_OF_TYPE, Scoped, Tag, TagType
from backend.spec.tables.model import Table
from backend.spec.tables.registry import TAG_TYPES, TAGS

_TAG = TAGS.partition_key.name
_TYPE = TAG_TYPES.partition_key.name
_COUNT = "tagCount"
_SCOPE = "databaseId"
M = TypeVar("M", Tag, TagType)


@dataclass(eq=False, repr=False)
class TagRepository:
    """Tags; each write that adds or removes a tag updates the count of its type.

    `others` are writes of the same transaction.
    """

    tables: Tables

    def get(self, tag: Scoped) -> Tag | None:
        item = self.tables.get(TAGS, _tag_key(tag))
        return None if item is None else _parse(Tag, _TAG, item)

    def get_many(self, tags: Iterable[Scoped]) -> list[Tag]:
        """Return those of the tags that exist, in no order."""
        rows = self.tables.get_many([(TAGS, _tag_key(tag)) for tag in tags])
        return [_parse(Tag, _TAG, item) for _, item in rows]

    def list_registry(self, page: PageRequest) -> Page[Tag]:
        return self.tables.scan(TAGS, page).map(lambda item: _parse(Tag, _TAG, item))

    def put_new(self, tag: Tag, *others: Write) -> None:
        new = put_new(TAGS, _row(tag, tag.scoped, _TAG), TagExistsError(tag.scoped))
        writes = [new, *_require_free(TAGS, tag.scoped, _TAG), _count_tag(tag.scoped_type)]
        self._transact(tag.scoped_type, [*writes, *others])

    def change(self, tag: Tag, changes: Mapping[str, Any], *others: Write) -> None:
        """Set some attributes, if the tag is unchanged since it was read."""
        update = Update(
            table=TAGS,
            key=_tag_key(tag.scoped),
            set=changes,
            add={"revision": 1},
            conditions=(equals("revision", tag.revision),),
            refused=TagRevisionError(tag.scoped),
        )
        new_type = Scoped(tag.database_id, changes.get(_TYPE, tag.tag_type_name))
        counts: tuple[Write, ...] = ()
        if new_type != tag.scoped_type:
            counts = (_count_tag(new_type), _uncount_tag(tag.scoped_type))
        self._transact(new_type, [update, *counts, *others])

    def _transact(self, tag_type: Scoped, writes: list[Write]) -> None:
        try:
            self.tables.transact(writes)
        except TagTypeFullError:
            # One condition checks both: that the type exists, and that it has room.
            if self.tables.get(TAG_TYPES, _type_key(tag_type)) is not None:
                raise
            error = InvalidInputError.of("tagTypeName", f"tag type {tag_type} does not exist")
            raise error from None

    def delete(self, tag: Tag, *others: Write) -> None:
        """Remove the tag, if it is unchanged since it was read."""
        gone = Delete(
            table=TAGS,
            key=_tag_key(tag.scoped),
            conditions=(equals("revision", tag.revision),),
            refused=TagRevisionError(tag.scoped),
        )
        self.tables.transact([gone, _uncount_tag(tag.scoped_type), *others])


@dataclass(eq=False, repr=False)
class TagTypeRepository:
    """Tag types; `others` are writes of the same transaction."""

    tables: Tables

    def get(self, tag_type: Scoped) -> TagType | None:
        item = self.tables.get(TAG_TYPES, _type_key(tag_type))
        return None if item is None else _parse(TagType, _TYPE, item)

    def get_many(self, types: Iterable[Scoped]) -> dict[Scoped, TagType]:
        """Return those of the types that exist."""
        rows = self.tables.get_many([(TAG_TYPES, _type_key(tag_type)) for tag_type in types])
        stored = (_parse(TagType, _TYPE, item) for _, item in rows)
        return {tag_type.scoped: tag_type for tag_type in stored}

    def list_registry(self, page: PageRequest) -> Page[TagType]:
        return self.tables.scan(TAG_TYPES, page).map(lambda item: _parse(TagType, _TYPE, item))

    def put_new(self, tag_type: TagType, *others: Write) -> None:
        scoped = tag_type.scoped
        new = put_new(TAG_TYPES, _row(tag_type, scoped, _TYPE), TagTypeExistsError(scoped))
        self.tables.transact([new, *_require_free(TAG_TYPES, scoped, _TYPE), *others])

    def change(self, tag_type: TagType, changes: Mapping[str, Any], *others: Write) -> None:
        """Set some attributes, if the type is unchanged since it was read."""
        update = Update(
            table=TAG_TYPES,
            key=_type_key(tag_type.scoped),
            set=changes,
            add={"revision": 1},
            conditions=(equals("revision", tag_type.revision),),
            refused=TagTypeRevisionError(tag_type.scoped),
        )
        self.tables.transact([update, *others])

    def delete_unused(self, tag_type: TagType, *others: Write) -> None:
        """Remove the type, if no tag has it and it is unchanged since it was read.

        Raises:
            TagTypeRevisionError: a tag has the type, or it was changed or does not exist.
        """
        gone = Delete(
            table=TAG_TYPES,
            key=_type_key(tag_type.scoped),
            conditions=(equals(_COUNT, 0), equals("revision", tag_type.revision)),
            refused=TagTypeRevisionError(tag_type.scoped),
        )
        self.tables.transact([gone, *others])


def _tag_key(tag: Scoped) -> Key:
    return {_TAG: tag.key}


def _type_key(tag_type: Scoped) -> Key:
    return {_TYPE: tag_type.key}


def _row(model: Tag | TagType, scoped: Scoped, key: str) -> Item:
    """Return the item of a tag or type. Those of GLOBAL are rows of the data model."""
    item = model.model_dump(by_alias=True) | {key: scoped.key}
    if scoped.database_id == GLOBAL:
        del item[_SCOPE]
    return item


def _parse(model: type[M], key: str, item: Item) -> M:
    prefix = f"{item.get(_SCOPE, GLOBAL)}:"
    return model.model_validate({**item, key: str(item[key]).removeprefix(prefix)})


def _require_free(table: Table, scoped: Scoped, key: str) -> list[Write]:
    """Refuse a name of a database that GLOBAL has."""
    if scoped.database_id == GLOBAL:
        return []
    fact = f"{scoped.name} already exists in {GLOBAL}, which is all databases"
    return [
        Check(
            table=table,
            key={key: scoped.name},
            conditions=(absent(key),),
            refused=InvalidInputError.of(key, fact),
        )
    ]


def _count_tag(tag_type: Scoped) -> Update:
    """Return the write that counts one more tag of the type, which must exist and have room."""
    return Update(
        table=TAG_TYPES,
        key=_type_key(tag_type),
        add={_COUNT: 1},
        conditions=(exists(_TYPE), Condition(_COUNT, "not >", MAX_TAGS_OF_TYPE - 1)),
        refused=TagTypeFullError(tag_type),
    )


def _uncount_tag(tag_type: Scoped) -> Update:
    return Update(
        table=TAG_TYPES,
        key=_type_key(tag_type),
        add={_COUNT: -1},
        conditions=(Condition(_COUNT, ">=", 1),),
        refused=TagTypeNotFoundError(tag_type),
    )
