"""Where a file stands in the bucket, and which folders its key implies. Pure."""

from collections.abc import Iterator

from backend.core.errors import InvalidInputError
from backend.core.names import check_relative_path


def file_key(prefix: str, sent: str, *, field: str) -> str:
    """The key of the file that a client names by its path or by its key.

    A leading slash always means a path in the asset; without one, what begins with the asset's own
    prefix is a key.

    Raises:
        InvalidInputError: it is no path of a file.
    """
    path = sent.removeprefix(prefix) if sent.startswith(prefix) else sent
    try:
        return prefix + check_relative_path("/" + path.removeprefix("/"))[1:]
    except ValueError as error:
        raise InvalidInputError.of(field, str(error)) from None


def folder_key(prefix: str, sent: str, *, field: str) -> str:
    """As `file_key`, of a folder: it ends in `/`.

    Raises:
        InvalidInputError: it is no path of a folder.
    """
    return file_key(prefix, sent.removesuffix("/"), field=field) + "/"


def listed_prefix(prefix: str, sent: str) -> str:
    """The beginning that listed keys have, for the beginning of a path that a client names.

    Raises:
        InvalidInputError: a segment of it is not one that a path may have.
    """
    beginning = (sent.removeprefix(prefix) if sent.startswith(prefix) else sent).removeprefix("/")
    segments = beginning.split("/")
    if ".." in segments or "." in segments or "" in segments[:-1]:
        raise InvalidInputError.of("prefix", "holds an empty segment, '.' or '..'")
    return prefix + beginning


def relative_path(prefix: str, key: str) -> str:
    """The path of a key in its asset, with a leading slash."""
    return "/" + key.removeprefix(prefix)


def name_of(key: str) -> str:
    """The last segment, of a folder too."""
    return key.removesuffix("/").rsplit("/", 1)[-1]


def rows_of(prefix: str, previous: str | None, key: str) -> Iterator[str]:
    """The rows that a key adds to a listing in key order: folders not seen before, then itself.

    `previous` is the key before it; keys of one folder stand together, so it tells what was seen.
    """
    start = len(prefix)
    while (end := key.find("/", start)) >= 0:
        folder = key[: end + 1]
        if previous is None or not previous.startswith(folder):
            yield folder
        start = end + 1
    if not key.endswith("/"):
        yield key
