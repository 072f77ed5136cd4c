"""Reports which versions are quarantined; `consumers` processes the results of scans."""

from backend.domains.quarantine.service.queries import Quarantine

__all__ = ["Quarantine"]
