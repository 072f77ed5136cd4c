"""Operations on versions of assets: create, read, compare and change them."""

from backend.domains.asset_versions.service.commands import Started, VersionCreation, VersionUpdates
from backend.domains.asset_versions.service.file_restoration import FileRestoration
from backend.domains.asset_versions.service.jobs import VersionSteps
from backend.domains.asset_versions.service.queries import Compared, VersionQueries, WholeVersion
from backend.domains.asset_versions.service.record_restoration import RecordRestoration

__all__ = [
    "Compared",
    "FileRestoration",
    "RecordRestoration",
    "Started",
    "VersionCreation",
    "VersionQueries",
    "VersionSteps",
    "VersionUpdates",
    "WholeVersion",
]
