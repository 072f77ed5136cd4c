"""The HTTP servers of the runner: which address a request comes from."""

import asyncio

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from local.servers import HttpServer, bind_any


async def _caller(scope: Scope, receive: Receive, send: Send) -> None:
    client = Request(scope, receive).client
    answer = JSONResponse({"address": client and client.host, "scheme": scope["scheme"]})
    await answer(scope, receive, send)


async def _reply_to(headers: dict[str, str]) -> object:
    server = HttpServer(bind_any())
    await server.start(_caller)
    try:
        async with httpx.AsyncClient() as http:
            return (await http.get(server.url, headers=headers)).json()
    finally:
        await server.stop()


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"},
        {"Forwarded": "for=192.0.2.1;proto=https"},
        {"X-Real-IP": "192.0.2.1"},
    ],
)
def test_no_header_changes_the_address_of_a_request(headers: dict[str, str]) -> None:
    assert asyncio.run(_reply_to(headers)) == {"address": "127.0.0.1", "scheme": "http"}
