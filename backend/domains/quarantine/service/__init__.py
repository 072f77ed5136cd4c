"""Says which versions are quarantined; `consuming` takes the results of scans."""

from backend.domains.quarantine.service.queries import FileQuarantinedError, Quarantine

__all__ = ["FileQuarantinedError", "Quarantine"]
