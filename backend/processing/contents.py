"""Recognises formats by the first bytes of a file, to explain why it cannot be read."""

import re

from backend.spec.formats import FORMATS, IMAGE_EXTENSIONS, START_BYTES, extension_of

_STARTS = [(format_, re.compile(format_.start, re.DOTALL)) for format_ in FORMATS if format_.start]


def other_format(path: str, start: bytes) -> str | None:
    """Return the reason why a refused file cannot be read, if its name has a wrong extension.

    `start` is the beginning of the content. None if its format is not recognised, or has this
    extension.
    """
    extension, start = extension_of(path), start[:START_BYTES]
    content = next((format_ for format_, pattern in _STARTS if pattern.match(start)), None)
    if content is None:
        return None
    names = {*content.extensions.split(), *content.read_under.split()}
    if extension in (names | IMAGE_EXTENSIONS if content.kind == "image" else names):
        return None
    return f"The content is {content.name}, but the name ends in .{extension}"
