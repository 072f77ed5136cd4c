"""The messages of the publisher's queue."""

from typing import Annotated, Any

from pydantic import Field

from backend.core.models import WireModel


class OutgoingEvent(WireModel):
    """An event without its number. `fields` are those of its type besides the common ones."""

    type: str
    id: str
    at: str
    actor: str
    operation: str
    database_id: str
    asset_id: str
    fields: Annotated[dict[str, Any], Field(default_factory=dict[str, Any])]

    def detail(self, number: int) -> dict[str, Any]:
        """Return the content of the published event."""
        common = self.model_dump(by_alias=True, exclude={"type", "fields"})
        return {**common, "number": number, **self.fields}
