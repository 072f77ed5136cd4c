"""Operations on audit entries. Only what every write needs is imported here."""

from backend.domains.audit.service.commands import AuditService

__all__ = ["AuditService"]
