"""Changes of assets, also at the same time: by their editors and by their files."""

from dataclasses import replace
from typing import Any

import pytest

from backend.core.authorization import Action, Secured
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.models import Asset, UpdateAssetBody
from backend.domains.assets.repository import AssetRepository, row_of
from backend.domains.assets.routes import build_router
from backend.domains.assets.service.commands import AssetService
from backend.spec.tables.assets import ASSETS
from tests.factories.access import OnlyUser
from tests.factories.assets import created_asset
from tests.factories.http import Client
from tests.unit.domains.assets.calls import archive, create, one


def test_an_update_changes_only_what_it_names(client: Client, tables: Tables) -> None:
    create(client, tags=["red"])
    before = tables.get(ASSETS, {"databaseId": "museum", "assetId": "statue"})
    answer = one(client, method="PUT", body={"description": "Made of bronze"})
    assert answer.status == 200
    assert answer.body == {
        "success": True,
        "message": "Asset statue was changed",
        "assetId": "statue",
        "operation": "update",
        "timestamp": "2026-03-01T12:00:00.000000Z",
    }
    after = tables.get(ASSETS, {"databaseId": "museum", "assetId": "statue"})
    assert before is not None
    assert after == {**before, "description": "Made of bronze", "revision": 2}
    assert one(client).headers["ETag"] == '"2"' == answer.headers["ETag"]


@pytest.mark.parametrize(
    ("body", "inherited"),
    [
        ({"assetName": "A bust"}, 2),
        ({"tags": ["blue"]}, 2),
        ({"tags": []}, 2),
        ({"tags": ["red"], "assetName": "A statue"}, 1),
        ({"isDistributable": False}, 1),
    ],
)
def test_files_inherit_a_changed_name_and_changed_tags_only(
    client: Client, tables: Tables, body: dict[str, object], inherited: int
) -> None:
    create(client, tags=["red"])
    assert one(client, method="PUT", body=body).status == 200
    row = tables.get(ASSETS, {"databaseId": "museum", "assetId": "statue"})
    assert row is not None
    assert row["inheritedRevision"] == inherited


def test_an_update_to_what_is_there_writes_nothing(client: Client) -> None:
    create(client)
    answer = one(client, method="PUT", body={"assetName": "A statue"})
    assert (answer.status, answer.headers["ETag"]) == (200, '"1"')


@pytest.mark.parametrize("body", [{}, {"tags": ["green"]}, {"assetName": ""}, {"tags": [1]}])
def test_a_wrong_update_is_refused(client: Client, body: dict[str, object]) -> None:
    create(client)
    assert one(client, method="PUT", body=body).status == 400


class SeesNoTags(OnlyUser):
    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.object_type != "tag"


def test_tags_that_the_caller_may_not_see_stay_and_no_others_come(
    client: Client, service: AssetService
) -> None:
    create(client, tags=["red", "large"])
    blind = replace(service, tags=replace(service.tags, authorization=SeesNoTags()))
    seen = Client(build_router(blind))
    assert one(seen, method="PUT", body={"tags": ["red"]}).status == 200
    refused = one(seen, method="PUT", body={"tags": ["red", "blue"]})
    assert (refused.status, refused.body["message"]) == (400, "tags: tag blue does not exist")
    refused = create(seen, assetId="bust", tags=["red"])
    assert refused.body["message"] == "tags: tag red does not exist"


def test_a_stale_if_match_is_refused(client: Client) -> None:
    create(client)
    first = {"if-match": '"1"'}
    assert one(client, method="PUT", body={"assetName": "two"}, headers=first).status == 200
    stale = one(client, method="PUT", body={"assetName": "three"}, headers=first)
    assert (stale.status, stale.body["code"]) == (412, "AssetRevisionConflict")
    assert one(client).body["assetName"] == "two"


