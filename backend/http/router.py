"""Binds one typed function to each declared route.

An endpoint's parameters say what it needs, by name: `call` (always), `body`, `query`, `path`, each
annotated with a model. It answers with a model, with a `Reply` to set headers or the status, or
with `Content` where the answer is no JSON.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from itertools import islice
from typing import Any, Generic, TypeVar, cast, get_args

from pydantic import BaseModel

from backend.core.errors import InvalidInputError
from backend.core.models import OptionalBody
from backend.core.reads import Read
from backend.core.wired import wired
from backend.http.bodies import parse_json, unknown_fields, validate
from backend.http.call import Call
from backend.http.sync_tokens import Exchange, sync_header
from backend.spec.metrics import FIELDS_IGNORED
from backend.spec.routes import Route
from backend.values import frozen

Endpoint = Callable[..., "BaseModel | Reply[Any] | Content"]
E = TypeVar("E", bound=Endpoint)
B = TypeVar("B", bound=BaseModel)
_FIRST_ERROR = 400
IGNORED_HEADER = "X-Ignored-Fields"
_UNTOLD = re.compile(r"[^!-+\--~]")
_MAX_NAMED = 20  # of the fields that a request is told to be ignored


@frozen
class Reply(Generic[B]):
    """A reply with more than a body: headers such as an ETag, another status than 200.

    One that is `compressible` goes as gzip where it is large and the client takes that. One that
    is `bounded_by` a field of its request may be larger than a function can send; the field is
    what a client then asks for less by. `told` is not sent: it names what the request has changed,
    where neither it nor the body does. `read` is what the caller is given, for the audit trail.
    """

    body: B
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    status: int = 200
    compressible: bool = False
    bounded_by: str | None = None
    told: BaseModel | None = None
    read: Read | None = None


@frozen
class Content:
    """An answer that is no JSON: bytes of a file, or headers alone. It says how long it is kept.

    `read` is what the caller is given, for the audit trail.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    read: Read | None = None


@frozen
class Binding:
    """A route's function, and the models that it annotates: of its parameters, of its reply."""

    route: Route
    endpoint: Endpoint
    models: Mapping[str, type[BaseModel]]
    reply: type[BaseModel] | None

    def run(self, call: Call, text: str | None, *, is_base64: bool) -> Reply[Any] | Content:
        """Parse what the endpoint wants, run it, and complete its reply."""
        arguments: dict[str, BaseModel] = {}
        headers: dict[str, str] = {}
        if "path" in self.models:
            arguments["path"] = self._sent("path", call.path)
        if "query" in self.models:
            arguments["query"] = self._sent("query", call.query)
        if "body" in self.models:
            values = self._values(text, is_base64)
            ignored = self._unknown(values)
            if ignored:
                headers[IGNORED_HEADER] = ",".join(ignored)
                _count_ignored()
            arguments["body"] = validate(self.models["body"], values, strict=True)
        answer = self.endpoint(call=call, **arguments)
        if isinstance(answer, Content):
            return answer
        reply = answer if isinstance(answer, Reply) else Reply(answer)
        if reply.status >= _FIRST_ERROR:  # all that was asked for failed: there is nothing to tell
            return reply
        if self.route.touches:
            headers |= sync_header(Exchange(call, arguments.get("body"), reply.body, reply.told))
        return replace(reply, headers={**headers, **reply.headers})

    def _sent(self, place: str, values: Mapping[str, str]) -> BaseModel:
        return validate(self.models[place], values, strict=False, place=place)

    def _values(self, text: str | None, is_base64: bool) -> dict[str, Any]:
        if text is None or not text.strip():
            return self._without_body()
        return parse_json(text, is_base64=is_base64)

    def _without_body(self) -> dict[str, Any]:
        """Return the values of a missing body, if it may be missing."""
        model = self.models["body"]
        if issubclass(model, OptionalBody):
            return {}
        try:
            validate(model, {}, strict=True)
        except InvalidInputError as error:
            fact = f"is required: a JSON object is expected ({error})"
            raise InvalidInputError.of("body", fact) from None
        raise InvalidInputError.of("body", "is required: a JSON object is expected")

    def _unknown(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        found = unknown_fields(self.models["body"], values)
        unknown = tuple(islice(found, _MAX_NAMED))
        if unknown and self.route.ours:
            raise InvalidInputError.of(unknown[0], "is not a field of this request")
        # A header holds no control characters and no text beyond ASCII; a comma parts the names.
        return tuple(_UNTOLD.sub("?", name[:64]) for name in unknown)


@wired
class Router:
    """The bindings of a slice."""

    bindings: dict[Route, Binding] = field(default_factory=dict[Route, Binding])

    def bind(self, route: Route) -> Callable[[E], E]:
        """Decorate the one function that serves a route.

        Raises:
            ValueError: the route has a function already.
        """
        if route in self.bindings:
            raise ValueError(f"{route.key} is bound twice")

        def register(endpoint: E) -> E:
            signature = inspect.signature(endpoint, eval_str=True)
            models = {
                name: p.annotation for name, p in signature.parameters.items() if name != "call"
            }
            reply = _model_of(signature.return_annotation)
            self.bindings[route] = Binding(route, endpoint, models, reply)
            return endpoint

        return register


def _count_ignored() -> None:
    from backend.http.counting import count  # noqa: PLC0415 - few runs count anything

    count(FIELDS_IGNORED)


def _model_of(answer: Any) -> type[BaseModel] | None:
    """The model in an endpoint's annotated answer; None where it answers with content."""
    if answer is Content:
        return None
    return cast("type[BaseModel]", get_args(answer)[0] if get_args(answer) else answer)
