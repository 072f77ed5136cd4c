"""Protects names of deleted objects, whose rules would apply to a new object of the same name."""

from dataclasses import dataclass

from backend.core.authorization import Authorization, require_administrator
from backend.core.identity import SYSTEM, Identity
from backend.core.transactions import Write
from backend.domains.access.repository.deleted_names import DeletedNameRepository, deleted_name


@dataclass(eq=False, repr=False)
class DeletedNames:
    names: DeletedNameRepository
    authorization: Authorization

    def deleted(self, field: str, name: str) -> Write:
        """Return the write that records the name, for the transaction that deletes the object."""
        return deleted_name(field, name)

    def require_unruled(self, caller: Identity, field: str, name: str) -> None:
        """Require that the caller may create an object of this name.

        Raises:
            PermissionDeniedError: an object of the name was deleted, constraints still use the name
                in this field, and the caller is not an administrator.
        """
        if caller == SYSTEM:  # the product itself creates the databases of imported buckets
            return
        # Rules on a name that was never used were written for the new object. Rules on the name of
        # a deleted object were written for that one, so an administrator decides.
        if self.names.was_deleted(field, name) and self.names.is_mentioned(field, name):
            why = (
                f"Constraints still refer to {name}, which was deleted: only administrators "
                "can create it again"
            )
            require_administrator(self.authorization, caller, why)
