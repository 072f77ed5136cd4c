"""Quotes names and texts in messages for people."""


def quote_text(text: str) -> str:
    """Return the text in single quotes, its unprintable characters escaped.

    Python's own form changes its quotes with the content.
    """
    return f"'{''.join(map(_printable, text))}'"


def _printable(character: str) -> str:
    return character if character.isprintable() else f"\\u{ord(character):04x}"
