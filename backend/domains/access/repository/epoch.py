"""The epoch: counts all changes of permissions, so that every process reads the rules again."""

from backend.core.transactions import Update
from backend.spec.tables.access import POLICIES

EPOCH = "epoch"


def next_epoch() -> Update:
    """Return the write that counts a change, for the transaction of the change."""
    return Update(table=POLICIES, key={POLICIES.partition_key.name: EPOCH}, add={"n": 1})
