"""Recognises formats by the first bytes of a file."""

import re

from backend.spec.formats import (
    FORMAT_OF,
    FORMATS,
    IMAGE_EXTENSIONS,
    START_BYTES,
    Format,
    extension_of,
)

_STARTS = [(format_, re.compile(format_.start, re.DOTALL)) for format_ in FORMATS if format_.start]


def content_format(start: bytes) -> Format | None:
    """Return the format of a content by its beginning, None if it is not recognised."""
    start = start[:START_BYTES]
    return next((format_ for format_, pattern in _STARTS if pattern.match(start)), None)


def is_unverified(extension: str, start: bytes) -> bool:
    """Return whether no second program confirms what is read of a file."""
    if FORMAT_OF[extension].tier != "Read":
        return False
    content = content_format(start)
    if content is None or content.tier != "Promised":
        return True
    return extension not in content.read_under.split()


def other_format(path: str, start: bytes) -> str | None:
    """Return the reason why a refused file cannot be read, if its name has a wrong extension.

    `start` is the beginning of the content. None if its format is not recognised, or has this
    extension.
    """
    extension, content = extension_of(path), content_format(start)
    if content is None:
        return None
    names = {*content.extensions.split(), *content.read_under.split()}
    if extension in (names | IMAGE_EXTENSIONS if content.kind == "image" else names):
        return None
    return f"The content is {content.name}, but the name ends in .{extension}"
