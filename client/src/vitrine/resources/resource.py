"""The base of all resources, and the parts of requests that many have in common."""

from collections.abc import Mapping

from pydantic import JsonValue

from vitrine.transport import Transport


class Resource:
    """The operations of one family of routes."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def given(**values: JsonValue) -> dict[str, JsonValue]:
    """Return the values that are not None; other fields are not sent."""
    return {name: value for name, value in values.items() if value is not None}


def if_match(revision: str | None) -> Mapping[str, str] | None:
    """Return the header that makes a write fail if the resource was changed meanwhile."""
    return {"If-Match": revision} if revision is not None else None
