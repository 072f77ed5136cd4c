"""The HTTP API of the deployment: routes, authorizer, CORS and limits as in API Gateway.

An ASGI application; `payload.py` converts events and responses.
"""

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from pydantic import JsonValue
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from local import arns
from local.functions import THROTTLED, Functions
from local.payload import (
    MalformedReplyError,
    Reply,
    Request,
    identity_of,
    message,
    reply_of,
    request_event,
    with_body,
)
from local.plan import Api, Authorizer, Cors, Object
from local.routing import Match, RouteTable

# Source: "Amazon API Gateway quotas", HTTP APIs, payload size.
_MAXIMUM_BODY = 10 * 1024 * 1024
# Then all are dropped; an entry lasts for five seconds anyway.
_MAXIMUM_CACHED = 1000
_PREFIX = "/api/"

_log = logging.getLogger(__name__)


class _TooLargeError(Exception):
    """The body exceeds API Gateway's limit."""


@dataclass(frozen=True)
class _Decision:
    """The decision of an authorizer, and the time until which it is cached."""

    allowed: bool
    context: JsonValue
    until: float


class Gateway:
    """Serves one API."""

    def __init__(self, api: Api, functions: Functions) -> None:
        """Store the API as declared in the template."""
        self._api = api
        self._functions = functions
        self._routes = RouteTable(api.routes)
        self._decisions: dict[tuple[str, ...], _Decision] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        if scope["type"] != "http":
            return
        http = HttpRequest(scope, receive)
        try:
            reply = await self._reply(await _read(http))
        except _TooLargeError:
            reply = message(413, "Request Entity Too Large")
        except ClientDisconnect:
            return
        response = Response(reply.body, status_code=reply.status)
        for name, value in reply.headers:
            if name == "content-length":
                response.headers[name] = value  # the length of the body that a reply to HEAD omits
            else:
                response.headers.append(name, value)
        await response(scope, receive, send)

    async def get(self, path: str, origin: str) -> bytes:
        """Return the body of a public route, as a client of this origin receives it."""
        headers = (("host", urlsplit(origin).netloc),)
        request = Request("GET", path, "", headers, "127.0.0.1", "HTTP/1.1", b"")
        return (await self._routed(request)).body

    async def _reply(self, request: Request) -> Reply:
        cors = self._api.cors
        origin = request.header("origin")
        if cors is None or origin is None:
            return await self._routed(request)
        # The gateway replies to preflight requests by itself, so no function has a route for them.
        if request.method == "OPTIONS" and request.header("access-control-request-method"):
            return Reply(204, b"", tuple(_preflight(cors, origin)))
        reply = await self._routed(request)
        # API Gateway ignores CORS headers of functions if the API has a CORS configuration.
        own = [h for h in reply.headers if not h[0].startswith("access-control-")]
        return replace(reply, headers=(*own, *_allowed(cors, origin)))

    async def _routed(self, request: Request) -> Reply:
        match = self._routes.find(request.method, request.raw_path)
        if match is None and request.raw_path.startswith(_PREFIX):
            # Clients of later releases send all paths below /api; functions get them without it.
            request = replace(request, raw_path="/" + request.raw_path.removeprefix(_PREFIX))
            match = self._routes.find(request.method, request.raw_path)
        if match is None:
            return message(404, "Not Found")
        event = request_event(request, match, self._api.id)
        authorizer = self._api.authorizers.get(match.route.authorizer or "")
        if authorizer is not None:
            refused = await self._authorize(authorizer, event, match)
            if refused is not None:
                return refused
        return await self._integrate(with_body(event, request), match)

    async def _integrate(self, event: Object, match: Match) -> Reply:
        integration = self._api.integrations[match.route.integration]
        try:
            result = await self._functions.invoke(
                integration.function, event, seconds=integration.timeout
            )
        except TimeoutError:
            return message(503, "Service Unavailable")
        if result.error is not None:
            _log.warning("%s failed: %s", match.route.key, result.message())
            # An event of more than 6 MB: API Gateway accepts larger bodies than Lambda does.
            if b'"RequestEntityTooLarge"' in result.payload:
                return message(413, "Request Entity Too Large")
            if result.error == THROTTLED:
                return message(503, "Service Unavailable")
            return message(500, "Internal Server Error")
        try:
            return reply_of(result.payload, method=match.route.key.split(" ", 1)[0])
        except MalformedReplyError as error:
            _log.warning("%s: %s", match.route.key, error)
            return message(500, "Internal Server Error")

    async def _authorize(self, authorizer: Authorizer, event: Object, match: Match) -> Reply | None:
        """Add the authorizer's context to the event, or return why the request is denied."""
        identity = identity_of(authorizer.identity_sources, event)
        if identity is None:
            return message(401, "Unauthorized")
        decision = await self._decide(authorizer, event, match, identity)
        if isinstance(decision, Reply):
            return decision
        if not decision.allowed:
            return message(403, "Forbidden")
        context = event["requestContext"]
        if isinstance(context, dict):
            context["authorizer"] = {"lambda": decision.context}
        return None

    async def _decide(
        self, authorizer: Authorizer, event: Object, match: Match, identity: list[str]
    ) -> _Decision | Reply:
        key = (authorizer.id, *identity)
        # Without an identity source there is nothing by which to cache.
        cached = self._decisions.get(key) if identity and authorizer.cache_seconds else None
        if cached is not None and cached.until > time.monotonic():
            return cached
        method, _, path = match.route.key.partition(" ")
        place = f"{method}{path}" if path else str(event["rawPath"])
        authorizer_event: Object = {
            **event,
            "type": "REQUEST",
            # The event is the request's, without a body: API Gateway does not send it to
            # authorizers.
            "routeArn": arns.arn("execute-api", f"{self._api.id}/$default/{place}"),
            "identitySource": list[JsonValue](identity),
        }
        result = await self._functions.invoke(authorizer.function, authorizer_event)
        said = result.value() if result.error is None else None
        if not isinstance(said, dict) or not isinstance(said.get("isAuthorized"), bool):
            _log.error("the authorizer failed: %s", result.message())
            if result.error == THROTTLED or b'"Sandbox.Timedout"' in result.payload:
                # API Gateway replies 500. Here it happens on a busy machine, and clients repeat
                # after a 429.
                return message(429, "Too Many Requests")
            return message(500, "Internal Server Error")
        decision = _Decision(
            said["isAuthorized"] is True,
            said.get("context") or {},
            time.monotonic() + authorizer.cache_seconds,
        )
        if len(self._decisions) >= _MAXIMUM_CACHED:
            self._decisions.clear()
        self._decisions[key] = decision
        return decision


