"""Paths that try to leave an asset, and every place of a request that takes a path or a key."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from backend.entrypoints.openapi import openapi
from backend.spec import routes
from backend.spec.routes import ROUTES, Route

DB = {"databaseId": "museum"}
ASSET = {**DB, "assetId": "statue"}
TOLD: dict[str, Any] = {
    "assetName": "A",
    "description": "Some asset",
    "isDistributable": True,
    "tags": [],
}
RECORD = {"metadataKey": "year", "metadataValue": "1889", "metadataValueType": "string"}

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


@dataclass(frozen=True)
class Place:
    """One field of a route that takes a path, and a request that is right but for that."""

    route: Route
    field: str
    request: Callable[[str], dict[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.route.name} {self.field}"


def _body(fields: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    return lambda path: {"parameters": ASSET, "body": fields(path)}


def _uploaded(path: str) -> dict[str, Any]:
    return {**ASSET, "uploadType": "assetFile", "files": [{"relativeKey": path, "file_size": 0}]}


def _completed(path: str) -> dict[str, Any]:
    sent: dict[str, Any] = {"relativeKey": path, "uploadIdS3": "zero-byte", "parts": []}
    body: dict[str, Any] = {**ASSET, "uploadType": "assetFile", "files": [sent]}
    return {"parameters": {"uploadId": "y1"}, "body": body}


def _ingested(path: str) -> dict[str, Any]:
    return {"body": {**ASSET, **TOLD, "files": [{"relativeKey": path, "file_size": 0}]}}


def created(**more: str) -> dict[str, Any]:
    """The creation of an asset."""
    return {"body": {**DB, **TOLD, **more}}


def _versioned(path: str) -> dict[str, Any]:
    files = [{"relativeKey": path, "versionId": "1", "isArchived": False}]
    return {"useLatestFiles": False, "files": files, "comment": "Some"}


def _streamed(route: Route) -> Place:
    return Place(route, "proxy", lambda path: {"parameters": {**ASSET, "proxy": path}})


def _run(fields: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    parameters = {**ASSET, "workflowId": "publish"}
    return lambda path: {
        "parameters": parameters,
        "body": {"workflowDatabaseId": "museum"} | fields(path),
    }


def _queried(route: Route) -> Place:
    return Place(route, "filePath", lambda p: {"parameters": ASSET, "query": {"filePath": p}})


_GONE = {"confirmPermanentDelete": True}
_ATTRIBUTE = {"type": "attribute"}
_FROM_A = {"sourcePath": "/a.txt"}
_TO_B = {"destinationPath": "/b.txt"}
PLACES = (
    Place(routes.LIST_FILES, "prefix", lambda p: {"parameters": ASSET, "query": {"prefix": p}}),
    Place(routes.GET_FILE, "filePath", lambda p: {"parameters": ASSET, "query": {"filePath": p}}),
    Place(routes.CREATE_FOLDER, "relativeKey", _body(lambda p: {"relativeKey": f"{p}/"})),
    Place(routes.MOVE_FILE, "sourcePath", _body(lambda p: {"sourcePath": p, **_TO_B})),
    Place(routes.MOVE_FILE, "destinationPath", _body(lambda p: {**_FROM_A, "destinationPath": p})),
    Place(routes.COPY_FILE, "sourcePath", _body(lambda p: {"sourcePath": p, **_TO_B})),
    Place(routes.COPY_FILE, "destinationPath", _body(lambda p: {**_FROM_A, "destinationPath": p})),
    Place(routes.ARCHIVE_FILE, "filePath", _body(lambda p: {"filePath": p})),
    Place(
        routes.ARCHIVE_FILE,
        "filePath of a folder",
        _body(lambda p: {"filePath": p, "isPrefix": True}),
    ),
    Place(routes.UNARCHIVE_FILE, "filePath", _body(lambda p: {"filePath": p})),
    Place(routes.DELETE_FILE, "filePath", _body(lambda p: {"filePath": p, **_GONE})),
    Place(
        routes.DELETE_FILE,
        "filePath of a folder",
        _body(lambda p: {"filePath": p, "isPrefix": True, **_GONE}),
    ),
    Place(
        routes.REVERT_FILE_VERSION,
        "filePath",
        lambda p: {"parameters": {**ASSET, "versionId": "1"}, "body": {"filePath": p}},
    ),
    Place(
        routes.SET_PRIMARY_FILE, "filePath", _body(lambda p: {"filePath": p, "primaryType": "lod1"})
    ),
    Place(routes.DELETE_AUXILIARY_FILES, "filePath", _body(lambda p: {"filePath": p})),
    Place(routes.CREATE_ASSET_VERSION, "relativeKey", _body(_versioned)),
    Place(routes.DOWNLOAD, "key", _body(lambda p: {"downloadType": "assetFile", "key": p})),
    _streamed(routes.STREAM_FILE),
    _streamed(routes.HEAD_FILE),
    _streamed(routes.STREAM_AUXILIARY_FILE),
    _streamed(routes.HEAD_AUXILIARY_FILE),
    Place(
        routes.GET_FILE_METADATA,
        "filePath",
        lambda p: {"parameters": ASSET, "query": {"filePath": p, **_ATTRIBUTE}},
    ),
    Place(
        routes.CREATE_FILE_METADATA,
        "filePath",
        _body(lambda p: {"filePath": p, **_ATTRIBUTE, "metadata": [RECORD]}),
    ),
    Place(
        routes.UPDATE_FILE_METADATA,
        "filePath",
        _body(lambda p: {"filePath": p, **_ATTRIBUTE, "metadata": [RECORD]}),
    ),
    Place(
        routes.DELETE_FILE_METADATA,
        "filePath",
        _body(lambda p: {"filePath": p, **_ATTRIBUTE, "metadataKeys": ["year"]}),
    ),
    Place(routes.INITIALISE_UPLOAD, "relativeKey", lambda p: {"body": _uploaded(p)}),
    Place(routes.COMPLETE_UPLOAD, "relativeKey", _completed),
    Place(
        routes.RENEW_UPLOAD,
        "relativeKey",
        lambda p: {"parameters": {"uploadId": "y1"}, "body": {"files": [{"relativeKey": p}]}},
    ),
    Place(routes.INGEST_ASSET, "relativeKey", _ingested),
    Place(routes.INGEST_ASSET, "relativeKey in the asset", lambda p: _ingested(f"statue/{p}")),
    Place(
        routes.CREATE_ASSET,
        "bucketExistingKey",
        lambda p: created(assetId="other", bucketExistingKey=p),
    ),
    Place(routes.CREATE_ASSET, "assetId", lambda p: created(assetId=p)),
    Place(routes.START_EXECUTION, "fileKey", _run(lambda p: {"fileKey": p})),
    _queried(routes.LIST_DEPENDENCIES),
    _queried(routes.LIST_DEPENDENTS),
    _queried(routes.LIST_SIMILAR_FILES),
    Place(routes.GET_GLB, "key", lambda p: {"parameters": ASSET, "query": {"key": p}}),
)
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
