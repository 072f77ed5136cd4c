"""Commands that archive, restore and delete assets, and the steps of their jobs.

Only the worker imports `jobs.deletion`, because that imports half of all slices.
"""

from backend.domains.asset_lifecycle.service.commands import LifecycleService, Started
from backend.domains.asset_lifecycle.service.jobs.archival import ArchiveSteps, check_asset
from backend.domains.asset_lifecycle.service.versions import VersionLifecycle

__all__ = [
    "ArchiveSteps",
    "LifecycleService",
    "Started",
    "VersionLifecycle",
    "check_asset",
]
