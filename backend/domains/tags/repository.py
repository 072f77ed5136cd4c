"""The tables of tags and tag types, by access pattern. Both are registries: scanned by page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.core.errors import (
    InvalidInputError,
)
from backend.core.paging import Page, PageRequest
from backend.core.tables import Tables
from backend.core.transactions import Condition, Delete, Update, Write, equals, exists, put_new
from backend.domains.tags.errors import (
    TagExistsError,
    TagRevisionError,
    TagTypeExistsError,
    TagTypeFullError,
    TagTypeNotFoundError,
    TagTypeRevisionError,
)
from backend.domains.tags.models import MAX_TAGS_OF_TYPE, Tag, TagType
from backend.spec.tables.registry import TAG_TYPES, TAGS

_TAG = TAGS.partition_key.name
_TYPE = TAG_TYPES.partition_key.name
_COUNT = "tagCount"


@dataclass(eq=False, repr=False)
class TagRepository:
    """Tags; each write that adds or removes a tag updates the count of its type.

    `others` are writes of the same transaction.
    """

    tables: Tables

    def get(self, tag_name: str) -> Tag | None:
        item = self.tables.get(TAGS, {_TAG: tag_name})
        return None if item is None else Tag.model_validate(item)

    def get_many(self, tag_names: Iterable[str]) -> list[Tag]:
        """Return those of the tags that exist, in no order."""
        rows = self.tables.get_many([(TAGS, {_TAG: name}) for name in tag_names])
        return [Tag.model_validate(item) for _, item in rows]

    def list_registry(self, page: PageRequest) -> Page[Tag]:
        return self.tables.scan(TAGS, page).map(Tag.model_validate)

    def put_new(self, tag: Tag, *others: Write) -> None:
        item = tag.model_dump(by_alias=True)
        new = put_new(TAGS, item, TagExistsError(tag.tag_name))
        self._transact(tag.tag_type_name, [new, _count_tag(tag.tag_type_name), *others])

    def change(self, tag: Tag, changes: Mapping[str, Any], *others: Write) -> None:
        """Set some attributes, if the tag is unchanged since it was read."""
        update = Update(
            table=TAGS,
            key={_TAG: tag.tag_name},
            set=changes,
            add={"revision": 1},
            conditions=(equals("revision", tag.revision),),
            refused=TagRevisionError(tag.tag_name),
        )
        new_type = changes.get(_TYPE, tag.tag_type_name)
        counts: tuple[Write, ...] = ()
        if new_type != tag.tag_type_name:
            counts = (_count_tag(new_type), _uncount_tag(tag.tag_type_name))
        self._transact(new_type, [update, *counts, *others])

    def _transact(self, tag_type_name: str, writes: list[Write]) -> None:
        try:
            self.tables.transact(writes)
        except TagTypeFullError:
            # One condition checks both: that the type exists, and that it has room.
            if self.tables.get(TAG_TYPES, {_TYPE: tag_type_name}) is not None:
                raise
            error = InvalidInputError.of("tagTypeName", f"tag type {tag_type_name} does not exist")
            raise error from None

    def delete(self, tag: Tag, *others: Write) -> None:
        """Remove the tag, if it is unchanged since it was read."""
        gone = Delete(
            table=TAGS,
            key={_TAG: tag.tag_name},
            conditions=(equals("revision", tag.revision),),
            refused=TagRevisionError(tag.tag_name),
        )
        self.tables.transact([gone, _uncount_tag(tag.tag_type_name), *others])


@dataclass(eq=False, repr=False)
class TagTypeRepository:
    """Tag types; `others` are writes of the same transaction."""

    tables: Tables

    def get(self, tag_type_name: str) -> TagType | None:
        item = self.tables.get(TAG_TYPES, {_TYPE: tag_type_name})
        return None if item is None else TagType.model_validate(item)

    def get_many(self, names: Iterable[str]) -> dict[str, TagType]:
        """Return those of the types that exist, by name."""
        rows = self.tables.get_many([(TAG_TYPES, {_TYPE: name}) for name in names])
        types = (TagType.model_validate(item) for _, item in rows)
        return {tag_type.tag_type_name: tag_type for tag_type in types}

    def list_registry(self, page: PageRequest) -> Page[TagType]:
        return self.tables.scan(TAG_TYPES, page).map(TagType.model_validate)

    def put_new(self, tag_type: TagType, *others: Write) -> None:
        item = tag_type.model_dump(by_alias=True)
        new = put_new(TAG_TYPES, item, TagTypeExistsError(tag_type.tag_type_name))
        self.tables.transact([new, *others])

    def change(self, tag_type: TagType, changes: Mapping[str, Any], *others: Write) -> None:
        """Set some attributes, if the type is unchanged since it was read."""
        update = Update(
            table=TAG_TYPES,
            key={_TYPE: tag_type.tag_type_name},
            set=changes,
            add={"revision": 1},
            conditions=(equals("revision", tag_type.revision),),
            refused=TagTypeRevisionError(tag_type.tag_type_name),
        )
        self.tables.transact([update, *others])

    def delete_unused(self, tag_type: TagType, *others: Write) -> None:
        """Remove the type, if no tag has it and it is unchanged since it was read.

        Raises:
            TagTypeRevisionError: a tag has the type, or it was changed or does not exist.
        """
        name = tag_type.tag_type_name
        gone = Delete(
            table=TAG_TYPES,
            key={_TYPE: name},
            conditions=(equals(_COUNT, 0), equals("revision", tag_type.revision)),
            refused=TagTypeRevisionError(name),
        )
        self.tables.transact([gone, *others])


def _count_tag(tag_type_name: str) -> Update:
    """Return the write that counts one more tag of the type, which must exist and have room."""
    return Update(
        table=TAG_TYPES,
        key={_TYPE: tag_type_name},
        add={_COUNT: 1},
        conditions=(exists(_TYPE), Condition(_COUNT, "not >", MAX_TAGS_OF_TYPE - 1)),
        refused=TagTypeFullError(tag_type_name),
    )


def _uncount_tag(tag_type_name: str) -> Update:
    return Update(
        table=TAG_TYPES,
        key={_TYPE: tag_type_name},
        add={_COUNT: -1},
        conditions=(Condition(_COUNT, ">=", 1),),
        refused=TagTypeNotFoundError(tag_type_name),
    )
