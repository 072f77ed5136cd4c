import asyncio
import json
from typing import cast

import httpx
from pydantic import JsonValue

from local.function_process import InvocationResult, function_error
from local.functions import THROTTLED, Functions
from local.gateway import Gateway
from local.plan import Api, Authorizer, Integration, Object, Route


class Echo:
    """A function that returns the path that it was given."""

    async def invoke(self, _function: str, event: Object, *, seconds: float) -> InvocationResult:
        assert seconds == 30
        answer: dict[str, JsonValue] = {"statusCode": 200, "body": str(event["rawPath"])}
        return InvocationResult(json.dumps(answer).encode(), None)


class Failing:
    """A function that ends a call in one way."""

    def __init__(self, result: InvocationResult | None) -> None:
        self._result = result

    async def invoke(
        self, _function: str, _event: Object, *, seconds: float = 0
    ) -> InvocationResult:
        if self._result is None:
            raise TimeoutError
        return self._result


def _paths(*sent: str) -> list[str]:
    """Return the path that the function got for each path, or the status."""
    replies = _replies(Echo(), *sent)
    return [each.text if each.status_code == 200 else str(each.status_code) for each in replies]


def _gateway(functions: object) -> Gateway:
    keys = ("GET /api/version", "GET /database/{databaseId}")
    api = Api(
        "api",
        "api",
        None,
        routes=[*(Route(key, "all", None) for key in keys), Route("GET /own", "all", "one")],
        integrations={"all": Integration("function", 30)},
        authorizers={"one": Authorizer("one", "function", (), 0)},
    )
    return Gateway(api, cast("Functions", functions))


def _replies(functions: object, *sent: str) -> list[httpx.Response]:
    async def send() -> list[httpx.Response]:
        transport = httpx.ASGITransport(_gateway(functions))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return [await client.get(path) for path in sent]

    return asyncio.run(send())


def test_a_path_below_api_that_no_route_has_is_served_without_the_prefix() -> None:
    assert _paths("/api/version", "/api/api/version") == ["/api/version", "/api/version"]
    assert _paths("/database/one", "/api/database/one") == ["/database/one", "/database/one"]


def test_a_request_of_the_runtime_itself_names_the_host_as_clients_do() -> None:
    seen: list[Object] = []

    class Noting(Echo):
        async def invoke(
            self, _function: str, event: Object, *, seconds: float
        ) -> InvocationResult:
            seen.append(event)
            return await Echo.invoke(self, _function, event, seconds=seconds)

    # Without a host the configuration is refused, and with it the page's sign-in provider.
    answer = asyncio.run(_gateway(Noting()).get("/api/version", "http://127.0.0.1:8080"))
    assert answer == b"/api/version"
    headers = cast("dict[str, str]", seen[0]["headers"])
    assert headers["host"] == "127.0.0.1:8080"


def test_no_other_path_is_shortened() -> None:
    others = _paths("/version", "/api/api/api/version", "/api/", "/API/database/one", "/api")
    assert others == ["404"] * 5


def test_a_call_without_a_result_gets_the_reply_of_api_gateway() -> None:
    busy, internal = (503, "Service Unavailable"), (500, "Internal Server Error")
    for result, wanted in (
        (None, busy),
        (InvocationResult(b"{}", error=THROTTLED), busy),
        (function_error("Sandbox.Timedout", "Task timed out after 29.00 seconds"), internal),
        (function_error("Runtime.ExitError", "signal: 9"), internal),
        # of the function itself, which may have done something
        (function_error(THROTTLED, "a service throttles the function"), internal),
    ):
        (reply,) = _replies(Failing(result), "/api/version")
        assert (reply.status_code, reply.json()) == (wanted[0], {"message": wanted[1]}), result


def test_a_request_whose_authorizer_is_late_can_be_repeated() -> None:
    late, internal = (429, "Too Many Requests"), (500, "Internal Server Error")
    for result, wanted in (
        (InvocationResult(b"{}", error=THROTTLED), late),
        (function_error("Sandbox.Timedout", "Error: did not start within 60 seconds"), late),
        (function_error("Runtime.ExitError", "signal: 9"), internal),
        (InvocationResult(b"[]", error=None), internal),
    ):
        (reply,) = _replies(Failing(result), "/own")
        assert (reply.status_code, reply.json()) == (wanted[0], {"message": wanted[1]}), result
