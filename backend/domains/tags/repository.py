"""The tables of tags and tag types, by access pattern. They are registries: scanned by page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from backend.core.errors import (
    InvalidInputError,
)
from backend.core.names import GLOBAL
from backend.core.paging import Page, PageRequest, Position, all_items
from backend.core.tables import Query, Tables
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
from backend.spec.tables.registry import DATABASE_TAG_TYPES, TAG_TYPES, TAGS

SCAN_PAGE = 1000  # rows of a request at most; DynamoDB ends a page after 1 MB

_TAG = TAGS.partition_key.name
_TYPE = TAG_TYPES.partition_key.name
_COUNT = "tagCount"
_SCOPE = DATABASE_TAG_TYPES.partition_key.name
_FIRST_OF_DATABASES: Position = {_SCOPE: ""}  # where lists continue after the types of GLOBAL
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
        new = put_new(TAGS, {**_row(tag), **_tag_key(tag.scoped)}, TagExistsError(tag.scoped))
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
            if self.tables.get(*_place(tag_type)) is not None:
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
        item = self.tables.get(*_place(tag_type))
        return None if item is None else _parse(TagType, _TYPE, item)

    def get_many(self, types: Iterable[Scoped]) -> dict[Scoped, TagType]:
        """Return those of the types that exist."""
        rows = self.tables.get_many([_place(tag_type) for tag_type in types])
        stored = (_parse(TagType, _TYPE, item) for _, item in rows)
        return {tag_type.scoped: tag_type for tag_type in stored}

    def in_force(self, database_id: str) -> list[TagType]:
        """Return the types of GLOBAL and of a database, which may be a moment old."""
        scan = partial(self.tables.scan, TAG_TYPES, consistent=False)
        own = self.tables.query_all(Query(table=DATABASE_TAG_TYPES, partition=database_id))
        return [_parse(TagType, _TYPE, item) for item in (*all_items(scan, SCAN_PAGE), *own)]

    def list_registry(self, page: PageRequest) -> Page[TagType]:
        """List the types of GLOBAL, and then those of databases."""
        table = DATABASE_TAG_TYPES if page.after and _SCOPE in page.after else TAG_TYPES
        if page.after == _FIRST_OF_DATABASES:
            page = PageRequest(page.limit)
        rows, after = self.tables.scan(table, page)
        if table is TAG_TYPES and after is None:
            after = _FIRST_OF_DATABASES
        return Page(rows, after).map(lambda item: _parse(TagType, _TYPE, item))

    def position_of(self, tag_type: TagType) -> Position:
        """Return the position in the list after a type."""
        return _place(tag_type.scoped)[1]

    def put_new(self, tag_type: TagType, *others: Write) -> None:
        scoped = tag_type.scoped
        new = put_new(_place(scoped)[0], _row(tag_type), TagTypeExistsError(scoped))
        self.tables.transact([new, *_require_free(TAG_TYPES, scoped, _TYPE), *others])

    def change(self, tag_type: TagType, changes: Mapping[str, Any], *others: Write) -> None:
        """Set some attributes, if the type is unchanged since it was read."""
        table, key = _place(tag_type.scoped)
        update = Update(
            table=table,
            key=key,
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
        table, key = _place(tag_type.scoped)
        gone = Delete(
            table=table,
            key=key,
            conditions=(equals(_COUNT, 0), equals("revision", tag_type.revision)),
            refused=TagTypeRevisionError(tag_type.scoped),
        )
        self.tables.transact([gone, *others])


def _tag_key(tag: Scoped) -> Key:
    return {_TAG: tag.key}


def _place(tag_type: Scoped) -> tuple[Table, Key]:
    key = {_TYPE: tag_type.name}
    if tag_type.database_id == GLOBAL:
        return TAG_TYPES, key
    return DATABASE_TAG_TYPES, {_SCOPE: tag_type.database_id, **key}


def _row(model: Tag | TagType) -> Item:
    """Return the item of a tag or type. Those of GLOBAL are rows of the data model."""
    excluded = {"database_id"} if model.database_id == GLOBAL else None
    return model.model_dump(by_alias=True, exclude=excluded)


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
    table, key = _place(tag_type)
    return Update(
        table=table,
        key=key,
        add={_COUNT: 1},
        conditions=(exists(_TYPE), Condition(_COUNT, "not >", MAX_TAGS_OF_TYPE - 1)),
        refused=TagTypeFullError(tag_type),
    )


def _uncount_tag(tag_type: Scoped) -> Update:
    table, key = _place(tag_type)
    return Update(
        table=table,
        key=key,
        add={_COUNT: -1},
        conditions=(Condition(_COUNT, ">=", 1),),
        refused=TagTypeNotFoundError(tag_type),
    )
