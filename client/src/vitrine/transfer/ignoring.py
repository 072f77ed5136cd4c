"""Files that a synchronization leaves out: `.vitrineignore`, in the syntax of git."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from vitrine.errors import ConfigurationError
from vitrine.transfer.names import compose_name

IGNORE_FILE: Final = ".vitrineignore"
# Partial downloads, and the file itself.
_OWN: Final = (".vitrine-*.part", f"/{IGNORE_FILE}")
_MOST_BYTES: Final = 1024 * 1024


def read_ignores(root: Path) -> Callable[[str], bool]:
    """Return whether a path below the folder is left out; paths of folders end with a slash.

    Only the file at the top of the folder is read.

    Raises:
        ConfigurationError: the file cannot be read, or a line is no pattern.
    """
    path = root / IGNORE_FILE
    try:
        facts = path.lstat()
        # A pipe would be waited for, and a link could name any file.
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MOST_BYTES:
            raise ConfigurationError(f"{path} must be a regular file of at most 1 MiB")
        # As git reads it: without the mark that some editors write at the beginning.
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        lines = []
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 text") from error
    try:
        patterns = GitIgnoreSpec.from_lines([compose_name(line) for line in (*lines, *_OWN)])
    except ValueError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    return lambda name: patterns.match_file(compose_name(name))


def ignores_path(ignores: Callable[[str], bool], path: str) -> bool:
    """Return whether a file or one of the folders that it is in is left out."""
    parts = path.strip("/").split("/")
    folders = ("/".join(parts[:count]) + "/" for count in range(1, len(parts)))
    return any(ignores(folder) for folder in folders) or ignores("/".join(parts))
