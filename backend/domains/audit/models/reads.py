"""The messages that report reads to the function that stores them."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from backend.core.models import WireModel


class ReadOfAsset(WireModel):
    """`files` are the first of `file_count` paths, or all those of a `part` of the files."""

    database_id: str
    asset_id: str
    files: Annotated[list[str], Field(default_factory=list[str])]
    file_count: int = 0
    part: int = 0


class ReadMessage(WireModel):
    """One read, or a part of one that concerns very many assets."""

    user_id: str
    operation: str
    request_id: str
    at: datetime
    urls: bool
    hourly: bool
    assets: list[ReadOfAsset]
