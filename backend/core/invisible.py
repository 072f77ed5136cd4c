"""Invisible characters: names that contain them look like other names, or are displayed reversed.

Refused are the bidirectional controls, zero-width characters and all others that Unicode lets a
program display as nothing (Default_Ignorable_Code_Point), the separators of lines and paragraphs,
and two symbols that are drawn empty: Braille's blank pattern and the null notehead. Blanks other
than the space are refused at the ends of a name, where they are not seen. Allowed are those that
change how a name is displayed: joiners between letters that they shape (UAX 31 and RFC 5892,
CONTEXTJ), the parts of emoji sequences (UTS 51), and selectors of variants after ideographs and
Mongolian letters.
"""

import re
from collections.abc import Mapping

from backend.core.errors import InvalidInputError

# Texts, which `re` compiles at their first use: few names have other characters than ASCII, and the
# start of a function would take 4 ms longer.
INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# A space, and what looks like one.
BLANKS = " \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"
_BLANKS = "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
# A blank other than the space at the beginning or end of a name, or of a segment of a path. Between
# letters they are in use: macOS puts U+202F into the names of screenshots.
BLANK_END = f"(?:^|/)({_BLANKS})|({_BLANKS})(?:/|$)"
JOINERS = "\u200c\u200d"
BLANK_FACT = "must not begin or end with the blank U+{code}"
INVISIBLE_FACT = "must not contain the invisible character U+{code}"

_PICTURE = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
"""The characters of emoji sequences, all of which are visible."""
_SHOWN_AS = "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]?"
_ELEMENT = f"{_PICTURE}{_SHOWN_AS}"
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
# Also read by the page, as are INVISIBLE, BLANK_END, JOINERS and the facts
# (`docs/web_declarations.py`): regular expressions of Python and JavaScript.
ALLOWED = (
    f"{_FLAG}|{_ELEMENT}(?:\u200d{_ELEMENT})*|[0-9]\ufe0f\u20e3"
    "|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    "[\ufe00-\ufe02\U000e0100-\U000e01ef]"
    "|[\u1820-\u18aa][\u180b-\u180d\u180f]"
)


def check_visible(value: str) -> str:
    """Return a name in which every invisible character changes how it is displayed.

    Raises:
        ValueError: the name contains another one, or begins or ends with a blank.
    """
    if value.isascii():
        return value
    blank = re.search(BLANK_END, value)
    if blank is not None:
        raise ValueError(BLANK_FACT.format(code=_code(blank[1] or blank[2])))
    if re.search(INVISIBLE, value) is None:
        return value
    allowed = {at for match in re.finditer(ALLOWED, value) for at in range(*match.span())}
    for match in re.finditer(INVISIBLE, value):
        at = match.start()
        if at not in allowed and not (match[0] in JOINERS and _joins(value, at)):
            raise ValueError(INVISIBLE_FACT.format(code=_code(match[0])))
    return value


def check_new_name(value: str) -> str:
    """As `check_visible`, for ids, keys and names of objects: without a space at either end.

    Raises:
        ValueError: the message names the space or the character.
    """
    if value != value.strip(" "):
        raise ValueError("must not begin or end with a space")
    return check_visible(value)


def require_new_names(names: Mapping[str, str]) -> None:
    """Check the names, by field, that a request introduces; stored ones remain usable.

    Raises:
        InvalidInputError: one has a space at its ends or an invisible character.
    """
    for field, name in names.items():
        try:
            check_new_name(name)
        except ValueError as error:
            raise InvalidInputError.of(field, str(error)) from None


def _code(char: str) -> str:
    return f"{ord(char):04X}"


def _joins(value: str, at: int) -> bool:
    """Return whether a joiner shapes the letters around it."""
    from idna import valid_contextj  # noqa: PLC0415 - few names hold a joiner

    try:
        return valid_contextj(value, at)
    except ValueError:  # next to a code point that Unicode has not assigned
        return False
