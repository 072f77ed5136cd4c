"""The errors of access."""

from backend.core.errors import (
    AlreadyExistsError,
    NotFoundError,
    RevisionConflictError,
    StateForbidsError,
    TooLargeError,
)
from backend.domains.access.models.stored_roles import ADMIN_ROLE


class ConstraintNotFoundError(NotFoundError):
    code = "ConstraintNotFound"

    def __init__(self, constraint_id: str) -> None:
        super().__init__(f"Constraint {constraint_id} does not exist")


class ConstraintRevisionError(RevisionConflictError):
    code = "ConstraintRevisionConflict"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is being changed by other requests; try again")


class PolicyTooLargeError(TooLargeError):
    """The rules of a role or user would exceed the size limit."""

    code = "PolicyTooLarge"


class RoleNotFoundError(NotFoundError):
    code = "RoleNotFound"

    def __init__(self, role_name: str) -> None:
        super().__init__(f"Role {role_name} does not exist")


class RoleExistsError(AlreadyExistsError):
    code = "RoleExists"

    def __init__(self, role_name: str) -> None:
        super().__init__(f"Role {role_name} already exists, or is still being deleted")


class RoleRevisionError(RevisionConflictError):
    code = "RoleRevisionConflict"

    def __init__(self, role_name: str) -> None:
        super().__init__(f"Role {role_name} was changed by someone else; read it again")


class UserRolesNotFoundError(NotFoundError):
    code = "UserRolesNotFound"

    def __init__(self, user_id: str) -> None:
        super().__init__(f"User {user_id} has no roles")


class UserRoleExistsError(AlreadyExistsError):
    code = "UserRoleExists"

    def __init__(self, user_id: str, role_name: str) -> None:
        super().__init__(f"User {user_id} already has the role {role_name}")


class UserRolesChangedError(RevisionConflictError):
    code = "UserRolesRevisionConflict"

    def __init__(self, user_id: str) -> None:
        super().__init__(f"The roles of {user_id} were changed by someone else; try again")


class AdministratorRoleError(StateForbidsError):
    """The role of administrators cannot be deleted or restricted."""

    code = "AdministratorRole"

    def __init__(self, fact: str) -> None:
        super().__init__(f"The role {ADMIN_ROLE} {fact}")


class LastAdministratorError(StateForbidsError):
    """The last administrator must keep the role."""

    code = "LastAdministrator"

    def __init__(self, user_id: str) -> None:
        super().__init__(
            f"{user_id} is the last administrator; make another user an administrator first"
        )
