"""Bases of requests and replies: wire names are camelCase, in Python they are snake_case."""

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel


class Wire(BaseModel):
    """Base of replies: camelCase aliases, unknown fields kept, values frozen."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", frozen=True
    )

    def wire(self) -> dict[str, JsonValue]:
        """Return the value with wire names, without fields that the server did not send."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Body(Wire):
    """Base of the bodies of requests."""

    def body(self) -> dict[str, JsonValue]:
        """Return the body with wire names; fields that are None are not sent."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class HitText(Wire):
    """Base of search hits."""

    source: dict[str, JsonValue]

    def text(self, field: str) -> str:
        """Return a field of the document as text; empty without one."""
        value = self.source.get(field)
        return "" if value is None else str(value)


class Drift(Wire):
    """Base of the report of a check of the indexes."""

    missing: int = 0
    stale: int = 0
    extra: int = 0

    @property
    def drift(self) -> int:
        """Return how many documents differ."""
        return self.missing + self.stale + self.extra
