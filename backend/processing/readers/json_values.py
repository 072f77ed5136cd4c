"""Access to JSON values of unknown shape."""

from typing import Any, cast


def mapping(value: object) -> dict[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []
