"""No path that a client sends leads out of its asset: nothing is read or written there."""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from backend.core.names import check_relative_path
from backend.entrypoints.openapi import openapi
from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.factories.http import Response
from tests.routes import CASES
from tests.routes.assets import described
from tests.routes.model import Case, PathField, Target
from tests.unit.domains.access.matrix.seeding import Seeded

LEAVING = [
    "/../vase/secret.glb",
    "../vase/secret.glb",
    "../../secret.glb",
    "/parts/../../vase/secret.glb",
    "/parts/./../../vase/secret.glb",
    "statue/../vase/secret.glb",
    "statue/../../secret.glb",
    "..",
    "/..",
    "/.",
    "/../",
    "./secret.glb",
    "/./secret.glb",
    "/parts/..",
    "//vase/secret.glb",
    "///",
    "/parts//secret.glb",
    "\\..\\vase\\secret.glb",
    "/..\\vase\\secret.glb",
    "/parts\\..\\..\\vase",
    "C:\\secret.glb",
    "\\\\server\\share",
    "/..:vase",
    "/..\x00/vase/secret.glb",
    "/\x00",
    "/vase\x00.glb",
    "/../vase/secret.glb\x00.glb",
    "/a\r\nX-Amz-Acl: public-read",
    "/a\tb",
    "/a\x7f",
    "/a\x85b",
    "/e\u0301.glb",
    "/\u212b.glb",
    "/.. /vase/secret.glb",
    "/.../vase/secret.glb",
    "/parts./secret.glb",
    "/parts /secret.glb",
    "/secret.glb?versionId=1",
    "/<script>",
    "/secret|glb",
    "/" + "a" * 256,
    "/" + "a/" * 600 + "b",
    "/" + "\u00e9" * 200 + "/" + "\u00e9" * 200 + "/" + "\u00e9" * 200,
]
"""Each breaks a rule of paths, so it is refused whatever it was meant to do."""
ELSEWHERE = [
    "vase/secret.glb",
    "/vase/secret.glb",
    "statue2/secret.glb",
    "/statue2/secret.glb",
    "2/secret.glb",
    "secret.glb",
    "/%2e%2e/vase/secret.glb",
    "/..%2fvase%2fsecret.glb",
    "/%2e%2e%2fvase",
    "/..%c0%afvase",
    "/..%00",
    "/\uff0e\uff0e/vase/secret.glb",
    "/..\u2215vase\u2215secret.glb",
    "/\u202e/secret.glb",
    "/~/secret.glb",
    "/$HOME/secret.glb",
    "/${jndi}/secret.glb",
    "/temp-uploads/secret.glb",
    "/STATUE/secret.glb",
    "statue",
    "/statue/vase/secret.glb",
]
"""Each is a path like any other: below the asset it may be, and nowhere else."""
OTHER_FIELDS: Mapping[str, str] = {
    "isPrefix": "a choice",
    "metadataKey": "a name: it is part of no key in a bucket",
    "metadataKeys": "as metadataKey",
    "controlledListKeys": "values of a list",
    "fileKeys": "each is read as fileKey is, and refused for itself",
    "route__path": "the path of a route",
}
OTHER_ROUTES: Mapping[Route, str] = {
    routes.REGISTER_BUCKET: "its prefix is an administrator's, and has rules of its own",
    routes.GET_FAILURE: "the key of a failure has one form, and another bucket",
    routes.REPLAY_FAILURES: "as GET_FAILURE",
    routes.REPAIR_SEARCH: "names a document; what is not in the bucket makes none",
    routes.UPDATE_METADATA_BATCH: "as UPDATE_FILE_METADATA; `metadata/test_batch` sends it others",
    routes.LIST_PREVIEWS: "names documents; `search/test_previews` sends it wrong paths",
    routes.SEARCH: "a name that documents are searched by",
    routes.SEARCH_SIMPLE: "a value that documents are searched by",
}
_PARAMETER = re.compile(r"\{[^}]*\}")
_PATH_LIKE = re.compile(r"(path|key|prefix|proxy|folder|location)s?$", re.IGNORECASE)


def path_fields() -> dict[Route, set[str]]:
    """The fields of each route whose names say that they take a path or a key."""
    document = openapi()
    schemas = cast("dict[str, Any]", document["components"]["schemas"])
    operations = {
        (method.upper(), _PARAMETER.sub("{}", path)): operation
        for path, of_path in document["paths"].items()
        for method, operation in of_path.items()
    }
    result: dict[Route, set[str]] = {}
    for route in ROUTES:
        operation = operations[route.method, _PARAMETER.sub("{}", route.path)]
        names = {item["name"] for item in operation.get("parameters", []) if "name" in item}
        content = operation.get("requestBody", {}).get("content", {})
        names |= set(_names(content.get("application/json", {}).get("schema", {}), schemas, ()))
        wanted = {name for name in names if _PATH_LIKE.search(name)} - set(OTHER_FIELDS)
        if wanted and route not in OTHER_ROUTES:
            result[route] = wanted
    return result


def _names(schema: dict[str, Any], schemas: dict[str, Any], seen: tuple[str, ...]) -> Iterator[str]:
    """The names of all fields of a schema, in whatever depth."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name:
        if name not in seen:
            yield from _names(schemas[name], schemas, (*seen, name))
        return
    for field, inner in schema.get("properties", {}).items():
        yield field
        yield from _names(inner, schemas, seen)
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield from _names(schema[part], schemas, seen)
    for part in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(part, []):
            yield from _names(inner, schemas, seen)


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
        pytest.param(*field, id=f"{field[0].route.name} {field[1].name}{field[1].label}")
        for field in FIELDS
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
    result: dict[tuple[str, str], Any] = {}
    for bucket in (BUCKET, AUXILIARY):
        for version in world.objects.list_versions(bucket, "", limit=10_000).versions:
            if not version.key.startswith(OWN):
                result.setdefault((bucket, version.key), []).append(version)
    return copy.deepcopy(result)


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
    items: list[Any] = answer.body["items"]
    return items


def test_the_fields_are_all_that_take_a_path() -> None:
    result: dict[Route, set[str]] = {}
    for case, field in FIELDS:
        result.setdefault(case.route, set()).add(field.name)
    result[routes.CREATE_ASSET].discard("assetId")  # no path, but a part of one
    assert result == path_fields()


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
    assert {key: item for key, item in after.items() if key in before} == before
    # An asset of its own, whose id or prefix the request gives, may be made elsewhere.
    assert after.keys() == before.keys() or case.route == routes.CREATE_ASSET
    assert all(check_relative_path(path.removesuffix("/")) for path in own_paths(attacked))
