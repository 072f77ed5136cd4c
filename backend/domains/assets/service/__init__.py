"""Operations on assets."""

from backend.domains.assets.repository import (
    AssetIdTakenError,
    AssetNotFoundError,
    AssetRevisionError,
    AssetVersionNotFoundError,
)
from backend.domains.assets.rules import FileNotFoundInAssetError, PreviewNotFoundError
from backend.domains.assets.service.adopting import FolderAdoption
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.finding import AssetsById
from backend.domains.assets.service.jobs import TagWithdrawal
from backend.domains.assets.service.securing import secured

__all__ = [
    "AssetIdTakenError",
    "AssetNotFoundError",
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
