"""The history of an asset: written with each change, and read page by page."""

from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import Any

from backend.core.authorization import Action, Secured
from backend.core.identity import Identity
from backend.core.paging import MAX_ROWS_PER_PAGE, Page, PageRequest
from backend.core.references import AssetRef
from backend.domains.assets.models import Asset, AssetChange, UpdateAssetBody
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.routes import build_router
from backend.domains.assets.rules import history_of
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN, created_asset
from tests.factories.files import PARAMETERS, PATH
from tests.factories.http import Client, Response
from tests.factories.lifecycle import Lifecycle

HISTORY = f"{PATH}/assetHistory"


class Hides(OnlyUser):
    """The caller sees what has another name than `Secret`, and counts the checks."""

    checks = 0

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        Hides.checks += 1
        return target.fields.get("assetName") != "Secret"


class LongHistory(AssetRepository):
    """The changes of one asset, 100,000 of them, of which the newest are hidden."""

    def list_history(self, ref: AssetRef, page: PageRequest) -> Page[AssetChange]:
        first = int((page.after or {"historyRecordId": "#0"})["historyRecordId"].split("#")[1])
        asset = self.get(*ref.ids)
        assert asset is not None
        numbers = range(first + 1, 100_001)
        changes = tuple(_change(asset, number) for number in islice(numbers, page.limit))
        last = first + len(changes)
        at = f"2026#{last:08}"
        return Page(changes, None if last == 100_000 else {"historyRecordId": at})


def _change(asset: Asset, number: int) -> AssetChange:
    name = "Secret" if number <= 7000 else "A statue"
    after = asset.model_copy(update={"revision": number, "asset_name": name})
    return history_of(after, "edit", by="admin", at="2026", unarchived_reason=None)


def send(museum: Lifecycle, hides: OnlyUser | None = None, **query: str) -> Response:
    service = museum.gallery.assets
    if hides is not None:
        service = replace(service, authorization=hides)
    return Client(build_router(service)).send("GET", HISTORY, parameters=PARAMETERS, query=query)


def edit(museum: Lifecycle, **fields: Any) -> None:
    museum.hands.now += timedelta(seconds=1)
    museum.gallery.assets.update_asset(ADMIN, "museum", "statue", UpdateAssetBody(**fields))


def test_each_change_is_listed_and_the_history_continues_with_a_reused_id(
    museum: Lifecycle,
) -> None:
    edit(museum, asset_name="Secret", tags=["red"])
    edit(museum, asset_name="Shown")
    museum.hands.now += timedelta(hours=1)
    museum.work_off(museum.archive(reason="sold"))
    museum.hands.now += timedelta(hours=1)
    museum.work_off(museum.change("unarchive", reason="back"))
    museum.hands.now += timedelta(hours=1)
    museum.work_off(museum.delete())
    gone = send(museum)
    assert (gone.status, gone.body["code"]) == (404, "AssetNotFound")
    museum.hands.now += timedelta(days=500)
    created_asset(museum.gallery.assets, "statue", name="Another")
    wanted = [
        ("create", "Another", None, None),
        ("permanentDelete", "Shown", None, None),
        ("unarchive", "Shown", None, "back"),
        ("archive", "Shown", "sold", None),
        ("edit", "Shown", None, None),
        ("edit", "Secret", None, None),
        ("create", "A statue", None, None),
    ]
    pages = Client(build_router(museum.gallery.assets)).pages(
        HISTORY, parameters=PARAMETERS, query={"pageSize": "2"}
    )
    listed = [
        (
            item["changeSource"],
            item["assetSnapshot"]["assetName"],
            item["assetSnapshot"].get("archivedReason"),
            item["assetSnapshot"].get("unarchivedReason"),
        )
        for page in pages
        for item in page["Items"]
    ]
    assert listed == wanted
    shown = send(museum, Hides()).body["Items"]
    assert [item["assetSnapshot"]["assetName"] for item in shown].count("Secret") == 0
    assert len(shown) == len(wanted) - 1


def test_a_long_history_is_read_in_bounded_pages(museum: Lifecycle) -> None:
    service = museum.gallery.assets
    long = replace(service, assets=LongHistory(museum.tables), authorization=Hides())
    client = Client(build_router(long))
    Hides.checks = 0
    page = client.send("GET", HISTORY, parameters=PARAMETERS)
    assert (page.status, page.body["Items"]) == (200, [])
    assert Hides.checks <= MAX_ROWS_PER_PAGE + 600
    query = {"startingToken": page.body["NextToken"]}
    assert len(client.send("GET", HISTORY, parameters=PARAMETERS, query=query).body["Items"]) == 100
    created_asset(service, "vase")
    other = {**PARAMETERS, "assetId": "vase"}
    path = HISTORY.replace("statue", "vase")
    refused = client.send("GET", path, parameters=other, query=query)
    assert refused.status == 400
    assert "startingToken" in refused.body["message"]
    large = client.send("GET", HISTORY, parameters=PARAMETERS, query={"pageSize": "1001"})
    assert large.status == 400
    assert "pageSize: must be at most 1000" in large.body["message"]
