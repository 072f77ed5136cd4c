"""The SDK calls every route of the API, and the command has every function of the SDK."""

import ast
import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, cast

import httpx
import vitrine
from pydantic import BaseModel
from vitrine import (
    LinkMetadataOwner,
    MetadataOwner,
    RetryPolicy,
    SearchQuery,
    Vitrine,
    VitrineError,
)
from vitrine.resources.metadata import Owner
from vitrine.resources.streams import Source

from backend.spec.routes import ROUTES, Route

Method = tuple[str, str]
"""A resource of the SDK and its methods."""

SEVERAL: dict[object, list[object]] = {
    Owner: [
        MetadataOwner(database_id="abc"),
        MetadataOwner(database_id="abc", asset_id="abc"),
        MetadataOwner(database_id="abc", asset_id="abc", file_path="/a"),
        LinkMetadataOwner("abc"),
    ],
    Source: [
        Source(database_id="abc", asset_id="abc", path="/a"),
        Source(database_id="abc", asset_id="abc", path="/a", family="viewer"),
    ],
    SearchQuery: [SearchQuery()],
    str | None: [None, "abc"],
}
"""Arguments of these types: each leads to another route."""
PLAIN: dict[object, object] = {str: "abc", int: 1, bool: True, float: 1.0, Mapping: {}}

SHARED = {"any_keys": ("api_keys", "own_api_keys")}
"""Variables of the commands that are several resources."""
NOT_COMMANDS = {
    ("constraints", "create"): "`constraints put` makes them too",
    **dict.fromkeys(
        (("files", verb) for verb in ("views", "view", "save_view", "delete_view")),
        "only the viewer of the page shows and takes views",
    ),
    ("metadata", "add"): "`metadata set` adds what is not there",
    ("search", "previews"): "for pages that show pictures",
    ("sessions", "create"): "only a browser keeps the cookie",
    ("sessions", "delete"): "only a browser has the cookie",
    ("profiles", "allowed_routes"): "for the navigation of web applications",
    ("profiles", "allowed_api_routes"): "for the buttons of web applications",
    ("profiles", "api_routes"): "for the buttons of web applications",
    ("constraints", "terms"): "for editors of constraints",
}


class RequestRecorder:
    """Records the client's requests, and returns replies without content."""

    def __init__(self) -> None:
        self.requested: set[tuple[str, str]] = set()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode().partition("?")[0]
        self.requested.add((request.method, path))
        return httpx.Response(200, json={})

    def client(self) -> Vitrine:
        transport = httpx.MockTransport(self)
        return Vitrine(
            "https://api.test",
            retry=RetryPolicy(attempts=1),
            api_transport=transport,
            storage_transport=transport,
        )


def methods(client: Vitrine) -> Iterator[tuple[Method, Callable[..., object]]]:
    for name, resource in vars(client).items():
        if type(resource).__module__.startswith("vitrine.resources."):
            for verb, method in inspect.getmembers(resource, inspect.ismethod):
                if not verb.startswith("_"):
                    yield (name, verb), method


def samples(kind: Any) -> list[object]:
    """Values of a type."""
    if kind in SEVERAL:
        return SEVERAL[kind]
    origin, inner = typing.get_origin(kind) or kind, typing.get_args(kind)
    if origin in PLAIN:
        return [PLAIN[origin]]
    if origin in {Sequence, list}:
        return [[sample] for sample in samples(inner[0])]
    if origin is tuple:
        return [tuple(samples(kind)[0] for kind in inner if kind is not Ellipsis)]
    if origin in {typing.Union, UnionType}:
        return samples(inner[0])
    return [inner[0] if origin is typing.Literal else _made(kind)]


def _made(kind: Any) -> object:
    if issubclass(kind, Enum):
        return next(iter(kind))
    assert issubclass(kind, BaseModel), kind
    needed = {name: field for name, field in kind.model_fields.items() if field.is_required()}
    values: dict[str, Any] = {name: samples(field.annotation)[0] for name, field in needed.items()}
    return kind.model_construct(**values)


def call(method: Callable[..., object]) -> None:
    """Call a method with its required arguments, and again for each further value of one."""
    kinds = typing.get_type_hints(method)
    needed = {
        parameter.name: samples(kinds[parameter.name])
        for parameter in inspect.signature(method).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
        and (parameter.default is parameter.empty or kinds[parameter.name] in SEVERAL)
    }
    for number in range(max(map(len, needed.values()), default=1)):
        arguments = {name: values[min(number, len(values) - 1)] for name, values in needed.items()}
        with suppress(VitrineError):
            _use(method(**arguments))


def _use(answer: object) -> None:
    """Use the result of a method, because some send their request only then."""
    if isinstance(answer, Iterator):
        next(cast("Iterator[object]", answer), None)
    elif isinstance(answer, AbstractContextManager):
        with cast("AbstractContextManager[object]", answer):
            pass


def fits(route: Route, method: str, path: str) -> bool:
    pattern = re.sub(r"\\{[^}]*\\\+\\}", ".+", re.escape(route.path))
    pattern = re.sub(r"\\{[^}]*\\}", "[^/]+", pattern)
    return route.method == method and re.fullmatch(pattern, path) is not None


def test_the_sdk_calls_every_route_and_no_other() -> None:
    received = RequestRecorder()
    with received.client() as client:
        for _, method in methods(client):
            call(method)
    routes = {
        request: [route.key for route in ROUTES if fits(route, *request)]
        for request in received.requested
    }
    assert [request for request, keys in routes.items() if not keys] == []
    listed = {key for keys in routes.values() for key in keys}
    assert {route.key for route in ROUTES} - listed == set()


def test_the_command_does_what_the_sdk_can() -> None:
    used = set[Method]()
    folder = Path(vitrine.__file__).parent
    for path in (*folder.glob("cli/*.py"), *folder.glob("transfer/*.py"), *folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute | ast.Name):
                owner = node.value
                name = owner.attr if isinstance(owner, ast.Attribute) else owner.id
                used.update((resource, node.attr) for resource in SHARED.get(name, (name,)))
    with RequestRecorder().client() as client:
        unused = {name for name, _ in methods(client)} - used
    assert unused == set(NOT_COMMANDS)
