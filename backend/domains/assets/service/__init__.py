"""Operations on assets."""

from backend.domains.assets.repository import (
    AssetIdTakenError,
    AssetNotFoundError,
    AssetRevisionError,
    AssetVersionNotFoundError,
)
from backend.domains.assets.rules import FileNotFoundInAssetError, PreviewNotFoundError
from backend.domains.assets.service.adoption import FolderAdoption
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.jobs import TagWithdrawal
from backend.domains.assets.service.permissions import secured
from backend.domains.assets.service.queries import AssetQueries, AssetsById

__all__ = [
    "AssetIdTakenError",
    "AssetNotFoundError",
    "AssetQueries",
    "AssetRevisionError",
    "AssetService",
    "AssetVersionNotFoundError",
    "AssetsById",
    "FileNotFoundInAssetError",
    "FolderAdoption",
    "PreviewNotFoundError",
    "TagWithdrawal",
    "secured",
]
