"""Archiving, bringing back and deleting assets: the requests, and the steps of their jobs."""

from backend.domains.asset_lifecycle.service.archiving import ArchiveSteps, demand_asset
from backend.domains.asset_lifecycle.service.deleting import DeleteSteps
from backend.domains.asset_lifecycle.service.requests import LifecycleService, Started
from backend.domains.asset_lifecycle.service.versions import VersionLifecycle

__all__ = [
    "ArchiveSteps",
    "DeleteSteps",
    "LifecycleService",
    "Started",
    "VersionLifecycle",
    "demand_asset",
]
