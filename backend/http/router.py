"""Binds one typed function to each declared route.

An endpoint has the parameter `call`, and those of `body`, `query` and `path` that it needs, each
annotated with a model. It returns a model, a `Reply` to set headers or the status, or `Content` if
the reply is not JSON.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel

from backend.core.errors import InvalidInputError
from backend.core.models import OptionalBody, WireModel
from backend.core.reads import Read
from backend.http.bodies import field_names, parse_json, unknown_fields, validate
from backend.http.call import Call
from backend.http.sync_tokens import Exchange, sync_header
from backend.spec.metrics import FIELDS_IGNORED
from backend.spec.routes import NARROWING_FORMS, Route, form_of
from backend.values import frozen

Endpoint = Callable[..., "BaseModel | Reply[Any] | Content"]
E = TypeVar("E", bound=Endpoint)
B = TypeVar("B", bound=BaseModel)
_FIRST_ERROR = 400
IGNORED_HEADER = "X-Ignored-Fields"
_UNSAFE = re.compile(r"[^!-+\--~]")
_EVERYTHING: tuple[object, ...] = (None, "", [], {}, "GLOBAL", "global", "all")
_MAX_NAMED = 20  # ignored fields that a reply lists


class Cookie(NamedTuple):
    """A cookie that no script can read, for requests of the same site only."""

    name: str
    value: str
    seconds: int
    """Its maximum age; 0 removes it."""


@frozen
class Reply(Generic[B]):
    """A reply with more than a body: headers such as an ETag, or a status other than 200.

    A `compressible` reply is sent as gzip if it is large and the client accepts gzip. `bounded_by`
    is the request field with which a client can request less, if the reply is larger than a
    function can send. `changed` is not sent: it identifies the changed objects, if neither the
    request nor the body does. `read` is the entry for the audit log of reads; if it cannot be
    recorded, the body `unrecorded` is sent instead, or the request is refused if there is none.
    """

    body: B
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    status: int = 200
    compressible: bool = False
    bounded_by: str | None = None
    changed: BaseModel | None = None
    read: Read | None = None
    unrecorded: B | None = None
    cookie: Cookie | None = None


@frozen
class Content:
    """A reply that is not JSON: bytes of a file, or only headers, including `Cache-Control`.

    `read` is the entry for the audit log of reads.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    read: Read | None = None


@frozen
class Binding:
    """A route's function, with the models of its parameters and of its reply.

    `redirect` is the model of a 303 reply, if the route has one.
    """

    route: Route
    endpoint: Endpoint
    models: Mapping[str, type[BaseModel]]
    reply: type[BaseModel] | None
    redirect: type[BaseModel] | None = None

    def run(self, call: Call, text: str | None, *, is_base64: bool) -> Reply[Any] | Content:
        """Parse the endpoint's arguments, call it, and complete its reply."""
        arguments: dict[str, BaseModel] = {}
        headers: dict[str, str] = {}
        for name, value in unknown_fields(self.models.get("query", WireModel), call.query):
            self.check_narrowing(call, name, value)
        if "path" in self.models:
            arguments["path"] = self._sent("path", call.path)
        if "query" in self.models:
            arguments["query"] = self._sent("query", call.query)
        if "body" in self.models:
            values = self._values(text, is_base64)
            ignored = self._unknown(call, values)
            if ignored:
                headers[IGNORED_HEADER] = ",".join(ignored)
                from backend.http.metrics import count  # noqa: PLC0415 - few runs count anything

                count(FIELDS_IGNORED)
            arguments["body"] = validate(self.models["body"], values, strict=True)
        answer = self.endpoint(call=call, **arguments)
        if isinstance(answer, Content):
            return answer
        reply = answer if isinstance(answer, Reply) else Reply(answer)
        # no part of the request succeeded, so no document was changed
        if reply.status >= _FIRST_ERROR:
            return reply
        if self.route.writes_documents:
            headers |= sync_header(Exchange(call, arguments.get("body"), reply.body, reply.changed))
        return replace(reply, headers={**headers, **reply.headers})

    def _sent(self, place: str, values: Mapping[str, str]) -> BaseModel:
        return validate(self.models[place], values, strict=False, place=place)

    def _values(self, text: str | None, is_base64: bool) -> dict[str, Any]:
        if text is None or not text.strip():
            model = self.models["body"]
            if issubclass(model, OptionalBody):
                return {}
            try:
                validate(model, {}, strict=True)
            except InvalidInputError as error:
                fact = f"is required: a JSON object is expected ({error})"
                raise InvalidInputError.of("body", fact) from None
            raise InvalidInputError.of("body", "is required: a JSON object is expected")
        return parse_json(text, is_base64=is_base64)

    def _unknown(self, call: Call, values: Mapping[str, Any]) -> tuple[str, ...]:
        fields = list(unknown_fields(self.models["body"], values))
        for name, value in fields:
            self.check_narrowing(call, name, value)
        unknown = tuple(name for name, _ in fields[:_MAX_NAMED])
        if unknown and self.route.ours:
            raise InvalidInputError.of(unknown[0], "is not a field of this request")
        # A header must not contain control or non-ASCII characters; commas separate the names.
        return tuple(_UNSAFE.sub("?", name[:64]) for name in unknown)

    def check_narrowing(self, call: Call, place: str, value: object) -> None:
        """Refuse a field that would narrow what is read, unless its value changes nothing."""
        # `database.id`, `databaseId.keyword` and `filter[databaseId]` are forms, too.
        forms = map(form_of, (place.rpartition(".")[2], place, *re.split(r"\W+|__", place)))
        form = next((form for form in forms if form in NARROWING_FORMS), None)
        if form is None or value in _EVERYTHING:
            return
        if self.route.action != "GET":
            models = [model for part, model in self.models.items() if part != "path"]
            if form not in {form_of(name) for model in models for name in field_names(model)}:
                return
        if value not in [sent for name, sent in call.path.items() if form_of(name) == form]:
            fact = "is not supported, and without it the request would concern more than it names"
            raise InvalidInputError.of(place, fact)


@dataclass(eq=False, repr=False)
class Router:
    """The bindings of a slice."""

    bindings: dict[Route, Binding] = field(default_factory=dict[Route, Binding])

    def __or__(self, other: "Router") -> "Router":
        """Return the bindings of both slices, for a function that serves both."""
        return Router({**self.bindings, **other.bindings})

    def bind(self, route: Route) -> Callable[[E], E]:
        """Decorate the one function that serves a route.

        Raises:
            ValueError: the route already has a function.
        """
        if route in self.bindings:
            raise ValueError(f"{route.key} is bound twice")

        def register(endpoint: E) -> E:
            signature = inspect.signature(endpoint, eval_str=True)
            models = {
                name: p.annotation for name, p in signature.parameters.items() if name != "call"
            }
            answer = signature.return_annotation
            answers = get_args(answer) if get_origin(answer) is Union else (answer,)
            self.bindings[route] = Binding(route, endpoint, models, *map(_model_of, answers))
            return endpoint

        return register


def _model_of(answer: Any) -> type[BaseModel] | None:
    """Return the model in an endpoint's annotation; None if it returns `Content`."""
    if answer is Content:
        return None
    return cast("type[BaseModel]", get_args(answer)[0] if get_args(answer) else answer)
