"""Who may read and change metadata, and of which assets."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from backend.aws.objects import S3Objects
from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.service.commands import AssetService
from backend.domains.metadata.models import Entity
from backend.domains.metadata.routes import build_router
from backend.domains.metadata.service.commands import MetadataService
from backend.spec.routes import Action, Route
from tests.factories.http import Client
from tests.factories.metadata import metadata_service
from tests.unit.domains.metadata.calls import (
    FILE,
    add,
    on_file,
    record,
    send,
    stored,
)


def test_an_absent_asset_is_not_found(client: Client) -> None:
    nobody = {"assetId": "nobody"}
    answers = [
        send(client, "GET", parameters=nobody),
        add(client, "k", parameters=nobody),
        send(client, "PUT", body={"metadata": [record("k")]}, parameters=nobody),
        send(client, "DELETE", body={"metadataKeys": ["k"]}, parameters=nobody),
    ]
    assert {(a.status, a.body["code"]) for a in answers} == {(404, "AssetNotFound")}


def test_only_the_administrator_gets_in(service: MetadataService) -> None:
    stranger = Client(build_router(service), user_id="stranger")
    assert add(stranger, "k").status == 403
    assert send(stranger, "GET", FILE, query=on_file()).status == 403


@dataclass(frozen=True)
class AllowedActions:
    """The permission port of a caller who may do just these to every object."""

    actions: frozenset[str]

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return action in self.actions


@pytest.mark.parametrize("lacking", ["GET", "POST", "PUT", "DELETE"])
def test_each_verb_needs_its_right_and_replacing_all_needs_three(
    assets: AssetService, tables: Tables, objects: S3Objects, lacking: str
) -> None:
    rights = frozenset({"GET", "POST", "PUT", "DELETE"} - {lacking})
    limited = AssetService(
        assets=assets.assets,
        databases=assets.databases,
        buckets=assets.buckets,
        tags=assets.tags,
        objects=objects,
        authorization=AllowedActions(rights),
        audit=assets.audit,
        clock=assets.clock,
    )
    client = Client(
        build_router(metadata_service(limited, tables, objects)),
        authorization=AllowedActions(rights),
    )
    refused = 404 if lacking == "GET" else 403
    body = {"metadata": [record("k")]}
    needed = {
        "POST": (send(client, "POST", body=body), {"GET", "POST"}),
        "PUT": (send(client, "PUT", body=body), {"GET", "PUT"}),
        "DELETE": (send(client, "DELETE", body={"metadataKeys": ["k"]}), {"GET", "DELETE"}),
        "replace": (
            send(client, "PUT", body={**body, "updateType": "replace_all"}),
            {"GET", "PUT", "POST", "DELETE"},
        ),
    }
    for verb, (answer, rights_needed) in needed.items():
        expected = refused if lacking in rights_needed else 200
        assert answer.status == expected, (verb, lacking)


def test_the_service_checks_the_permission_itself(
    service: MetadataService, stranger: Identity
) -> None:
    with pytest.raises(AssetNotFoundError):
        service.add_metadata(stranger, Entity("museum", "statue"), [stored("k")])
