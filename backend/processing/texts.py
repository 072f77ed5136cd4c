"""Cleans texts of files where they leave a reader: a file may contain anything.

A lone surrogate, which JSON of a file can contain, is in no valid text: nothing stores it.
"""


def printable_line(text: str) -> str:
    """Return a text as one line of printable characters."""
    printable = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(printable.split())


def without_surrogates(text: str) -> str:
    """Return a name as it is, without lone surrogates."""
    return text.encode("utf-8", "replace").decode()
