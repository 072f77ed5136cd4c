"""Recognises a conditional write of one's own whose reply was lost.

botocore sends a request again when no reply arrives. If the first attempt was carried out, the
condition of the second one fails because of the first, and the write would report a conflict with
itself. So a put or an update stores a random id with the item, and requires that the item has
another one: an item with this id was written by this write. Equal content would be no proof,
because another writer may have written the same.

Puts and updates have an attribute each: a row may be updated before the put is sent again, as a new
job is by its worker. `items.from_wire` removes both, so nothing above the port sees them.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backend.core.transactions import Condition, Put, Update, Write

_PUT_ID, _UPDATE_ID = "_putId", "_updateId"
WRITE_IDS = frozenset({_PUT_ID, _UPDATE_ID})


def with_id(write: Write, write_id: str) -> Write:
    """Return the write with its id; it is refused if the item has that id already.

    A write that can be sent twice without harm is returned as it is: one that has no condition and
    adds nothing.
    """
    if isinstance(write, Put) and write.conditions:
        item = {**write.item, _PUT_ID: write_id}
        return replace(write, item=item, conditions=(*write.conditions, _is_not(_PUT_ID, write_id)))
    if isinstance(write, Update) and (write.conditions or write.add):
        named = {**write.set, _UPDATE_ID: write_id}
        conditions = (*write.conditions, _is_not(_UPDATE_ID, write_id))
        return replace(write, set=named, conditions=conditions)
    return write


def has_id(stored: Mapping[str, Any], write_id: str) -> bool:
    """Return whether an item, in its wire form, was written by the write with this id."""
    return any(stored.get(name) == {"S": write_id} for name in WRITE_IDS)


def _is_not(name: str, write_id: str) -> Condition:
    """Return the condition that refuses a second attempt whose other conditions are still met."""
    return Condition(name, "<>", write_id)
