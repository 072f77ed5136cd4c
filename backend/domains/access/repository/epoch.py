"""The epoch: counts all changes of who may do what, so that everyone reads the rules again."""

from backend.core.transactions import Update
from backend.spec.tables.access import POLICIES

EPOCH = "epoch"


def next_epoch() -> Update:
    """The write that counts a change, in the transaction that makes it."""
    return Update(table=POLICIES, key={POLICIES.partition_key.name: EPOCH}, add={"n": 1})
