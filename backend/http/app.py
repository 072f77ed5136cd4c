"""The Lambda handler of a domain: Powertools' resolver over a slice's router.

For each request: identify the caller, check tier 1, run the endpoint, translate errors.
"""

import base64
import re
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast
from urllib.parse import parse_qsl

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.shared.cookies import Cookie as SentCookie
from aws_lambda_powertools.shared.cookies import SameSite
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from backend.core.authorization import Authorization
from backend.core.deadlines import Deadline
from backend.core.denials import Denials, RouteDeniedError, Watch
from backend.core.errors import (
    InvalidInputError,
    NotFoundError,
    PermissionDeniedError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    VitrineError,
)
from backend.core.identity import ANONYMOUS, OUTAGE_MARK, Identity
from backend.core.page_tokens import PageTokens
from backend.core.paging import bytes_in_reply
from backend.core.reads import CurrentRequest, Read, Reads
from backend.http.call import Call
from backend.http.errors import HEADERS, error_response, log_outage, unexpected_response
from backend.http.packing import MAX_REPLY_BYTES, packed, text_of
from backend.http.router import Binding, Content, Reply, Router
from backend.spec.metrics import DENIALS_NOT_ENTERED
from backend.spec.routes import Route

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
_logger = Logger()


@dataclass(eq=False, repr=False)
class HttpApp:
    """The functions of one domain behind API Gateway's HTTP API (payload format 2.0).

    `watch` observes the permission port, `request` holds the id of the current request, `denials`
    records refusals and `reads` records what callers receive. `deadline` ends a request with a
    reply before its function is ended.
    """

    authorization: Authorization
    tokens: PageTokens
    watch: Watch
    denials: Denials
    request: CurrentRequest
    reads: Reads
    deadline: Deadline = field(default_factory=Deadline)
    is_proven: Callable[[Mapping[str, str]], bool] | None = None
    """Whether headers prove that a request came through the page. None: it need not."""

    def handler(self, router: Router) -> Handler:
        """Return the Lambda handler that serves the router's routes."""
        resolver = APIGatewayHttpResolver()
        for binding in router.bindings.values():
            self._add(resolver, binding)

        def unknown_route(_: Exception) -> Response[str]:
            error = NotFoundError("There is no route with this path and method")
            return error_response(error, resolver.current_event.request_context.request_id)

        resolver.not_found(unknown_route)

        @_logger.inject_lambda_context(clear_state=True)
        def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
            self.deadline.begin(context.get_remaining_time_in_millis() / 1000)
            try:
                # API Gateway has matched the route. The path in the event is decoded and ends at
                # a `?`, so it cannot be matched again.
                _, _, path = event["routeKey"].partition(" ")
                return resolver.resolve({**event, "rawPath": path}, context)
            finally:
                # A process also serves other events, which have no deadline.
                self.deadline.begin(None)

        return cast("Handler", handle)

    def _add(self, resolver: APIGatewayHttpResolver, binding: Binding) -> None:
        def serve(**_: str) -> Response[str]:
            return self._serve(binding, resolver.current_event)

        for path in (binding.route.path, *binding.route.aliases):
            # Powertools takes a regular expression.
            resolver.route(re.escape(path), method=[binding.route.method])(serve)

    def _serve(self, binding: Binding, event: APIGatewayProxyEventV2) -> Response[str]:
        request_id = event.request_context.request_id
        # Of the last request: a process serves many, one after the other.
        self.watch.refused, self.request.id = None, request_id
        call: Call | None = None
        try:
            call = self._call(binding.route, event)
            self._check_route(call)
            _check_once(binding, event)
            reply = binding.run(call, event.body, is_base64=bool(event.is_base64_encoded))
            text = "" if isinstance(reply, Content) else _text_of(reply)
            if reply.read is not None:
                # After the reply is built, because only then is known what it discloses; before it
                # is returned.
                text = self._record_reads(call, request_id, reply, reply.read, text)
        except VitrineError as error:
            if call is not None:
                self._record_denial(call, error)
            empty = binding.route.empty_not_found
            return error_response(error, request_id, empty_not_found=empty)
        except Exception as error:  # noqa: BLE001 - the outer edge: a bug becomes a 500, logged
            return unexpected_response(error, request_id)
        if isinstance(reply, Content):
            return _content_response(reply)
        headers = {**HEADERS, **reply.headers}
        gzipped = packed(text, event.headers) if reply.compressible else None
        if gzipped is not None:
            response = Response(
                status_code=reply.status,
                content_type="application/json",
                body=gzipped,
                headers={**headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
            )
            response.base64_encoded = True
            return response
        cookies = [
            SentCookie(
                cookie.name,
                cookie.value,
                path="/",
                secure=True,
                http_only=True,
                max_age=cookie.seconds,
                same_site=SameSite.STRICT_MODE,
            )
            for cookie in (reply.cookie,)
            if cookie is not None
        ]
        return Response(
            status_code=reply.status,
            content_type="application/json",
            body=text,
            headers=headers,
            cookies=cookies,
        )

    def _call(self, route: Route, event: APIGatewayProxyEventV2) -> Call:
        if self.is_proven is not None and not self.is_proven(event.headers):
            raise PermissionDeniedError("The API is used through the address of its page")
        return Call(
            route=route,
            caller=_caller(route, event),
            path=event.path_parameters,
            query=event.query_string_parameters,
            headers=event.headers,
            tokens=self.tokens,
            enter=self.part,
        )

    @contextmanager
    def part(self, call: Call, used: tuple[Route, ...]) -> Generator[None]:
        """Check and record a part of a request as a request to each of the routes."""
        part = call
        self.watch.refused = None
        try:
            for route in used:
                part = replace(call, route=route)
                self._check_route(part)
            yield
        except VitrineError as error:
            self._record_denial(part, error)
            log_outage(error)
            raise

    def _check_route(self, call: Call) -> None:
        def may_use(route: Route) -> bool:
            return self.authorization.may_use(call.caller, route, call.path)

        others = call.route.also_one_of
        allowed = call.route.open_to_users or may_use(call.route)
        if not allowed or (others and not any(map(may_use, others))):
            raise RouteDeniedError

    def _record_reads(
        self, call: Call, request_id: str, reply: Reply[Any] | Content, read: Read, text: str
    ) -> str:
        """Record what a reply returns, and return its text, without that if it has such a text.

        Raises:
            UnavailableError: the read cannot be recorded, so the request is refused.
        """
        try:
            self.reads.record(call.caller, call.route.name, request_id, read)
        except UnavailableError:
            if isinstance(reply, Content) or reply.unrecorded is None:
                raise
            return _text_of(replace(reply, body=reply.unrecorded))
        return text

    def _record_denial(self, call: Call, error: VitrineError) -> None:
        """Record a refusal. An error here does not affect the reply."""
        denial = self.watch.denial(call.caller, call.route, call.path, error)
        if denial is None:
            return
        try:
            self.denials.record(denial)
        except Exception as bug:  # noqa: BLE001 - the outer edge: the answer is known already
            _lost(bug)


def _check_once(binding: Binding, event: APIGatewayProxyEventV2) -> None:
    """Require that each query parameter of the route is sent at most once.

    Raises:
        InvalidInputError: the message names the parameter.
    """
    model = binding.models.get("query")
    if model is None or "&" not in event.raw_query_string:
        return
    # From the raw query: the gateway joins the values of a repeated parameter with commas.
    sent = Counter(name for name, _ in parse_qsl(event.raw_query_string, keep_blank_values=True))
    for name, parameter in model.model_fields.items():
        times = sent[parameter.alias or name]
        if times > 1:
            raise InvalidInputError.of(
                parameter.alias or name, f"is sent {times} times: send it once"
            )


def _lost(bug: Exception) -> None:
    """Count a refusal that a bug keeps out of the audit log."""
    from backend.http.metrics import count  # noqa: PLC0415 - few runs count anything

    _logger.error("a refused request was not recorded in the audit log", exc_info=bug)
    count(DENIALS_NOT_ENTERED)


def _text_of(reply: Reply[Any]) -> str:
    """Return the text of a reply, if a function can send it: as a text within JSON.

    Raises:
        TooLargeError: the reply is too large.
    """
    text = text_of(reply.body)
    if reply.bounded_by is not None:
        size = bytes_in_reply(text)
        if size > MAX_REPLY_BYTES:
            fact = f"results in a reply of {size} bytes; at most {MAX_REPLY_BYTES} are allowed"
            raise TooLargeError.of(
                reply.bounded_by, f"{fact}; request a smaller page or fewer items"
            )
    return text


def _content_response(content: Content) -> Response[str]:
    """Return bytes as base64, whatever their type."""
    response = Response(
        status_code=content.status,
        # Also of text types, which Powertools would send as text.
        body=base64.b64encode(content.body).decode(),
        headers=dict(content.headers),
    )
    # An empty body needs no decoding by the gateway.
    response.base64_encoded = bool(content.body)
    return response


def _caller(route: Route, event: APIGatewayProxyEventV2) -> Identity:
    """Return the identity that the authorizer determined; required unless the route is public."""
    if route.public:
        return ANONYMOUS
    authorizer = cast("dict[str, Any]", event.raw_event["requestContext"].get("authorizer") or {})
    context = cast("dict[str, Any]", authorizer.get("lambda") or {})
    # Before the identity: the authorizer could not determine one (decision 32).
    if OUTAGE_MARK in context:
        raise UnavailableError("Authentication is temporarily not possible; try again")
    user_id = context.get("userId")
    if not isinstance(user_id, str) or not user_id:
        raise UnauthenticatedError("The request is not authenticated")
    email, api_key_id = context.get("email"), context.get("apiKeyId")
    subject, auth_time = context.get("subject"), context.get("authTime")
    return Identity(
        user_id,
        mfa=context.get("mfa") == "true",
        email=email if isinstance(email, str) and email else None,
        api_key_id=api_key_id if isinstance(api_key_id, str) and api_key_id else None,
        subject=subject if isinstance(subject, str) and subject else None,
        auth_time=int(auth_time) if isinstance(auth_time, str) and auth_time else None,
        in_pool=context.get("inPool") == "true",
    )
