"""The header of STEP files (ISO 10303-21): the system that wrote them."""

import re

# The header is before the data, which is not parsed for one name.
_HEADER_BYTES = 65536
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([(),;])|/\*.*?\*/", re.DOTALL)
_ESCAPE = re.compile(
    r"''|\\\\|\\X2\\([0-9A-Fa-f]*)\\X0\\|\\X4\\([0-9A-Fa-f]*)\\X0\\"
    r"|\\X\\([0-9A-Fa-f]{2})|\\S\\(.)|\\P[A-I]\\"
)
_SYSTEM = 5  # of the parameters of FILE_NAME


def originating_system(data: bytes) -> str:
    """Return the system that wrote a STEP file: the sixth parameter of FILE_NAME."""
    raw = data[:_HEADER_BYTES]
    text = raw.decode("utf-8", "replace")
    if "\ufffd" in text[:-4]:  # before its third edition, a file was ISO 8859-1
        text = raw.decode("latin-1")
    place, depth = 0, 0
    for token in _TOKEN.finditer(text, _start(text)):
        string, mark = token.group(1), token.group(2)
        if mark == ";" or (mark == ")" and depth == 1):
            break
        depth += {"(": 1, ")": -1}.get(mark or "", 0)
        place += mark == "," and depth == 1
        if string is not None and place == _SYSTEM and depth == 1:
            return decode_string(string).strip()[:200]
    return ""


def _start(text: str) -> int:
    """Return where FILE_NAME is, which may also be a word in a string before it."""
    for token in re.finditer(r"'(?:[^']|'')*'|/\*.*?\*/|\bFILE_NAME\b", text, re.DOTALL):
        if token.group() == "FILE_NAME":
            return token.end()
    return len(text)


def decode_string(string: str) -> str:
    """Return a string without the escapes of ISO 10303-21. What is not valid remains."""
    unbroken = string.replace("\r", "").replace("\n", "")  # lines have at most 80 characters
    return _ESCAPE.sub(_character, unbroken)


def _character(escape: re.Match[str]) -> str:
    two, four, latin, shifted = escape.groups()
    try:
        if two is not None:
            return bytes.fromhex(two).decode("utf-16-be", "replace")
        if four is not None:
            return bytes.fromhex(four).decode("utf-32-be", "replace")
    except ValueError:
        return escape.group()
    if latin is not None:
        return chr(int(latin, 16))
    if shifted is not None:
        return chr(ord(shifted) + 128) if ord(shifted) < 128 else escape.group()
    # Pages other than Latin-1 are deprecated, and rare.
    return {"''": "'", "\\\\": "\\"}.get(escape.group(), "")