async def _read(http: HttpRequest) -> Request:
    parts: list[bytes] = []
    size = 0
    async for part in http.stream():
        size += len(part)
        if size > _MAXIMUM_BODY:
            raise _TooLargeError
        # Counted as it arrives: the header with its length may be missing or wrong.
        parts.append(part)
    raw_path: bytes = http.scope.get("raw_path") or http.url.path.encode()
    return Request(
        method=http.method,
        raw_path=raw_path.decode("latin-1"),
        query=http.url.query,
        headers=tuple((name.lower(), value) for name, value in http.headers.items()),
        source=http.client.host if http.client else "127.0.0.1",
        protocol=f"HTTP/{http.scope.get('http_version', '1.1')}",
        body=b"".join(parts),
    )


def _allowed(cors: Cors, origin: str) -> Iterable[tuple[str, str]]:
    if "*" in cors.origins and not cors.credentials:
        yield "access-control-allow-origin", "*"
    elif origin in cors.origins or "*" in cors.origins:
        yield "access-control-allow-origin", origin
        yield "vary", "Origin"
    else:
        return
    if cors.credentials:
        yield "access-control-allow-credentials", "true"
    if cors.exposed:
        yield "access-control-expose-headers", ",".join(cors.exposed)


def _preflight(cors: Cors, origin: str) -> Iterable[tuple[str, str]]:
    allowed = [header for header in _allowed(cors, origin) if "expose" not in header[0]]
    if not allowed:
        return
    yield from allowed
    if cors.methods:
        yield "access-control-allow-methods", ",".join(cors.methods)
    if cors.headers:
        yield "access-control-allow-headers", ",".join(cors.headers)
    if cors.max_age is not None:
        yield "access-control-max-age", str(cors.max_age)
