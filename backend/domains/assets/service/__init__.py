"""What can be done with assets."""

from backend.domains.assets.repository import (
    AssetIdTakenError,
    AssetNotFoundError,
    AssetRevisionError,
)
from backend.domains.assets.service.adopting import FolderAdoption
from backend.domains.assets.service.finding import AssetsById
from backend.domains.assets.service.securing import secured
from backend.domains.assets.service.verbs import AssetService
from backend.domains.assets.service.withdrawing import TagWithdrawal

__all__ = [
    "AssetIdTakenError",
    "AssetNotFoundError",
    "AssetRevisionError",
    "AssetService",
    "AssetsById",
    "FolderAdoption",
    "TagWithdrawal",
    "secured",
]
