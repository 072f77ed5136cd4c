"""Converts names on disk to names in Vitrine, by the rules of the contract. Pure.

Ids are derived, not random, so importing the same folder into the same database finds its asset
again.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

from vitrine.quoting import quote_text
from vitrine.workflow_models import GLOBAL

FORBIDDEN = '<>:"/\\|?*'
# The limits of the API for names of assets and files, and for ids of databases.
LONGEST_NAME = 255
# The contract's limits of ids.
LONGEST_DATABASE_ID = 63
SHORTEST_DATABASE_ID = 3

_NOT_IN_ID = re.compile(r"[^-_a-zA-Z0-9]+")
_NOT_IN_OBJECT_NAME = re.compile(r"[^a-zA-Z0-9\-._ ]+")


class UnusableNameError(ValueError):
    """A name that the server cannot store; the message is the reason."""


def compose_name(name: str) -> str:
    """Return the text in NFC, the form in which names are compared and stored."""
    return unicodedata.normalize("NFC", name)


def relative_key(parts: Sequence[str]) -> str:
    """Return the path inside the asset: with a leading slash, in NFC, otherwise as on disk.

    Raises:
        UnusableNameError: a segment is not allowed by the contract.
    """
    if not parts:
        raise UnusableNameError("the path is empty")
    segments = [compose_name(part) for part in parts]
    for segment in segments:
        _check_segment(segment)
    return "/" + "/".join(segments)


def _check_segment(segment: str) -> None:
    """Check one name; the rule is the same for files and folders."""
    if segment in {"", ".", ".."}:
        raise UnusableNameError(f"the path segment {quote_text(segment)} is not allowed")
    for character in segment:
        category = unicodedata.category(character)
        if category == "Cs":
            raise UnusableNameError("the name is not valid UTF-8")
        if category == "Cc":
            raise UnusableNameError(
                f"the name contains the control character U+{ord(character):04X}"
            )
    held = [character for character in FORBIDDEN if character in segment]
    if held:
        raise UnusableNameError(f"the name {quote_text(segment)} contains {' '.join(held)}")
    if segment.endswith((".", " ")):
        raise UnusableNameError(f"the name {quote_text(segment)} ends with a dot or a space")
    if len(segment) > LONGEST_NAME:
        raise UnusableNameError(f"a name has more than {LONGEST_NAME} characters")


def object_name(folder: str) -> str:
    """Return the folder's name if it is a valid object name.

    Otherwise a valid name, with a suffix that distinguishes folders with similar names.
    """
    name = compose_name(folder)
    if not _NOT_IN_OBJECT_NAME.search(name) and name.strip() == name and 0 < len(name) <= 256:
        return name
    plain = _NOT_IN_OBJECT_NAME.sub("_", _without_marks(name)).strip()
    return f"{plain[:200] or 'folder'}-{_digest(name, 8)}"


def asset_id(database_id: str, folder: str) -> str:
    """Return the id of the asset for this folder in this database."""
    name = compose_name(folder)
    plain = _NOT_IN_ID.sub("-", _without_marks(name)).strip("-_")[:40].rstrip("-_")
    # Ids are unique in a deployment, so the digest includes the database.
    return f"{plain or 'asset'}-{_digest(f'{database_id}/{name}', 12)}"


def database_id(folder: str) -> str:
    """Return a database id derived from a folder's name."""
    plain = _NOT_IN_ID.sub("-", _without_marks(compose_name(folder))).strip("-_")
    plain = plain[:LONGEST_DATABASE_ID].rstrip("-_")
    if plain.upper() == GLOBAL or len(plain) < SHORTEST_DATABASE_ID:
        plain = f"{plain}-files".lstrip("-")
    return plain


def loose_asset_name(root: str, folders: Sequence[str]) -> str:
    """Return the name for the files beside the folders.

    The root's, different from every folder's.
    """
    taken = {compose_name(folder) for folder in folders}
    name = compose_name(root) or "files"
    while name in taken:
        name = f"{name}-files"
    return name


def shown(path: str) -> str:
    """Return a path that every terminal and JSON parser accepts; undecodable bytes are escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _without_marks(name: str) -> str:
    """Return the letters without their accents, as far as Unicode defines them."""
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark))


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
