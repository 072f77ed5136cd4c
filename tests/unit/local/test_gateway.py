import asyncio
import json
from typing import cast

import httpx
from pydantic import JsonValue

from local.function_process import InvocationResult
from local.functions import Functions
from local.gateway import Gateway
from local.plan import Api, Integration, Object, Route


class Echo:
    """A function that returns the path that it was given."""

    async def invoke(self, _function: str, event: Object) -> InvocationResult:
        answer: dict[str, JsonValue] = {"statusCode": 200, "body": str(event["rawPath"])}
        return InvocationResult(json.dumps(answer).encode(), None)


def _paths(*sent: str) -> list[str]:
    """Return the path that the function got for each path, or the status."""
    keys = ("GET /api/version", "GET /database/{databaseId}")
    api = Api(
        "api",
        "api",
        None,
        routes=[Route(key, "all", None) for key in keys],
        integrations={"all": Integration("function", 30)},
    )
    gateway = Gateway(api, cast("Functions", Echo()))

    async def ask() -> list[str]:
        transport = httpx.ASGITransport(gateway)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            found = [await client.get(path) for path in sent]
        return [each.text if each.status_code == 200 else str(each.status_code) for each in found]

    return asyncio.run(ask())


def test_a_path_below_api_that_no_route_has_is_served_without_the_prefix() -> None:
    assert _paths("/api/version", "/api/api/version") == ["/api/version", "/api/version"]
    assert _paths("/database/one", "/api/database/one") == ["/database/one", "/database/one"]


def test_no_other_path_is_shortened() -> None:
    others = _paths("/version", "/api/api/api/version", "/api/", "/API/database/one", "/api")
    assert others == ["404"] * 5
