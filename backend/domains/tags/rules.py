"""The tags that an asset must have, and the displayed names of types. Pure."""

from collections.abc import Callable, Collection, Iterable

from backend.core.errors import InvalidInputError
from backend.core.names import GLOBAL
from backend.domains.tags.models import Scoped, Tag, TagType

_REQUIRED_MARK = " [R]"


def shown_type(tag: Tag, tag_type: TagType | None) -> str:
    """Return the name of a tag's type as lists of tags contain it."""
    is_required = tag_type is not None and tag_type.is_required
    return tag.tag_type_name + _REQUIRED_MARK if is_required else tag.tag_type_name


def scopes_of(database_id: str, tags: Iterable[str]) -> list[Scoped]:
    """Return the tags that names may mean for assets of a database."""
    return [Scoped(scope, name) for name in tags for scope in (database_id, GLOBAL)]


def resolve(tags: Iterable[Tag]) -> dict[str, Tag]:
    """Return tags by name: of those with one name, that of the database."""
    ordered = sorted(tags, key=lambda tag: tag.database_id != GLOBAL)
    return {tag.tag_name: tag for tag in ordered}


def check_known(tags: Iterable[str], known: Collection[str]) -> None:
    """Require that every tag is among the `known` ones.

    Raises:
        InvalidInputError: the message names the missing tags.
    """
    missing = sorted(set(tags) - set(known))
    if missing:
        raise InvalidInputError.of("tags", f"tag {', '.join(missing)} does not exist")


def check_required(
    covered: Collection[Scoped], types: Iterable[TagType], *, named: Callable[[Scoped], bool]
) -> None:
    """Require that every required type is among the `covered` ones.

    Raises:
        InvalidInputError: the message names the missing types, of those that may be `named`.
    """
    missing = sorted(
        tag_type.scoped
        for tag_type in types
        # A required type without tags is ignored: no asset could have one of them.
        if tag_type.is_required and tag_type.tag_count > 0 and tag_type.scoped not in covered
    )
    names = ", ".join(map(str, filter(named, missing)))
    if names:
        raise InvalidInputError.of("tags", f"a tag of type {names} is required")
    if missing:
        raise InvalidInputError.of(
            "tags", "a tag of a required type is missing; you have no permission to see that type"
        )
