"""Finds assets by their id alone, which is unique in a deployment."""

from collections.abc import Iterable

from backend.core.authorization import require
from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.wired import wired
from backend.domains.assets.models import Asset, AssetReference
from backend.domains.assets.repository import AssetNotFoundError, AssetRepository
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.securing import secured
from backend.spec.routes import Action


@wired
class AssetsById:
    repository: AssetRepository
    assets: AssetService

    def asset_for(
        self, caller: Identity, action: Action, asset_id: str, *, show_archived: bool = False
    ) -> Asset:
        """The asset, for a caller who may do this to it; an archived one only if it is asked for.

        Raises:
            AssetNotFoundError: it does not exist, or not for the caller. Names no database.
            PermissionDeniedError: the caller may see it, and not do this.
        """
        database_id = self.repository.database_of(asset_id)
        if database_id is None:
            raise AssetNotFoundError(None, asset_id)
        try:
            found = self.assets.get_asset(
                caller, database_id, asset_id, show_archived=show_archived
            )
        except NotFoundError:
            raise AssetNotFoundError(None, asset_id) from None
        require(self.assets.authorization, caller, action, secured(found))
        return found

    def visible(self, caller: Identity, wanted: Iterable[AssetReference]) -> dict[str, Asset]:
        """Those of the assets that are active and that the caller may see, by id."""
        found = self.repository.get_many(wanted)
        may = self.assets.authorization.may
        return {asset.asset_id: asset for asset in found if may(caller, "GET", secured(asset))}

    def database_of(self, asset_id: str) -> str | None:
        """The database in which the id is taken, for other slices: no permission is asked."""
        return self.repository.database_of(asset_id)
