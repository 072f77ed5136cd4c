"""Quotes values of requests in messages for people."""

import json


def quoted(value: object, most: int = 80) -> str:
    """Return a text in single quotes, its unprintable characters escaped; other values as JSON.

    Longer ones end with an ellipsis. Python's own form changes its quotes with the content, and
    names types.
    """
    if not isinstance(value, str):
        return _cut(json.dumps(value, ensure_ascii=False, default=str), most)
    return f"'{_cut(''.join(map(_printable, value)), most)}'"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _printable(character: str) -> str:
    return character if character.isprintable() else f"\\u{ord(character):04x}"
