"""What can be done with entries: made with a write, read, archived when they expire."""

from backend.domains.audit.service.recording import AuditService

__all__ = ["AuditService"]
