"""What can be done with entries: made with a write, read, archived when they expire."""

from backend.domains.audit.service.following import Creations, Expired, ExpiredEntries
from backend.domains.audit.service.noting import AuditNotes
from backend.domains.audit.service.reading import AuditTrail
from backend.domains.audit.service.recording import AuditService

__all__ = ["AuditNotes", "AuditService", "AuditTrail", "Creations", "Expired", "ExpiredEntries"]
