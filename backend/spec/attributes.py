"""Attributes of DynamoDB items that are part of a key, with their DynamoDB type."""

from typing import Literal

from backend.values import frozen

AttributeType = Literal["S", "N", "B"]


@frozen
class Attribute:
    """A key attribute: its physical name and its DynamoDB type (`S`, `N` or `B`)."""

    name: str
    type: AttributeType = "S"
