"""Files that arguments name; `-` is standard input or standard output."""

import sys
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from vitrine.cli.problems import problem_of
from vitrine.errors import ConfigurationError

T = TypeVar("T")
_STANDARD = Path("-")


def is_standard(path: Path) -> bool:
    """Return whether a path means standard input or output."""
    return path == _STANDARD


def read_json(path: Path, kind: type[T]) -> T:
    """Return the content of a JSON file, or of standard input.

    Raises:
        ConfigurationError: it cannot be read, or is not what `kind` requires.
    """
    name = "standard input" if is_standard(path) else str(path)
    try:
        content = sys.stdin.buffer.read() if is_standard(path) else path.read_bytes()
        return TypeAdapter(kind).validate_json(content)
    except OSError as error:
        raise ConfigurationError(f"{name} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise ConfigurationError(f"{name}: {problem_of(error)}") from error
