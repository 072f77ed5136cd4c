"""Existing clients of VAMS are served, according to requests that were recorded by hand."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from uuid import uuid4

import httpx

from backend.spec.routes import ROUTES, Route
from tests.journeys import stock
from tests.journeys.runtime import Api, Runtime, wait_until

RECORDED = [*stock.recorded(), *stock.recorded(stock.RECORDED / "later")]
USER = "admin"

UNUSED = {
    "POST /user/cognito",
    "PUT /user/cognito/{userId}",
    "DELETE /user/cognito/{userId}",
    "POST /user/cognito/{userId}/resetPassword",
    "HEAD /database/{databaseId}/assets/{assetId}/auxiliaryPreviewAssets/stream/{proxy+}",
}
"""Routes of the contract that no entry calls: the local runtime has no user pool."""


def test_entries_are_distinguished_by_their_names() -> None:
    names = [request.name for request in RECORDED]
    assert len(set(names)) == len(names) >= 60
    assert all(request.source and request.client in stock.CLIENT_HEADERS for request in RECORDED)
    assert all((request.deviates is None) == (request.answers is None) for request in RECORDED)


def test_missing_fields_of_a_reply_are_reported() -> None:
    reads = ("Items[].tagName text", "Items[0].tags strings?", "message absent", "total = 2")
    request = stock.Request("ask", "cli", "here", "GET /tags", reads=reads)

    def problems_of(reply: object, status: int = 200) -> list[str]:
        answer = httpx.Response(status, json=reply)
        return stock.problems(request, answer, request.expected, {})

    assert problems_of({"Items": [{"tagName": "a", "tags": None}], "total": 2}) == []
    assert problems_of({"Items": [{"tagName": "a"}, {"tagName": ""}], "total": 2}) == [
        'Items[1].tagName is "", not text'
    ]
    assert problems_of({"Items": [], "total": "2", "message": "an Error"}) == [
        "Items[0].tagName is absent, not text",
        'message is "an Error", not absent',
        'total is "2", not = 2',
        "the message of a success speaks of an error: an Error",
    ]
    assert problems_of({}, 404) == ["404 instead of 200: {}"]


def test_every_route_of_the_contract_is_requested() -> None:
    query = {_route(call) for call in (request.call for request in RECORDED) if "/" in call}
    contract = {route.key for route in ROUTES if not route.ours}
    assert contract - query == UNUSED


def test_stock_clients_are_served(runtime: Runtime) -> None:
    api = runtime.client()
    api.http.headers["Authorization"] = f"Bearer {api.http.headers['Authorization']}"
    names = _first_names(api)
    _know(api, "ada@example.com", "grace@example.com")
    result: dict[str, list[str]] = {}
    for request in RECORDED:
        if request.drained:
            runtime.drain()
        if broken := list(_broken(api, request, names)):
            result[f"{request.name} [{request.call}]"] = broken
    assert result == {}, _listing(result)


def _know(api: Api, *users: str) -> None:
    """Give users a role, as only known users can be subscribed."""
    role = f"stock-{uuid4().hex[:8]}"
    api.ok("POST", "/roles", {"roleName": role, "description": "of subscribers"})
    for user in users:
        api.ok("POST", "/user-roles", {"userId": user, "roleName": [role]})


def _first_names(api: Api) -> dict[str, str]:
    run = uuid4().hex[:8]
    return {
        "user": USER,
        "bucket": api.own_bucket()["bucketId"],
        "database": f"stock-{run}",
        "ingested": f"turbine-{run}",
        "scope": f"tagged-{run}",
        "tag": f"restored-{run}",
        "tagtype": f"condition-{run}",
        "comment": f"x{uuid4()}",
        "role": f"looker-{run}",
        "person": f"ada-{run}@example.com",
        "soon": (datetime.now(UTC) + timedelta(days=300)).date().isoformat(),
    }


def _broken(api: Api, request: stock.Request, names: dict[str, str]) -> Iterator[str]:
    try:
        answer = _answer(api, request, names)
        broken = stock.problems(request, answer, request.expected, names)
    except KeyError as missing:
        yield f"{missing} was not kept"
        return
    if request.answers is None:
        yield from broken
    elif not broken:
        yield "the client is served: this is no deviation any more"
    else:
        yield from stock.problems(request, answer, request.answers, names)
    try:
        names |= stock.kept(request, answer)
    except (KeyError, ValueError) as missing:
        yield f"{missing} cannot be kept"
    _wait_for_its_job(api, answer.headers.get("content-type", ""), answer.text)


def _answer(api: Api, request: stock.Request, names: dict[str, str]) -> httpx.Response:
    """Return the reply.

    The request is repeated for a while if a job must complete what it reads.
    """
    until = monotonic() + request.within
    answer = stock.send(api.http, request, names)
    while monotonic() < until and stock.problems(request, answer, request.expected, names):
        sleep(0.2)
        answer = stock.send(api.http, request, names)
    return answer


def _wait_for_its_job(api: Api, content_type: str, text: str) -> None:
    """People take longer between two requests than the jobs of these take."""
    job = re.search(r'"jobId":\s*"([^"]+)"', text) if "json" in content_type else None
    if job is not None:
        path = f"/jobs/{job[1]}"
        wait_until(lambda: api.ok("GET", path)["state"] == "done")


def _listing(found: dict[str, list[str]]) -> str:
    return "\n".join(f"{name}\n  " + "\n  ".join(broken) for name, broken in found.items())


def _route(call: str) -> str:
    return next((route.key for route in ROUTES if _fits(route, call)), call)


def _fits(route: Route, call: str) -> bool:
    method, path = call.split(" ", 1)
    pattern = re.sub(r"\\{[^}]*\\\+\\}", ".+", re.escape(route.path))
    pattern = re.sub(r"\\{[^}]*\\}", "[^/]+", pattern)
    return method == route.method and re.fullmatch(pattern, path) is not None
