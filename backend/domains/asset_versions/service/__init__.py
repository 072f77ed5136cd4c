"""Operations on versions of assets: create, read, compare and change them."""

from backend.domains.asset_versions.repository import (
    AliasTakenError,
    VersionRevisionError,
)
from backend.domains.asset_versions.service.commands import Started, VersionMaking
from backend.domains.asset_versions.service.editing import (
    VersionActiveError,
    VersionArchivedError,
    VersionEditing,
)
from backend.domains.asset_versions.service.jobs import VersionSteps
from backend.domains.asset_versions.service.queries import Compared, VersionReading, WholeVersion
from backend.domains.asset_versions.service.restoring import Restoring
from backend.domains.asset_versions.service.reviving import Reviving
from backend.domains.asset_versions.service.states import FileStates

__all__ = [
    "AliasTakenError",
    "Compared",
    "FileStates",
    "Restoring",
    "Reviving",
    "Started",
    "VersionActiveError",
    "VersionArchivedError",
    "VersionEditing",
    "VersionMaking",
    "VersionReading",
    "VersionRevisionError",
    "VersionSteps",
    "WholeVersion",
]
