"""Assets as permissions see them."""

from backend.core.authorization import Secured
from backend.domains.assets.models import NO_FILES, Asset, NewAsset


def secured(asset: Asset) -> Secured:
    """Return an asset as permissions see it."""
    return Secured(
        "asset",
        {
            "databaseId": asset.database_id,
            "assetName": asset.asset_name,
            "assetType": asset.asset_type,
            "tags": tuple(asset.tags),
        },
    )


def secured_request(body: NewAsset) -> Secured:
    """Return an asset that does not exist yet, as permissions see it."""
    return Secured(
        "asset",
        {
            "databaseId": body.database_id,
            "assetName": body.asset_name,
            "assetType": NO_FILES,
            "tags": tuple(body.tags or ()),
        },
    )
