"""Claims on the names of registered models, for what does not fit into one transaction.

A claim and the metadata of a model never exist together: taking a claim requires that there is no
model, and creating a model requires that there is no claim, or deletes the creator's own. Every
write under a claim checks its holder, so after another writer has taken the claim over, the
earlier holder can neither write nor delete anything. A claim whose holder has died is taken over
by the next one who needs the name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import uuid4

from vitrine_mlflow.database import TRANSACTION_WRITES, Database
from vitrine_mlflow.expressions import ABSENT, Check, Delete, Item, Put, key_of, with_key
from vitrine_mlflow.registry.items import ModelKeys, portions
from vitrine_mlflow.table import PARTITION_KEY

# Each transaction also checks the holder of the claim (decision 70).
_PORTION = TRANSACTION_WRITES - 1


@dataclass(frozen=True)
class Claim:
    """The exclusive right to write under the name of a model that does not exist."""

    database: Database
    own: ModelKeys
    holder: str

    @classmethod
    def take(cls, database: Database, own: ModelKeys) -> "Claim":
        """Take the claim, also from another holder, and delete what is left under the name.

        Raises:
            ConflictError: there is such a model (write 0 failed), or another writer came between.
        """
        claim = cls(database, own, uuid4().hex)
        item = with_key(own.claim, {"holder": claim.holder})
        database.write([Check(own.model, {PARTITION_KEY: ABSENT}), Put(item)])
        left = [item for item in database.query(own.model.pk) if key_of(item) != own.claim]
        for portion in portions(left, _PORTION):
            claim._write([Delete(key_of(item)) for item in portion])
        return claim

    def put(self, items: Iterable[Item]) -> None:
        """Write items of the model that is going to exist.

        Raises:
            ConflictError: another writer has taken the claim over, or came between.
        """
        for portion in portions(items, _PORTION):
            self._write([Put(item) for item in portion])

    def _write(self, writes: list[Put] | list[Delete]) -> None:
        if writes:
            self.database.write([Check(self.own.claim, {"holder": self.holder}), *writes])

    def release(self) -> Delete:
        """The write that ends the claim, for the transaction that creates the model."""
        return Delete(self.own.claim, {"holder": self.holder})


def unclaimed_check(own: ModelKeys) -> Check:
    """The condition of a creation that needs no claim."""
    return Check(own.claim, {PARTITION_KEY: ABSENT})
