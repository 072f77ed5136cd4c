"""What can be done with entries. What every write needs stands here, all else in its module."""

from backend.domains.audit.service.recording import AuditService

__all__ = ["AuditService"]
