"""Links between assets: parent and child, or related."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vitrine import api_models as api
from vitrine.api_models import AssetLinks as AssetLinks
from vitrine.api_models import Link as Link
from vitrine.api_models import LinkCreated as LinkCreated
from vitrine.api_models import LinkedAsset as LinkedAsset
from vitrine.api_models import UnseenAssets as UnseenAssets
from vitrine.models import AssetIds, Message, Wire
from vitrine.resources.assets import asset_path
from vitrine.resources.resource import Resource
from vitrine.transport import path_of

LinkType = Literal["parentChild", "related"]


class _SingleLink(Wire):
    asset_link: Link


@dataclass(frozen=True)
class LinkMetadataOwner:
    """A link that has metadata."""

    asset_link_id: str

    def path(self) -> str:
        return path_of("asset-links", self.asset_link_id, "metadata")

    def selector(self) -> dict[str, str]:
        return {}


class Links(Resource):
    def create(
        self,
        source: AssetIds,
        target: AssetIds,
        relationship_type: LinkType = "parentChild",
        *,
        alias: str | None = None,
        tags: Sequence[str] = (),
    ) -> LinkCreated:
        """Link two assets, each a database id and an asset id; a parent is the source.

        Raises ConflictError if they have such a link, or the link would create a cycle.
        """
        body = api.CreateLinkBody(
            from_asset_database_id=source[0],
            from_asset_id=source[1],
            to_asset_database_id=target[0],
            to_asset_id=target[1],
            relationship_type=relationship_type,
            asset_link_alias_id=alias,
            tags=tags,
        )
        return self._transport.write(LinkCreated, "POST", path_of("asset-links"), body=body)

    def get(self, asset_link_id: str) -> Link:
        path = path_of("asset-links", "single", asset_link_id)
        return self._transport.read(_SingleLink, path).asset_link

    def of(self, database_id: str, asset_id: str, *, tree: bool = False) -> AssetLinks:
        """Return the assets linked to an asset; with `tree` all that are below it."""
        return self._transport.read(
            AssetLinks,
            asset_path(database_id, asset_id, "asset-links"),
            query={"childTreeView": tree or None},
        )

    def update(
        self, asset_link_id: str, *, alias: str | None = None, tags: Sequence[str] | None = None
    ) -> Message:
        """Change the passed fields; an empty alias removes it."""
        body = api.UpdateLinkBody(asset_link_alias_id=alias, tags=tags)
        path = path_of("asset-links", asset_link_id)
        return self._transport.write(Message, "PUT", path, body=body)

    def delete(self, asset_link_id: str) -> Message:
        """Delete a link with its metadata."""
        path = path_of("asset-links", asset_link_id)
        return self._transport.write(Message, "DELETE", path, body={})
