"""Previews in the deployed product: with hits of searches and by name, for permitted callers.

It uses a separate deployment, which counts the requests of functions to the engines.
"""

import io
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from PIL import Image

from backend.spec.functions.searches import SEARCH_API
from tests.journeys.runtime import Api, Runtime, put_parts, wait_for, wait_until
from tests.journeys.shared import stop_and_check
from tests.journeys.test_permissions import new_role, user_of

COLORS = {"/red.png": (255, 0, 0), "/blue.png": (0, 0, 255)}
TILE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    own = Runtime(tmp_path_factory.mktemp("previews") / "state")
    own.up("--in-memory", "--record")
    yield own
    stop_and_check(own)


def png(color: tuple[int, int, int]) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (64, 64), color).save(written, "PNG")
    return written.getvalue()


class PreviewAsset:
    """An asset of pictures, a model, and files without a preview; its own preview is green."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime, self.admin = runtime, runtime.client()
        admin = self.admin
        self.database = admin.new_database(f"db-{uuid4().hex[:12]}", processing=True)
        self.asset = admin.new_asset(self.database, "PreviewAsset")
        self.path = f"/database/{self.database}/assets/{self.asset}"
        files = {path: [png(color)] for path, color in COLORS.items()}
        files |= {"/tile.obj": [TILE], "/notes.txt": [b"notes"], "/broken.png": [b"\x89PNG\r\n"]}
        admin.upload(self.database, self.asset, files)
        self.upload_own_preview()

    def upload_own_preview(self) -> None:
        scope = {
            "assetId": self.asset,
            "databaseId": self.database,
            "uploadType": "assetPreview",
        }
        picture = png((0, 255, 0))
        file = {"relativeKey": "own.png", "num_parts": 1, "file_size": len(picture)}
        begun = self.admin.ok("POST", "/uploads", {**scope, "files": [file]})
        done = [put_parts(item, [picture]) for item in begun["files"]]
        self.admin.ok("POST", f"/uploads/{begun['uploadId']}/complete", {**scope, "files": done})

    def hits(self, api: Api, **body: Any) -> dict[str, Any]:
        """The hits by their path, which is empty for the asset."""
        mine = [{"query_string": {"query": f'str_databaseid:"{self.database}"'}}]
        wanted = {"filters": mine, "aggregations": False, "size": 200, "previews": True, **body}
        result = api.ok("POST", "/search", wanted)["hits"]["hits"]
        return {
            hit["_source"].get("str_key", self.asset).removeprefix(self.asset): hit
            for hit in result
        }

    def named(self, api: Api, *keys: str) -> dict[str, Any]:
        """The previews of files by their path, and the asset's."""
        ids = {"databaseId": self.database, "assetId": self.asset}
        items = [*({**ids, "key": key} for key in keys), ids]
        result = api.ok("POST", "/previews", {"items": items})["items"]
        return {item.get("key") or "": item for item in result}

    def outcomes(self, found: dict[str, Any]) -> dict[str, str]:
        """The reasons of those without a preview; `shown` of the others."""
        return {
            path: item["previewMissing"]["reason"] if "previewMissing" in item else "shown"
            for path, item in found.items()
            if "preview" in item or "previewMissing" in item
        }

    def requests(self) -> dict[str, set[str]]:
        """The operations that searches have requested, by engine."""
        counted = self.runtime.admin("GET", "/requests?by=function")
        return {
            engine: {
                name
                for name, callers in operations.items()
                if any(caller.endswith(f"-{SEARCH_API.name}") for caller in callers)
            }
            for engine, operations in counted.items()
        }


EXPECTED = {
    "": "shown",
    "/red.png": "shown",
    "/blue.png": "shown",
    "/tile.obj": "shown",
    "/notes.txt": "none",
    "/broken.png": "refused",
}
PATHS = tuple(filter(None, EXPECTED))


@pytest.fixture(scope="module")
def gallery(runtime: Runtime) -> PreviewAsset:
    made = PreviewAsset(runtime)
    wait_for(lambda: made.outcomes(made.hits(made.admin)), EXPECTED)
    return made


