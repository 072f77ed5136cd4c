"""Operations on versions of assets: create, read, compare and change them."""

from backend.domains.asset_versions.repository import (
    AliasTakenError,
    VersionRevisionError,
)
from backend.domains.asset_versions.service.commands import (
    Started,
    VersionActiveError,
    VersionArchivedError,
    VersionCreation,
    VersionUpdates,
)
from backend.domains.asset_versions.service.file_restoration import FileRestoration
from backend.domains.asset_versions.service.jobs import VersionSteps
from backend.domains.asset_versions.service.queries import Compared, VersionQueries, WholeVersion
from backend.domains.asset_versions.service.record_restoration import RecordRestoration

__all__ = [
    "AliasTakenError",
    "Compared",
    "FileRestoration",
    "RecordRestoration",
    "Started",
    "VersionActiveError",
    "VersionArchivedError",
    "VersionCreation",
    "VersionQueries",
    "VersionRevisionError",
    "VersionSteps",
    "VersionUpdates",
    "WholeVersion",
]