def test_an_if_match_that_is_overtaken_during_the_write_is_refused(
    client: Client, service: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(client)
    overtake(service, monkeypatch, times=1)
    stale = one(client, method="PUT", body={"assetName": "mine"}, headers={"if-match": '"1"'})
    assert stale.status == 412


def test_edits_of_different_fields_at_the_same_time_both_survive(
    client: Client, service: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(client)
    overtake(service, monkeypatch, times=12)
    assert one(client, method="PUT", body={"assetName": "mine"}).status == 200
    body = one(client).body
    assert (body["assetName"], body["description"]) == ("mine", "by another, 12 times")


def test_an_edit_that_is_always_overtaken_stops(
    client: Client, service: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(client)
    overtake(service, monkeypatch, times=100)
    assert one(client, method="PUT", body={"assetName": "mine"}).status == 412


def test_content_is_written_without_undoing_an_edit(service: AssetService) -> None:
    seen = created_asset(service)
    admin = Identity("admin")
    service.update_asset(admin, "museum", "statue", UpdateAssetBody(asset_name="A bust"))
    service.set_content(seen, asset_type=".glb", preview_key="previews/statue/a.png")
    asset = service.get_asset(admin, "museum", "statue")
    assert (asset.asset_name, asset.asset_type, asset.revision) == ("A bust", ".glb", 3)
    assert asset.preview_location is not None
    assert asset.preview_location.key == "previews/statue/a.png"
    assert asset.inherited_revision == 3, "files carry the name and the type of their asset"
    cleared = service.set_content(asset, preview_key="")
    assert cleared.preview_location is None
    assert cleared.inherited_revision == 3


def test_content_does_not_revive_an_archived_asset(service: AssetService, tables: Tables) -> None:
    seen = created_asset(service)
    archive(tables, seen)
    with pytest.raises(AssetNotFoundError):
        service.set_content(seen, asset_type=".glb")
    assert AssetRepository(tables).get("museum", "statue") is None


def overtake(service: AssetService, monkeypatch: pytest.MonkeyPatch, *, times: int) -> None:
    """Let another edit come between reading and writing, so many times."""
    change = AssetRepository.change
    turns = iter(range(1, times + 1))

    def overtaken(self: AssetRepository, asset: Asset, *changes: Any, **more: Any) -> Asset:
        turn = next(turns, None)
        if turn is not None:
            self.touch(asset, {"description": f"by another, {turn} times"})
        return change(self, asset, *changes, **more)

    monkeypatch.setattr(AssetRepository, "change", overtaken)


@pytest.mark.parametrize("blank", [" ", "  ", "\u00a0", "\u2007", "\u3000", " \u2009"])
def test_blanks_at_the_ends_of_a_name_are_removed(client: Client, blank: str) -> None:
    assert create(client, assetName=f"{blank}A{blank}statue{blank}").status == 200
    assert one(client).body["assetName"] == f"A{blank}statue"
    assert one(client, method="PUT", body={"assetName": f"{blank}bust{blank}"}).status == 200
    assert one(client).body["assetName"] == "bust"
    for method, body in (("PUT", {"assetName": blank}), ("POST", {"assetName": blank})):
        answer = one(client, method="PUT", body=body) if method == "PUT" else create(client, **body)
        assert answer.status == 400
        assert [error["field"] for error in answer.body["errors"]] == ["assetName"]


def test_an_asset_whose_stored_name_ends_with_a_blank_can_be_read_and_changed(
    client: Client, service: AssetService, tables: Tables
) -> None:
    create(client)
    stored = service.find_asset("museum", "statue")
    assert stored is not None
    old = stored.model_copy(update={"asset_name": "A statue \u00a0"})
    tables.write(Put(table=ASSETS, item=row_of(old)))
    assert one(client).body["assetName"] == "A statue \u00a0"
    assert one(client, method="PUT", body={"description": "of bronze"}).status == 200
    assert one(client).body["assetName"] == "A statue \u00a0"
    assert one(client, method="PUT", body={"assetName": "A statue \u00a0"}).status == 200
    assert one(client).body["assetName"] == "A statue"
