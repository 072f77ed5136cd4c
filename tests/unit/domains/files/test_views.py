"""Saved views: stored once by their content, listed with pictures, deleted by few, and refused."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.errors import PermissionDeniedError
from backend.core.identity import Identity
from backend.domains.files.models.views import SaveViewBody, ViewContent
from backend.domains.files.service import views
from backend.entrypoints.wiring.saved_views import saved_views
from backend.spec.inspection_outputs import PNG_MAGIC
from backend.spec.routes import Action
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN
from tests.factories.files import AUXILIARY, PARAMETERS, PATH, Gallery, gallery
from tests.factories.http import Response
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import TickingClock, audit_entries

PICTURE = PNG_MAGIC + bytes(100)
FOLDER = "previews/statue/views/"
OTHER_ID = "0" * 32


class Reader(OnlyUser):
    """All users see the asset, `admin` may change it."""

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return action == "GET" or caller.user_id == self.user_id


def png(content: bytes = PICTURE) -> str:
    return base64.b64encode(content).decode()


def save(museum: Gallery, view_id: str | None = None, **more: Any) -> tuple[str, Response]:
    body = {"name": "Front", "filePath": "/a.glb", "view": "c1_2_3_0_0_0~h9_1-4", **more}
    if view_id is None:
        view_id = ViewContent.model_validate(body).content_id
    sent = {"picture": png(), **body}
    return view_id, museum.change("PUT", "views", sent, viewId=view_id)


def listed(museum: Gallery) -> list[dict[str, Any]]:
    return museum.send("GET", f"{PATH}/views", parameters=PARAMETERS).body["items"]


def read(museum: Gallery, view_id: str) -> Response:
    return museum.change("GET", "views", viewId=view_id)


def test_a_view_is_saved_once_listed_read_and_deleted(
    museum: Gallery, tables: MemoryTables
) -> None:
    version_id = museum.put("/a.glb")
    first, answer = save(museum, name=" Front ")
    assert (answer.status, answer.body) == (200, {"message": "The view Front is saved"})
    second, answer = save(museum, name="Rear", versionId=version_id)
    assert save(museum, picture=png(PICTURE + b"other"))[1].status == 200
    assert [(item["viewId"], item["name"], item.get("versionId")) for item in listed(museum)] == [
        (second, "Rear", version_id),
        (first, "Front", None),
    ]
    url = f"memory://{AUXILIARY}/{FOLDER}{first}.png"
    assert listed(museum)[1]["pictureUrl"] == url
    assert museum.objects.read_start(AUXILIARY, f"{FOLDER}{first}.png", length=999) == PICTURE
    found = read(museum, first).body
    assert (found["view"], found["createdBy"]) == ("c1_2_3_0_0_0~h9_1-4", "admin")
    assert museum.change("DELETE", "views", viewId=first).status == 200
    assert read(museum, first).body["code"] == "ViewNotFound"
    assert [item["viewId"] for item in listed(museum)] == [second]
    assert len(audit_entries(tables, "save_view")) == 2
    assert len(audit_entries(tables, "delete_view")) == 1


@pytest.mark.parametrize(
    ("sent", "fact"),
    [
        ({"name": " "}, "name: must have at least 1 character"),
        ({"name": "a\nb"}, "name: must not contain control characters"),
        ({"name": "x" * 257}, "name: must have at most 256 characters"),
        ({"view": ""}, "view: must be 1 to 65536 letters"),
        ({"view": "c1 2"}, "view: must be 1 to 65536 letters"),
        ({"view": "h" * 65_537}, "view: must be 1 to 65536 letters"),
        ({"picture": "?"}, "picture: is not base64"),
        ({"picture": png(b"GIF89a")}, "picture: is not a PNG"),
        ({"picture": png(PICTURE + bytes(200_000))}, "picture: has 200108 bytes; at most 200000"),
        ({"filePath": "/b.glb"}, "filePath: asset statue has no file /b.glb"),
        ({"filePath": "/a.glb", "versionId": "none"}, "filePath: asset statue has no file /a.glb"),
        ({"view_id": "A" * 32}, "viewId: must be 32"),
        ({"view_id": OTHER_ID}, "the SHA-256 of name, filePath"),
    ],
)
def test_an_invalid_view_is_refused_with_its_field_and_the_fact(
    museum: Gallery, sent: dict[str, str], fact: str
) -> None:
    museum.put("/a.glb")
    valid = {"view": "c1_2_3_4_5_6", **sent}
    content = {"name": "Front", "filePath": "/a.glb", **valid}
    try:
        view_id = ViewContent.model_validate(content).content_id
    except ValueError:
        view_id = OTHER_ID
    _, answer = save(museum, **{"view_id": view_id, **valid})
    assert (answer.status, fact in answer.body["message"]) == (400, True), answer.body
    assert listed(museum) == []


def test_an_asset_has_so_many_views_and_no_more(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "MAX_VIEWS", 1)
    museum.put("/a.glb")
    assert [save(museum)[1].status, save(museum)[1].status] == [200, 200]
    answer = save(museum, name="Rear")[1]
    assert (answer.status, answer.body["code"]) == (409, "TooManyViews")
    assert "1 saved views, the limit; delete one" in answer.body["message"]


def test_the_one_who_saved_a_view_and_who_may_change_the_asset_delete_it(museum: Gallery) -> None:
    museum.put("/a.glb")
    assets = replace(museum.assets, authorization=Reader())
    service = replace(saved_views(museum.changing), assets=assets)
    content = {"name": "Front", "filePath": "/a.glb", "view": "c1_2_3_0_0_0"}
    body = SaveViewBody.model_validate({**content, "picture": png()})
    ann, bob, ref = Identity("ann"), Identity("bob"), museum.asset.ref
    for deletes in (ann, ADMIN):
        service.save_view(ann, ref, body.content_id, body)
        with pytest.raises(PermissionDeniedError):
            service.delete_view(bob, ref, body.content_id)
        service.delete_view(deletes, ref, body.content_id)
        assert service.list_views(bob, ref, url_seconds=1) == []


def test_views_of_an_asset_that_is_not_distributable_are_not_shown(
    tables: MemoryTables, objects: MemoryObjects, clock: TickingClock
) -> None:
    museum = gallery(tables, objects, clock=clock, is_distributable=False)
    museum.put("/a.glb")
    view_id, answer = save(museum)
    for refused in (answer, read(museum, view_id)):
        assert refused.body["code"] == "AssetNotDistributable"
