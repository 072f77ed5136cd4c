"""Paths that try to leave an asset, and every field of a route that takes a path or a key."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from backend.entrypoints.openapi import openapi
from backend.spec import routes
from backend.spec.routes import ROUTES, Route

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
    found: dict[Route, set[str]] = {}
    for route in ROUTES:
        operation = operations[route.method, _PARAMETER.sub("{}", route.path)]
        names = {one["name"] for one in operation.get("parameters", []) if "name" in one}
        content = operation.get("requestBody", {}).get("content", {})
        names |= set(_names(content.get("application/json", {}).get("schema", {}), schemas, ()))
        wanted = {name for name in names if _PATH_LIKE.search(name)} - set(OTHER_FIELDS)
        if wanted and route not in OTHER_ROUTES:
            found[route] = wanted
    return found


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
