"""Operations on assets."""

from backend.domains.assets.service.adoption import FolderAdoption
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.jobs import TagWithdrawal
from backend.domains.assets.service.permissions import secured
from backend.domains.assets.service.queries import AssetQueries, AssetsById

__all__ = [
    "AssetQueries",
    "AssetService",
    "AssetsById",
    "FolderAdoption",
    "TagWithdrawal",
    "secured",
]
