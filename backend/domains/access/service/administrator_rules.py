"""Creates the constraints that allow administrators everything, at deployment."""

from dataclasses import dataclass

from backend.core.attempts import attempts
from backend.core.clock import Clock, iso
from backend.core.errors import RevisionConflictError, UnavailableError
from backend.core.identity import SYSTEM
from backend.core.ids import NewId
from backend.domains.access.models.constraints import (
    Constraint,
    Criterion,
    Grantee,
    GroupPermission,
)
from backend.domains.access.models.stored_roles import ADMIN_ROLE
from backend.domains.access.policy.model import ACTIONS, ALLOW, ANYTHING, CONTAINS, FIELDS_OF
from backend.domains.access.repository.constraints import ConstraintRepository, change_writes
from backend.domains.access.rules.constraints import Change, grantees, grantees_of

_ATTEMPTS = 8


def _busy(_: object) -> UnavailableError:
    return UnavailableError(
        "The constraints of the administrators are being changed by other requests; try again"
    )


@dataclass(eq=False, repr=False)
class AdministratorRules:
    """For bootstrap only: no permission is checked. The role must exist."""

    constraints: ConstraintRepository
    clock: Clock
    new_id: NewId

    @attempts(
        _ATTEMPTS,
        RevisionConflictError,
        refusal=_busy,
    )
    def create_missing(self) -> None:
        """Create missing constraints, and their rules.

        Safe to run again: existing ones are kept, including changes by administrators.

        Raises:
            UnavailableError: they are changed concurrently at every attempt.
        """
        now = iso(self.clock())
        wanted = {
            f"vitrine-admin-{object_type}": Constraint(
                constraint_id=f"vitrine-admin-{object_type}",
                name=f"Administrators - {object_type}",
                description=f"Allow administrators everything with each {object_type}",
                object_type=object_type,
                criteria_and=[],
                criteria_or=[Criterion(field=fields[0], operator=CONTAINS, value=ANYTHING)],
                group_permissions=[
                    GroupPermission(group_id=ADMIN_ROLE, permission=action, permission_type=ALLOW)
                    for action in ACTIONS
                ],
                user_permissions=[],
                date_created=now,
                date_modified=now,
                created_by=SYSTEM.user_id,
                modified_by=SYSTEM.user_id,
            )
            for object_type, fields in FIELDS_OF.items()
        }
        role = Grantee("role", ADMIN_ROLE)
        constraints = self.constraints.get_many(wanted)
        policies = self.constraints.policies([role])
        known = {rule["constraintId"] for rule in policies[role].rules}
        changes = [
            Change(constraints.get(name), constraints.get(name, constraint))
            for name, constraint in wanted.items()
            if name not in constraints
            or (role in grantees(constraints[name]) and name not in known)
        ]
        if not changes:
            return
        others = [grantee for grantee in grantees_of(changes) if grantee != role]
        policies |= self.constraints.policies(others)
        self.constraints.write(change_writes(changes, policies, self.new_id()))
