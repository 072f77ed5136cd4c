"""The replies of routes as the OpenAPI document has them."""

import re
from functools import cache
from typing import Any

import httpx

from backend.entrypoints.openapi import openapi
from tests.unit.client.fake_files import refuse, reply


@cache
def _operations() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    return [
        (re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path)), operations)
        for path, operations in openapi()["paths"].items()
    ]


def documented_content(request: httpx.Request) -> dict[str, Any] | None:
    """Return the content of the successful response, by media type; None without such a route."""
    path = request.url.raw_path.decode().partition("?")[0]
    for pattern, operations in _operations():
        operation = operations.get(request.method.lower())
        if operation and pattern.fullmatch(path):
            return operation["responses"]["200"].get("content", {})
    return None


def example_reply(request: httpx.Request) -> httpx.Response:
    """Return the example of the route's reply, or 404 without such a route."""
    content = documented_content(request)
    if content is None or "application/json" not in content:
        refuse(404, "Not Found")
    return reply(content["application/json"]["example"])
