"""Cleans texts of files where they leave a reader: a file may contain anything.

A lone surrogate, which JSON of a file can contain, is in no valid text: nothing stores it.
"""


def printable_line(text: str) -> str:
    """Return a text as one line of printable characters."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(printable.split())


def without_surrogates(text: str) -> str:
    """Return a name as it is, without lone surrogates."""
    return text.encode("utf-8", "replace").decode()


CODE_PAGES = ("cp1252", "cp1251", "cp932", "gbk", "cp437")
"""The code pages of Windows in Western Europe, Eastern Europe, Japan and China, and of DOS."""


def names_in_code_pages(name: str) -> list[str]:
    """Return what a name may be whose bytes that are no UTF-8 are escaped as surrogates."""
    try:
        raw = name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return [name]
    names = list[str]()
    for encoding in ("utf-8", *CODE_PAGES):
        try:
            names.append(raw.decode(encoding))
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8":
            break
    return names or [name]
