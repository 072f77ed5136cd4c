"""Says which versions are quarantined; `consuming` takes the results of scans."""

from backend.domains.quarantine.rules import FileQuarantinedError
from backend.domains.quarantine.service.reading import Quarantine

__all__ = ["FileQuarantinedError", "Quarantine"]