def color_of(url: str) -> tuple[int, int, int]:
    """The color in the middle of the picture that a URL serves."""
    served = httpx.get(url)
    assert served.status_code == 200, served.text
    assert served.headers["Cache-Control"].startswith("private, max-age=")
    assert served.headers["Content-Type"].startswith("image/")
    picture = Image.open(io.BytesIO(served.content)).convert("RGB")
    result = picture.getpixel((picture.width // 2, picture.height // 2))
    assert isinstance(result, tuple)
    red, green, blue = (round(item / 255) * 255 for item in result[:3])
    return red, green, blue


def test_a_search_and_names_return_urls_that_serve_the_pictures(gallery: PreviewAsset) -> None:
    result, named = gallery.hits(gallery.admin), gallery.named(gallery.admin, *PATHS)
    assert gallery.outcomes(named) == EXPECTED
    for path, color in {**COLORS, "": (0, 255, 0)}.items():
        for item in (result[path], named[path]):
            assert color_of(item["preview"]["url"]) == color, path
    assert httpx.get(result["/tile.obj"]["preview"]["url"]).status_code == 200
    ids = {
        path: element["preview"]["id"] for path, element in result.items() if "preview" in element
    }
    assert {
        path: element["preview"]["id"] for path, element in named.items() if "preview" in element
    } == ids
    assert len(set(ids.values())) == len(ids)
    assert all(
        {"preview", "previewMissing"}.isdisjoint(hit)
        for hit in gallery.hits(gallery.admin, previews=False).values()
    )


def test_files_under_their_asset_have_pictures_too(gallery: PreviewAsset) -> None:
    (asset,) = gallery.hits(gallery.admin, foldFiles=True, size=100).values()
    assert "preview" in asset
    assert asset["files"]
    assert all("preview" in file or "previewMissing" in file for file in asset["files"])


def test_no_request_to_s3_is_sent_for_the_pictures(gallery: PreviewAsset) -> None:
    gallery.runtime.admin("DELETE", "/requests")
    gallery.hits(gallery.admin)
    gallery.named(gallery.admin, *PATHS)
    requests = gallery.requests()
    assert "BatchGetItem" in requests["dynamodb"]  # its name is known to the counters
    assert requests.get("s3", set()) == set()


def test_another_picture_has_another_id_and_its_own_url(gallery: PreviewAsset) -> None:
    path = "/red.png"
    before = gallery.hits(gallery.admin)[path]["preview"]["id"]
    gallery.admin.upload(gallery.database, gallery.asset, {path: [png((255, 255, 0))]})
    wait_until(lambda: gallery.hits(gallery.admin)[path]["preview"]["id"] != before)
    assert color_of(gallery.hits(gallery.admin)[path]["preview"]["url"]) == (255, 255, 0)


def test_only_those_who_may_download_receive_pictures(gallery: PreviewAsset) -> None:
    admin = gallery.admin
    role = new_role(admin)
    user, viewer = user_of(gallery.runtime, role)
    (template,) = (
        item
        for item in admin.ok("GET", "/auth/constraintsTemplates")["Items"]
        if item["template"]["name"] == "database-readonly"
    )
    elsewhere = admin.new_database(f"db-{uuid4().hex[:12]}")
    values = {"ROLE_NAME": role, "DATABASE_ID": elsewhere}
    admin.ok("POST", "/auth/constraintsTemplateImport", {**template, "variableValues": values})
    wait_until(lambda: viewer.send("GET", "/tags").status_code == 200)
    assert gallery.hits(viewer) == gallery.named(viewer, *PATHS) == {}
    values["DATABASE_ID"] = gallery.database
    admin.ok("POST", "/auth/constraintsTemplateImport", {**template, "variableValues": values})
    wait_for(lambda: gallery.outcomes(gallery.hits(viewer)), EXPECTED)
    denied = {
        "name": "No downloads",
        "description": "Looks, but takes nothing away",
        "objectType": "api",
        "criteriaAnd": [{"field": "route__path", "operator": "ends_with", "value": "/download"}],
        "groupPermissions": [{"groupId": role, "permission": "POST", "permissionType": "deny"}],
    }
    admin.ok("POST", f"/auth/constraints/deny-{uuid4().hex[:8]}", denied)
    kept = dict.fromkeys(EXPECTED, "notPermitted")
    wait_for(lambda: gallery.outcomes(gallery.hits(viewer)), kept)
    wait_for(lambda: gallery.outcomes(gallery.named(viewer, *PATHS)), kept)
    assert viewer.refused("POST", f"{gallery.path}/download", {"key": "/blue.png"})[0] == 403
    query = {"entity": f"read:asset:{gallery.database}:{gallery.asset}"}

    def readers() -> set[str]:
        return {entry["userId"] for entry in admin.ok("GET", "/audit", params=query)["Items"]}

    wait_until(lambda: user in readers())


def test_pictures_of_an_asset_that_is_not_distributable_are_kept(gallery: PreviewAsset) -> None:
    gallery.admin.ok("PUT", gallery.path, {"isDistributable": False})
    kept = dict.fromkeys(EXPECTED, "notDistributable")
    assert gallery.outcomes(gallery.hits(gallery.admin)) == kept
    assert gallery.outcomes(gallery.named(gallery.admin, *PATHS)) == kept
