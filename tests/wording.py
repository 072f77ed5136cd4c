"""Words of programs that no message for people has."""

import re

_FOREIGN = re.compile(
    r"Value error|Input should|should match|pattern|\bdict(ionary)?\b|\btuple\b|\bNoneType\b"
    r"|instance of|after validation|unable to (parse|interpret)|raw data|hex escape"
    r"|\b(str|int|bool|float)\b|\bb'|\(\?|\[\^|\\x[0-9a-f]{2}|\{\d+,\d*\}|Traceback|<class|function-"
    r"|\('',|\[''|\bTrue\b|\bFalse\b|\bNone\b"
)
_QUOTED = re.compile(r"(?<!\w)'[^']*'")
"""A value between quotes, which may be any text; that of bytes has a `b` before it."""


def foreign_words(message: str) -> list[str]:
    """Return the words and forms of programs in a message."""
    return [item[0] for item in _FOREIGN.finditer(_QUOTED.sub("''", message))]
