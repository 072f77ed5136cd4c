"""From names on the disk to names in Vitrine. Pure; every rule is the contract's.

Ids are derived, not drawn: the same folder imported into the same database finds its asset again.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

FORBIDDEN = '<>:"/\\|?*'
LONGEST_NAME = 255
LONGEST_DATABASE_ID = 63
SHORTEST_DATABASE_ID = 3
RESERVED_DATABASE_ID = "GLOBAL"

_NOT_IN_ID = re.compile(r"[^-_a-zA-Z0-9]+")
_NOT_IN_OBJECT_NAME = re.compile(r"[^a-zA-Z0-9\-._ ]+")


class UnusableNameError(ValueError):
    """A name that the server could never store; the message is the reason."""


def composed(name: str) -> str:
    """NFC: the one form in which names are compared and stored."""
    return unicodedata.normalize("NFC", name)


def relative_key(parts: Sequence[str]) -> str:
    """The path inside the asset: a leading slash, NFC, as the disk has it otherwise.

    Raises:
        UnusableNameError: a segment cannot be stored under the contract's rules.
    """
    if not parts:
        raise UnusableNameError("the path is empty")
    segments = [composed(part) for part in parts]
    for segment in segments:
        _check_segment(segment)
    return "/" + "/".join(segments)


def _check_segment(segment: str) -> None:
    """The rule for one name; folders follow it as files do."""
    if segment in {"", ".", ".."}:
        raise UnusableNameError(f"the path segment {segment!r} is not allowed")
    for character in segment:
        category = unicodedata.category(character)
        if category == "Cs":
            raise UnusableNameError("the name is not valid UTF-8")
        if category == "Cc":
            raise UnusableNameError(
                f"the name contains the control character {ord(character):#04x}"
            )
    held = [character for character in FORBIDDEN if character in segment]
    if held:
        raise UnusableNameError(f"the name {segment!r} contains {' '.join(held)}")
    if segment.endswith((".", " ")):
        raise UnusableNameError(f"the name {segment!r} ends with a dot or a space")
    if len(segment) > LONGEST_NAME:
        raise UnusableNameError(f"a name has more than {LONGEST_NAME} characters")


def object_name(folder: str) -> str:
    """The folder's name where it fits the rule for object names.

    Otherwise a name that does, with a mark by which folders that look alike stay apart.
    """
    name = composed(folder)
    if not _NOT_IN_OBJECT_NAME.search(name) and name.strip() == name and 0 < len(name) <= 256:
        return name
    plain = _NOT_IN_OBJECT_NAME.sub("_", _without_marks(name)).strip()
    return f"{plain[:200] or 'folder'}-{_digest(name, 8)}"


def asset_id(database_id: str, folder: str) -> str:
    """The id of the asset that this folder becomes in this database.

    Ids are unique in a deployment, so the database is part of what is hashed.
    """
    name = composed(folder)
    plain = _NOT_IN_ID.sub("-", _without_marks(name)).strip("-_")[:40].rstrip("-_")
    return f"{plain or 'asset'}-{_digest(f'{database_id}/{name}', 12)}"


def database_id(folder: str) -> str:
    """A database id made of a folder's name."""
    plain = _NOT_IN_ID.sub("-", _without_marks(composed(folder))).strip("-_")
    plain = plain[:LONGEST_DATABASE_ID].rstrip("-_")
    if plain.upper() == RESERVED_DATABASE_ID or len(plain) < SHORTEST_DATABASE_ID:
        plain = f"{plain}-files".lstrip("-")
    return plain


def loose_asset_name(root: str, folders: Sequence[str]) -> str:
    """The name for the files beside the folders: the root's, kept apart from every folder's."""
    taken = {composed(folder) for folder in folders}
    name = composed(root) or "files"
    while name in taken:
        name = f"{name}-files"
    return name


def shown(path: str) -> str:
    """A path that every terminal and JSON reader takes: undecodable bytes become escapes."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _without_marks(name: str) -> str:
    """Letters without their accents, as far as Unicode knows how."""
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark))


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
