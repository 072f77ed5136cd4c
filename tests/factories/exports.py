"""Linked assets with files, and a client that exports them."""

from dataclasses import dataclass, replace
from typing import Any

from backend.core.authorization import Authorization
from backend.core.clock import Clock
from backend.core.objects import Objects
from backend.core.tables import Tables
from backend.domains.exports.routes import build_router
from backend.domains.exports.service import ExportService
from backend.domains.files.repository import FileRepository
from backend.domains.files.service.queries import FileQueries
from tests.factories.assets import NOON, created_asset
from tests.factories.files import AUXILIARY, BUCKET
from tests.factories.http import Client, Response
from tests.factories.links import Links, links
from tests.factories.quarantine import quarantine


@dataclass(frozen=True)
class Exports:
    """The assets `hall`, `statue` and `plinth` of the museum; each is a child of the one before."""

    links: Links
    service: ExportService
    objects: Objects
    user_id: str = "admin"

    def export(
        self, asset_id: str = "hall", *, headers: dict[str, str] | None = None, **body: Any
    ) -> Response:
        """A request; by default without a body."""
        allowed = self.service.assets.authorization
        client = Client(build_router(self.service), user_id=self.user_id, authorization=allowed)
        return client.send(
            "POST",
            f"/database/museum/assets/{asset_id}/export",
            parameters={"databaseId": "museum", "assetId": asset_id},
            body=body or None,
            headers=headers,
        )

    def pages(self, asset_id: str = "hall", **body: Any) -> list[Any]:
        """The bodies of all pages."""
        result: list[Any] = []
        token: dict[str, Any] = {}
        while True:
            answer = self.export(asset_id, **body, **token)
            assert answer.status == 200, answer.body
            result.append(answer.body)
            if "NextToken" not in answer.body:
                return result
            token = {"startingToken": answer.body["NextToken"]}

    def put(self, asset_id: str, path: str, **metadata: str) -> None:
        """Put a file of an asset directly into the bucket."""
        asset = self.service.assets.find_asset("museum", asset_id)
        assert asset is not None
        key = asset.asset_location.key + path.removeprefix("/")
        self.objects.put(BUCKET, key, b"x" * 5, content_type="text/plain", metadata=metadata)

    def allowing(self, authorization: Authorization) -> "Exports":
        made = self.links.allowing(authorization)
        return _exports(made, self.objects, self.service.clock)

    def with_room(self, **limits: Any) -> "Exports":
        return replace(self, service=replace(self.service, **limits))


def exports(tables: Tables, objects: Objects, *, clock: Clock = lambda: NOON) -> Exports:
    """hall > statue > plinth; `hall` is not distributable."""
    made = links(tables, objects)
    created_asset(made.assets, "hall", name="The hall", is_distributable=False, tags=("red",))
    made.make("statue", "plinth")
    made.link("hall", "statue", assetLinkAliasId="left")
    made.link("statue", "plinth")
    return _exports(made, objects, clock)


def _exports(made: Links, objects: Objects, clock: Clock) -> Exports:
    service = ExportService(
        assets=made.assets,
        files=FileQueries(
            FileRepository(made.tables),
            made.assets,
            objects,
            quarantine(made.tables),
        ),
        records=made.metadata.records,
        links=made.reader,
        objects=objects,
        auxiliary=lambda: AUXILIARY,
        clock=clock,
        url_seconds=900,
        names_hidden=False,
    )
    return Exports(made, service, objects)
