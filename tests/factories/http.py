"""Events of API Gateway's HTTP API and a function's context, as tests send them to handlers."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast
from urllib.parse import urlencode

from jsonschema_rs import Draft202012Validator
from pydantic import BaseModel

from backend.core.authorization import Authorization
from backend.core.denials import Denial, Watch, WatchedAuthorization
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.page_tokens import PageTokens
from backend.core.reads import CurrentRequest, Read
from backend.http.app import HttpApp
from backend.http.headers import of_reply
from backend.http.openapi import statuses_of
from backend.http.router import Binding, Router
from tests.factories.access import OnlyUser
from tests.wording import foreign_words


def problems_of(model: type[BaseModel], body: Any) -> list[str]:
    """Return the places where a reply differs from its schema."""
    errors = _validator(model).iter_errors(body)
    return [f"{error.instance_path}: {error.message[:200]}" for error in errors]


@cache
def _validator(model: type[BaseModel]) -> Draft202012Validator:
    return Draft202012Validator(_closed(model.model_json_schema()))


def _closed(schema: Any) -> Any:
    """Return the schema, in which objects with declared fields have no others."""
    if isinstance(schema, list):
        return [_closed(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    named = {key: _closed(value) for key, value in cast("dict[str, Any]", schema).items()}
    if isinstance(named.get("properties"), dict) and named.get("type") == "object":
        named.setdefault("additionalProperties", False)
    return named


ALWAYS = {
    "Cache-Control",
    "Content-Encoding",
    "Content-Length",
    "Content-Security-Policy",
    "Content-Type",
    "Vary",
    "X-Content-Type-Options",
}
"""Headers of replies that need no entry in the OpenAPI document."""
SUCCESSES = range(200, 300)
REFUSED = 400
BUG = 500
"""The only status that routes do not declare."""


@dataclass
class Context:
    """The attributes of a Lambda context that Powertools reads."""

    function_name: str = "test"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:test"
    aws_request_id: str = "request"

    def get_remaining_time_in_millis(self) -> int:
        return 29_000


@dataclass
class RecordedDenials:
    """Records refusals."""

    recorded: list[Denial] = field(default_factory=list[Denial])

    def record(self, denial: Denial) -> None:
        self.recorded.append(denial)


@dataclass
class RecordedReads:
    """Records reads: user, operation, request id, read."""

    recorded: list[tuple[str, str, str, Read]] = field(
        default_factory=list[tuple[str, str, str, Read]]
    )
    outage: bool = False

    def record(self, caller: Identity, operation: str, request_id: str, read: Read) -> None:
        if self.outage:
            raise UnavailableError("SQS does not answer")
        self.recorded.append((caller.user_id, operation, request_id, read))


@dataclass(frozen=True)
class Response:
    status: int
    body: Any
    headers: dict[str, str]
    cookies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Client:
    """Calls the handler of a router as the gateway does."""

    router: Router
    user_id: str | None = "admin"
    authorization: Authorization = field(default_factory=OnlyUser)
    denials: RecordedDenials = field(default_factory=RecordedDenials)
    reads: RecordedReads = field(default_factory=RecordedReads)
    api_key_id: str | None = None
    """The key that authenticates the requests; None for a token."""
    subject: str | None = None
    """The subject of the token, if the user id has a prefix."""
    proved: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further facts that the authorizer learns from the credential."""

    def send(
        self,
        method: str,
        path: str,
        *,
        route: str | None = None,
        parameters: dict[str, str] | None = None,
        query: dict[str, str] | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Response:
        """Send one request; `path` is as sent, `parameters` are its decoded path parameters.

        Without `route`, the route is the one whose path matches. A text body is sent unchanged, any
        other body as JSON.
        """
        bound = self._bound_to(method, path)
        event = http_event(
            method,
            path,
            user_id=self.user_id,
            api_key_id=self.api_key_id,
            subject=self.subject,
            proved=self.proved,
            parameters=parameters,
            query=query,
            body=body if body is None or isinstance(body, str) else json.dumps(body),
            headers=headers,
            route=route or (bound and bound.route.key),
        )
        return self.send_event(event)

    def pages(
        self,
        path: str,
        *,
        query: dict[str, str] | None = None,
        parameters: dict[str, str] | None = None,
        route: str | None = None,
    ) -> list[Any]:
        """Get all pages of a list; return their bodies."""
        bodies: list[Any] = []
        query = dict(query or {})
        while not bodies or "NextToken" in bodies[-1]:
            page = self.send("GET", path, query=query, parameters=parameters, route=route)
            assert page.status == 200, page.body
            bodies.append(page.body)
            query["startingToken"] = page.body.get("NextToken", "")
        return bodies

    def read_pages(self, path: str, **query: str) -> Iterator[Any]:
        """Yield the bodies of all pages of a list."""
        token: str | None = ""
        while token is not None:
            more = {"startingToken": token} if token else {}
            body = self.send("GET", path, query={**query, **more}).body
            token = body.get("NextToken")
            yield body

    def send_event(self, event: dict[str, Any]) -> Response:
        """One request, as an event of the gateway."""
        watch = Watch()
        app = HttpApp(
            WatchedAuthorization(self.authorization, watch),
            PageTokens(lambda: b"key"),
            watch=watch,
            denials=self.denials,
            request=CurrentRequest(),
            reads=self.reads,
        )
        reply = app.handler(self.router)(event, Context())
        answer = Response(
            reply["statusCode"],
            body_of(reply),
            dict(reply.get("headers") or {}),
            tuple(reply.get("cookies") or ()),
        )
        for route, binding in self.router.bindings.items():
            if route.key == event["routeKey"]:
                check_reply(binding, answer)
        return answer

    def _bound_to(self, method: str, path: str) -> Binding | None:
        """Return the most specific of the routes that match a path; None if there is none."""
        bindings = [
            binding
            for route, binding in self.router.bindings.items()
            if route.method == method and re.fullmatch(_pattern(route.path), path, re.DOTALL)
        ]
        return min(bindings, key=lambda binding: binding.route.path.count("{"), default=None)


def operation_reply(message: str, operation: str, **named: object) -> dict[str, object]:
    """Return the body of a reply to a change, at noon of the tests' day."""
    at = {"operation": operation, "timestamp": "2026-03-01T12:00:00.000000Z"}
    return {"success": True, "message": message, **named, **at}


def check_reply(binding: Binding, answer: Response) -> None:
    """Assert that the OpenAPI document declares the status, headers and fields of a reply."""
    if answer.status == BUG:
        return
    assert answer.status in statuses_of(binding), (answer.status, answer.body)
    if answer.status == REFUSED:
        assert foreign_words(answer.body["message"]) == [], answer.body
    named = answer.headers.keys() - ALWAYS
    assert named <= of_reply(binding, answer.status).keys(), named
    is_json = answer.status in SUCCESSES and not isinstance(answer.body, bytes)
    if binding.reply is not None and is_json:
        assert problems_of(binding.reply, answer.body) == []


def _pattern(path: str) -> str:
    return re.sub(r"{[^}]+}", "[^/]+", re.sub(r"{[^}]+\+}", ".+", path))


def body_of(reply: dict[str, Any]) -> Any:
    """Return the body of a reply: bytes, the parsed JSON, or None."""
    if reply.get("isBase64Encoded"):
        return base64.b64decode(reply["body"])
    return json.loads(reply.get("body") or "null")


def http_event(
    method: str,
    path: str,
    *,
    user_id: str | None,
    api_key_id: str | None = None,
    subject: str | None = None,
    proved: Mapping[str, str] | None = None,
    parameters: dict[str, str] | None = None,
    query: dict[str, str] | None = None,
    body: str | None = None,
    headers: dict[str, str] | None = None,
    route: str | None = None,
) -> dict[str, Any]:
    """An event in payload format 2.0, after the authorizer."""
    return {
        "version": "2.0",
        "routeKey": route or f"{method} {path}",
        "rawPath": path,
        "rawQueryString": urlencode(query or {}),
        "headers": {"content-type": "application/json", **(headers or {})},
        "queryStringParameters": query or {},
        "pathParameters": parameters or {},
        "requestContext": _request_context(
            method,
            path,
            route=route,
            user_id=user_id,
            proved={"apiKeyId": api_key_id, "subject": subject, **(proved or {})},
        ),
        "body": body,
        "isBase64Encoded": False,
    }


def _request_context(
    method: str,
    path: str,
    *,
    route: str | None,
    user_id: str | None,
    proved: Mapping[str, str | None],
) -> dict[str, Any]:
    """The gateway's description of the request, with the authorizer's of its caller."""
    known = {name: value for name, value in proved.items() if value is not None}
    authorizer = {"lambda": {"userId": user_id, **known}} if user_id is not None else {}
    return {
        "accountId": "123456789012",
        "apiId": "api",
        "authorizer": authorizer,
        "domainName": "localhost",
        "domainPrefix": "localhost",
        "http": {
            "method": method,
            "path": path,
            "protocol": "HTTP/1.1",
            "sourceIp": "127.0.0.1",
            "userAgent": "test",
        },
        "requestId": "request-1",
        "routeKey": route or f"{method} {path}",
        "stage": "$default",
        "time": "01/Mar/2026:12:00:00 +0000",
        "timeEpoch": 1772366400000,
    }
