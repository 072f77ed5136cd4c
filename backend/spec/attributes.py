"""Attributes of DynamoDB items that are part of a key, with their DynamoDB type."""

from dataclasses import dataclass
from typing import Literal

AttributeType = Literal["S", "N", "B"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A key attribute: its physical name and its DynamoDB type (`S`, `N` or `B`)."""

    name: str
    type: AttributeType = "S"
