"""The tags that an asset must have, and the displayed names of types. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence

from backend.core.errors import InvalidInputError
from backend.domains.tags.models import Tag, TagType

_REQUIRED_MARK = " [R]"


def shown_type(tag: Tag, tag_type: TagType | None) -> str:
    """Return the name of a tag's type as lists of tags contain it."""
    is_required = tag_type is not None and tag_type.is_required
    return tag.tag_type_name + _REQUIRED_MARK if is_required else tag.tag_type_name


def check_known(tags: Sequence[str], known: Iterable[Tag]) -> None:
    """Require that every tag exists.

    Raises:
        InvalidInputError: the message names the missing tags.
    """
    names = {tag.tag_name for tag in known}
    missing = sorted(set(tags) - names)
    if missing:
        raise InvalidInputError.of("tags", f"tag {', '.join(missing)} does not exist")


def check_required(
    covered: Collection[str], types: Iterable[TagType], *, named: Callable[[str], bool]
) -> None:
    """Require that every required type is among the `covered` ones.

    Raises:
        InvalidInputError: the message names the missing types, of those that may be `named`.
    """
    missing = sorted(
        tag_type.tag_type_name
        for tag_type in types
        # A required type without tags is ignored: no asset could have one of them.
        if tag_type.is_required and tag_type.tag_count > 0 and tag_type.tag_type_name not in covered
    )
    names = ", ".join(filter(named, missing))
    if names:
        raise InvalidInputError.of("tags", f"a tag of type {names} is required")
    if missing:
        raise InvalidInputError.of(
            "tags", "a tag of a required type is missing; you have no permission to see that type"
        )
