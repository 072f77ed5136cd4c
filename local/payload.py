"""Converts HTTP requests to events of payload format 2.0, and results of functions to responses.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
"""

import base64
import json
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl, unquote

from pydantic import JsonValue

from local import arns
from local.plan import Object
from local.routing import Match

_TEXT_TYPES = frozenset({"application/json", "application/javascript", "application/xml"})


class MalformedReplyError(Exception):
    """The result of a function is not a valid HTTP response."""


@dataclass(frozen=True)
class Request:
    """A request of a client. Header names are in lower case; `target` is path and query as sent."""

    method: str
    raw_path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    source: str
    protocol: str
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """Return the header's values, joined by commas; None if there are none."""
        values = [value for key, value in self.headers if key == name]
        return ",".join(values) if values else None


@dataclass(frozen=True)
class Reply:
    """The response to a client."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


def message(status: int, text: str) -> Reply:
    """Return a response of the gateway itself."""
    body = json.dumps({"message": text}, separators=(",", ":")).encode()
    return Reply(status, body, (("content-type", "application/json"),))


def request_event(request: Request, match: Match, api_id: str) -> Object:
    """Return the event of authorizer and integration: the request without its body."""
    route = match.route.key
    # HTTP APIs pass the decoded path, unlike REST APIs and function URLs, and cut it at a decoded
    # `?`; the variables in `pathParameters` are complete.
    path = unquote(request.raw_path)
    event: Object = {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path.split("?", 1)[0],
        "rawQueryString": request.query,
        "headers": {
            **_joined((name, value) for name, value in request.headers if name != "cookie"),
            # the gateway's own description of the connection, whatever the client sends
            "x-forwarded-for": request.source,
            "x-forwarded-proto": "http",
        },
        "requestContext": _context(request, route, path, api_id),
    }
    cookies = [
        part.strip()
        for name, value in request.headers
        if name == "cookie"
        for part in value.split(";")
        if part.strip()
    ]
    if cookies:
        event["cookies"] = list[JsonValue](cookies)
    if request.query:
        event["queryStringParameters"] = _joined(parse_qsl(request.query, keep_blank_values=True))
    if match.parameters:
        event["pathParameters"] = dict[str, JsonValue](match.parameters)
    return event


def with_body(event: Object, request: Request) -> Object:
    """Return the event with the request's body; binary bodies are base64."""
    if not request.body:
        return {**event, "isBase64Encoded": False}
    text = _as_text(request.header("content-type"), request.body)
    if text is not None:
        return {**event, "body": text, "isBase64Encoded": False}
    return {**event, "body": base64.b64encode(request.body).decode(), "isBase64Encoded": True}


def reply_of(payload: bytes, *, method: str = "GET") -> Reply:
    """Return the HTTP response for the result of a function.

    A result without `statusCode` is the body of a 200, as API Gateway infers it. The length of the
    body is calculated here; only a response to HEAD, which has no body, keeps the function's value.

    Raises:
        MalformedReplyError: the result is not a valid response.
    """
    try:
        value: JsonValue = json.loads(payload or b"null")
    except ValueError as error:
        raise MalformedReplyError("the response is not JSON") from error
    if not isinstance(value, dict) or "statusCode" not in value:
        body = value if isinstance(value, str) else json.dumps(value)
        return Reply(200, body.encode(), (("content-type", "application/json"),))
    body = b"" if method == "HEAD" else _body(value)
    headers = (h for h in _reply_headers(value) if method == "HEAD" or h[0] != "content-length")
    return Reply(_status(value), body, tuple(headers))


def _status(value: Object) -> int:
    status = value["statusCode"]
    if isinstance(status, str) and status.isdigit():
        status = int(status)
    if isinstance(status, bool) or not isinstance(status, int) or not 100 <= status <= 599:
        raise MalformedReplyError(f"statusCode {status!r} is invalid")
    return status


def _body(value: Object) -> bytes:
    body = value.get("body")
    if body is None:
        return b""
    if not isinstance(body, str):
        raise MalformedReplyError("the body is not a text")
    if not value.get("isBase64Encoded"):
        return body.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as error:
        raise MalformedReplyError("the body is not base64") from error


def _reply_headers(value: Object) -> Iterable[tuple[str, str]]:
    headers = value.get("headers") or {}
    cookies = value.get("cookies") or []
    if not isinstance(headers, dict) or not isinstance(cookies, list):
        raise MalformedReplyError("headers or cookies have an invalid form")
    names = {name.lower() for name in headers}
    if "content-type" not in names:
        yield "content-type", "text/plain;charset=UTF-8"
    for name, content in headers.items():
        if content is not None:
            yield name.lower(), content if isinstance(content, str) else json.dumps(content)
    for cookie in cookies:
        yield "set-cookie", str(cookie)


def _joined(pairs: Iterable[tuple[str, str]]) -> Object:
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return dict[str, JsonValue](joined)


def _context(request: Request, route: str, path: str, api_id: str) -> Object:
    now = time.time()
    host = request.header("host") or ""
    return {
        "accountId": arns.ACCOUNT,
        "apiId": api_id,
        "domainName": host,
        "domainPrefix": api_id,
        "http": {
            "method": request.method,
            "path": path,
            "protocol": request.protocol,
            "sourceIp": request.source,
            "userAgent": request.header("user-agent") or "",
        },
        "requestId": uuid.uuid4().hex,
        "routeKey": route,
        "stage": "$default",
        "time": datetime.fromtimestamp(now, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(now * 1000),
    }


def _as_text(content_type: str | None, body: bytes) -> str | None:
    """Return the body as text; None if the gateway would encode it as binary."""
    kind = (content_type or "text/plain").split(";", 1)[0].strip().lower()
    if not (kind.startswith("text/") or kind in _TEXT_TYPES or kind.endswith(("+json", "+xml"))):
        return None
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return None


def identity_of(sources: Iterable[str], event: Mapping[str, JsonValue]) -> list[str] | None:
    """Return the values of the identity sources; None if one is missing.

    Raises:
        ValueError: the form of a source is not supported.
    """
    values: list[str] = []
    for source in sources:
        _, kind, *rest = source.split(".", 2)
        match kind, rest:
            case "header", [name]:
                place, key = event.get("headers"), name.lower()
            case "querystring", [key]:
                place = event.get("queryStringParameters")
            case "identity", ["sourceIp" as key]:
                context = event.get("requestContext")
                place = context.get("http") if isinstance(context, dict) else None
            case _:
                raise ValueError(f"the identity source {source} is not supported")
        value = place.get(key) if isinstance(place, dict) else None
        if not isinstance(value, str) or not value:
            return None
        values.append(value)
    return values
