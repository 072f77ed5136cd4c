"""Assets of two databases, and clients that link them as users do."""

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from backend.core.authorization import Authorization
from backend.core.ids import NewId
from backend.core.objects import Objects
from backend.core.tables import Tables
from backend.domains.asset_links.repository import AssetLinkRepository
from backend.domains.asset_links.routes import build_router
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.asset_links.service.metadata import LinkMetadataService
from backend.domains.asset_links.service.queries import LinkQueries
from backend.domains.assets.service.commands import AssetService
from backend.domains.metadata.repository import MetadataRepository
from backend.domains.metadata.service.records import RecordService
from backend.domains.metadata_schemas.repository import MetadataSchemaRepository
from backend.domains.metadata_schemas.service import MetadataSchemaService
from backend.http.router import Router
from backend.spec.tables.assets import ASSETS
from tests.factories.assets import NOON, asset_service, created_asset, created_database
from tests.factories.http import Client, Response


@dataclass(frozen=True)
class Links:
    """Assets of the databases `museum` and `depot`, and the services that link them."""

    tables: Tables
    assets: AssetService
    service: AssetLinkService
    reader: LinkQueries
    metadata: LinkMetadataService
    user_id: str = "admin"

    @property
    def router(self) -> Router:
        return build_router(self.service, self.reader, self.metadata)

    def send(self, method: str, path: str, **more: Any) -> Response:
        allowed = self.assets.authorization
        return Client(self.router, user_id=self.user_id, authorization=allowed).send(
            method, path, **more
        )

    def allowing(self, authorization: Authorization) -> "Links":
        """The same links under another permission port."""
        assets = replace(self.assets, authorization=authorization)
        return _links(self.tables, assets, self.service.new_id)

    def create(self, source: str, target: str, kind: str = "parentChild", **more: Any) -> Response:
        body = {
            "fromAssetId": source,
            "fromAssetDatabaseId": "museum",
            "toAssetId": target,
            "toAssetDatabaseId": "museum",
            "relationshipType": kind,
            **more,
        }
        body = {name: value for name, value in body.items() if value is not None}
        return self.send("POST", "/asset-links", body=body)

    def link(self, source: str, target: str, kind: str = "parentChild", **more: Any) -> str:
        """Create a link that must be accepted; return its id."""
        answer = self.create(source, target, kind, **more)
        assert answer.status == 200, answer.body
        return answer.body["assetLinkId"]

    def refused(self, source: str, target: str, kind: str = "parentChild", **more: Any) -> Any:
        """Return status and code of a link that must be refused."""
        answer = self.create(source, target, kind, **more)
        assert answer.status >= 400, answer.body
        return answer.status, answer.body["code"]

    def get(self, link_id: str) -> Response:
        path = f"/asset-links/single/{link_id}"
        return self.send("GET", path, parameters={"assetLinkId": link_id})

    def update(self, link_id: str, **body: Any) -> Response:
        path = f"/asset-links/{link_id}"
        return self.send("PUT", path, parameters={"assetLinkId": link_id}, body=body)

    def delete(self, link_id: str) -> Response:
        path = f"/asset-links/{link_id}"
        return self.send("DELETE", path, parameters={"relationId": link_id})

    def list(self, asset_id: str, *, database_id: str = "museum", **query: str) -> Response:
        ids = {"databaseId": database_id, "assetId": asset_id}
        path = f"/database/{database_id}/assets/{asset_id}/asset-links"
        return self.send("GET", path, parameters=ids, query=query)

    def tree(self, asset_id: str) -> Response:
        return self.list(asset_id, childTreeView="true")

    def describe(self, method: str, link_id: str, *, query: Any = None, **body: Any) -> Response:
        """Send a request to the metadata of a link."""
        path = f"/asset-links/{link_id}/metadata"
        ids = {"assetLinkId": link_id}
        return self.send(method, path, parameters=ids, query=query, body=body or None)

    def counts(self, asset_id: str, *, database_id: str = "museum") -> tuple[int, int, int]:
        """Children, parents and related assets, as counted in the asset's row."""
        asset = self.assets.find_asset(database_id, asset_id)
        assert asset is not None
        return asset.child_count, asset.parent_count, asset.related_count

    def make(self, *asset_ids: str) -> None:
        for asset_id in asset_ids:
            created_asset(self.assets, asset_id, name=f"The {asset_id}")

    def forget_row(self, asset_id: str) -> None:
        """Delete only an asset's row."""
        self.tables.delete_many(ASSETS, [{"databaseId": "museum", "assetId": asset_id}])


def links(
    tables: Tables,
    objects: Objects,
    *,
    assets: tuple[str, ...] = (),
    new_id: NewId | None = None,
) -> Links:
    """The services over any ports; ids of links are `link-1`, `link-2` and so on."""
    service = asset_service(tables, objects)
    for database_id in ("museum", "depot"):
        created_database(service, database_id)
    for asset_id in assets:
        created_asset(service, asset_id, name=f"The {asset_id}")
    numbers = count(1)
    ids = new_id or (lambda: f"link-{next(numbers)}")
    return _links(tables, service, ids)


def _links(tables: Tables, assets: AssetService, new_id: NewId) -> Links:
    repository = AssetLinkRepository(tables)
    service = AssetLinkService(repository, assets, assets.audit, lambda: NOON, new_id)
    return Links(
        tables=tables,
        assets=assets,
        service=service,
        reader=LinkQueries(repository, assets, assets.authorization),
        metadata=LinkMetadataService(service, record_service(tables, assets)),
    )


def record_service(tables: Tables, assets: AssetService) -> RecordService:
    """Records of any entity, under the schemas that a test has stored."""
    schemas = MetadataSchemaService(
        MetadataSchemaRepository(tables),
        assets.databases,
        assets.authorization,
        assets.audit,
        assets.clock,
    )
    return RecordService(
        metadata=MetadataRepository(tables, pause=lambda _: None),
        schemas=schemas,
        databases=assets.databases,
        audit=assets.audit,
        clock=assets.clock,
    )
