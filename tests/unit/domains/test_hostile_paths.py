"""No path that a client sends leads out of its asset: nothing is read or written there."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from backend.core.names import check_relative_path
from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.http import Response
from tests.routes import CASES
from tests.routes.assets import described
from tests.routes.model import Case, PathField, Target
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.hostile import ELSEWHERE, LEAVING, path_fields

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


FIELDS = [(case, field) for case in CASES for field in case.paths]
_by_field = pytest.mark.parametrize(
    ("case", "field"),
    [
        pytest.param(*each, id=f"{each[0].route.name} {each[1].name}{each[1].label}")
        for each in FIELDS
    ],
)


@pytest.fixture
def attacked(world: Seeded) -> Iterator[Seeded]:
    """The world with objects of others, which have what an attacker wants."""
    with world.rolled_back():
        for asset_id in ("vase", "statue2"):
            body = {**described(Target(world)), "assetId": asset_id}
            world.done(routes.CREATE_ASSET, body=body)
        for bucket, key in OTHERS:
            world.objects.put(bucket, key, SECRET, content_type="text/plain", metadata={})
        yield world


def sent(world: Seeded, case: Case, field: PathField, path: str) -> Response:
    question = case.request(Target(world))
    return world.send(case.route, field.within(case.route, question, path))


def others(world: Seeded) -> dict[tuple[str, str], Any]:
    """All that stands outside the asset, with every version."""
    found: dict[tuple[str, str], Any] = {}
    for bucket in (BUCKET, AUXILIARY):
        for version in world.objects.list_versions(bucket, "", limit=10_000).versions:
            if not version.key.startswith(OWN):
                found.setdefault((bucket, version.key), []).append(version)
    return copy.deepcopy(found)


def own_paths(world: Seeded) -> list[str]:
    return [
        version.key.removeprefix("statue")
        for bucket in (BUCKET, AUXILIARY)
        for version in world.objects.list_versions(bucket, "statue/", limit=10_000).versions
    ]


def refused(field: PathField, answer: Response) -> bool:
    """Whether a request was refused for the field; a beginning that nothing has finds nothing."""
    if field.name in TAKES_BEGINNINGS and answer.status == 200:
        return listed(answer) == []
    if answer.status != 400:
        return False
    fields: list[dict[str, str]] = answer.body["errors"]
    names = [error["field"].removesuffix(".0").rpartition(".")[2] for error in fields]
    return names == [field.name]


def listed(answer: Response) -> list[Any]:
    found: list[Any] = answer.body["items"]
    return found


def test_the_fields_are_all_that_take_a_path() -> None:
    found: dict[Route, set[str]] = {}
    for case, field in FIELDS:
        found.setdefault(case.route, set()).add(field.name)
    found[routes.CREATE_ASSET].discard("assetId")  # no path, but a part of one
    assert found == path_fields()


@_by_field
def test_a_path_that_breaks_the_rules_is_refused(
    attacked: Seeded, case: Case, field: PathField
) -> None:
    before = others(attacked)
    for path in LEAVING:
        answer = sent(attacked, case, field, path)
        assert refused(field, answer), (path, answer.status, answer.body)
        assert SECRET not in str(answer.body).encode(), path
    assert others(attacked) == before
    assert all(check_relative_path(path.removesuffix("/")) for path in own_paths(attacked))


@_by_field
def test_a_path_that_looks_like_another_place_is_one_of_the_asset(
    attacked: Seeded, case: Case, field: PathField
) -> None:
    before = others(attacked)
    for path in ELSEWHERE:
        answer = sent(attacked, case, field, path)
        assert answer.status < 500, (path, answer.body)
        assert SECRET not in str(answer.body).encode(), path
        if case.route == routes.DOWNLOAD and answer.status == 200:
            assert answer.body["downloadUrl"].startswith(f"memory://{BUCKET}/statue/"), path
    after = others(attacked)
    assert {key: found for key, found in after.items() if key in before} == before
    # An asset of its own, whose id or prefix the request gives, may be made elsewhere.
    assert after.keys() == before.keys() or case.route == routes.CREATE_ASSET
    assert all(check_relative_path(path.removesuffix("/")) for path in own_paths(attacked))
