"""Archiving, bringing back and deleting assets: the requests, and the steps of their jobs.

`deleting` is for the worker alone, which imports it itself: it knows half of all slices.
"""

from backend.domains.asset_lifecycle.service.archiving import ArchiveSteps, demand_asset
from backend.domains.asset_lifecycle.service.commands import LifecycleService, Started
from backend.domains.asset_lifecycle.service.versions import VersionLifecycle

__all__ = [
    "ArchiveSteps",
    "LifecycleService",
    "Started",
    "VersionLifecycle",
    "demand_asset",
]
