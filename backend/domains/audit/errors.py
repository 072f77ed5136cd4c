"""The errors of audit."""

from backend.core.errors import AlreadyExistsError, NotFoundError


class AuditValueNotFoundError(NotFoundError):
    code = "AuditValueNotFound"

    def __init__(self, sha256: str) -> None:
        super().__init__(f"There is no large value {sha256} in the audit log")


class AuditEntryExistsError(AlreadyExistsError):
    def __init__(self, entity: str) -> None:
        super().__init__(f"{entity} has this entry already")
