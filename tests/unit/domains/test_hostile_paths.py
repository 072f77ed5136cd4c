"""No path that a client sends leads out of its asset: nothing is read, written or told there."""

import copy
from typing import Any

import pytest

from backend.core.names import check_relative_path
from backend.spec import routes
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Answer
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.audit.product import Product
from tests.unit.domains.hostile import DB, ELSEWHERE, LEAVING, PLACES, Place, created, path_fields

BUCKET, AUXILIARY = "assetbucket", "assetauxiliarybucket"
SECRET = b"SECRET-OF-ANOTHER"
OTHERS = (
    (BUCKET, "vase/secret.glb"),
    (BUCKET, "statue2/secret.glb"),
    (BUCKET, "secret.glb"),
    (BUCKET, "STATUE/secret.glb"),
    (AUXILIARY, "vase/secret.glb"),
    (AUXILIARY, "statue2/secret.glb"),
    (AUXILIARY, "secret.glb"),
)
OWN = ("statue/", "temp-uploads/", "previews/statue/")
TAKES_BEGINNINGS = {"prefix"}
"""Of a list: what no path begins with finds nothing, and only segments that leave are refused."""


@pytest.fixture
def product() -> Product:
    found = Product()
    made = {**DB, "description": "All of it", "defaultBucketId": BUCKET_ID}
    assert found.send(routes.CREATE_DATABASE, body=made).status == 200
    for asset_id in ("statue", "vase", "statue2"):
        assert found.send(routes.CREATE_ASSET, **created(assetId=asset_id)).status == 200
    for route, body in (
        (routes.PUT_PIPELINE, pipeline_body()),
        (routes.PUT_WORKFLOW, workflow_body()),
    ):
        assert found.send(route, body=body).status == 200
    for bucket, key in OTHERS:
        found.objects.put(bucket, key, SECRET, content_type="text/plain", metadata={})
    found.objects.put(BUCKET, "statue/a.txt", b"own", content_type="text/plain", metadata={})
    return found


def others(product: Product) -> dict[tuple[str, str], Any]:
    """All that stands outside the asset, with every version."""
    found: dict[tuple[str, str], Any] = {}
    for bucket in (BUCKET, AUXILIARY):
        for version in product.objects.list_versions(bucket, "", limit=10_000).versions:
            if not version.key.startswith(OWN):
                found.setdefault((bucket, version.key), []).append(version)
    return copy.deepcopy(found)


def own_paths(product: Product) -> list[str]:
    return [
        version.key.removeprefix("statue")
        for bucket in (BUCKET, AUXILIARY)
        for version in product.objects.list_versions(bucket, "statue/", limit=10_000).versions
    ]


def refused(place: Place, answer: Answer) -> bool:
    """Whether a request was refused for the field; a beginning that nothing has finds nothing."""
    field = place.field.partition(" ")[0]
    if field in TAKES_BEGINNINGS and answer.status == 200:
        return listed(answer) == []
    if answer.status != 400:
        return False
    fields: list[dict[str, str]] = answer.body["errors"]
    return [one["field"].rpartition(".")[2] for one in fields] == [field]


def listed(answer: Answer) -> list[Any]:
    found: list[Any] = answer.body["items"]
    return found


def test_the_places_are_all_that_take_a_path() -> None:
    told: dict[Any, set[str]] = {}
    for place in PLACES:
        told.setdefault(place.route, set()).add(place.field.partition(" ")[0])
    told[routes.CREATE_ASSET].discard("assetId")  # no path, but a part of one
    assert told == path_fields()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_a_path_that_breaks_the_rules_is_refused(product: Product, place: Place) -> None:
    before = others(product)
    for path in LEAVING:
        answer = product.send(place.route, **place.request(path))
        assert refused(place, answer), (path, answer.status, answer.body)
        assert SECRET not in str(answer.body).encode(), path
    assert others(product) == before
    assert all(check_relative_path(path.removesuffix("/")) for path in own_paths(product))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_a_path_that_looks_like_another_place_is_one_of_the_asset(
    product: Product, place: Place
) -> None:
    before = others(product)
    for path in ELSEWHERE:
        answer = product.send(place.route, **place.request(path))
        assert answer.status < 500, (path, answer.body)
        assert SECRET not in str(answer.body).encode(), path
        if place.route == routes.DOWNLOAD and answer.status == 200:
            assert answer.body["downloadUrl"].startswith(f"memory://{BUCKET}/statue/"), path
    made = {key: versions for key, versions in others(product).items() if key not in before}
    assert {key: found for key, found in others(product).items() if key in before} == before
    # An asset of its own, whose id or prefix the request gives, may be made elsewhere.
    assert not made or place.route == routes.CREATE_ASSET
    assert all(check_relative_path(path.removesuffix("/")) for path in own_paths(product))
