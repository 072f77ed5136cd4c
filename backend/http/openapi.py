"""The OpenAPI 3.1 document of the API: from the declared routes and the models of their endpoints.

Rules that a schema cannot express (a function checks them) appear only in the replies to requests
that break them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from backend.core.models import OptionalBody
from backend.core.sync_tokens import AFTER_HEADER
from backend.http import headers
from backend.http.router import Binding
from backend.spec.examples import EXAMPLES, PARAMETERS, REPLIES
from backend.spec.routes import ROUTES, Route
from backend.spec.versions import CONTRACT_VERSION, LATER_VERSION, PRODUCT_VERSION

Json = dict[str, Any]

_REFERENCE = "#/components/schemas/"
_REASONS = {
    200: "Success",
    202: "The indexes do not contain the write named in `X-After` yet; repeat the request",
    206: "The requested byte range",
    304: "Not modified",
    303: "The reply is large, and stored at the URL in `Location`: GET it without credentials",
    307: "The content is at the URL in `Location`",
    400: "The request is invalid; the message names the field and the problem",
    401: "Authentication is missing or invalid",
    403: "The caller is not allowed to do this",
    404: "Not found, or not visible to the caller",
    409: "The current state of the resource does not allow the operation",
    410: (
        "No longer available: the file version is archived, or the search cursor has expired "
        "or was closed"
    ),
    412: "The resource was changed after the version named in `If-Match`",
    413: "The request or the result exceeds a size limit",
    416: "The content has no bytes in the requested range",
    429: "Too many requests",
    503: "A required service is unavailable; the request can be repeated",
}
_OF_GATEWAY = """\
API Gateway itself replies to some requests, with only a `message`, without `code` and `requestId`:

| Status | Reason | Was the request carried out? |
|---|---|---|
| 401, 403 | the header is missing, or the credentials are not accepted | no |
| 404 | no route has this method and path | no |
| 413, 429 | the request is too large, or there are too many | no |
| 500 | the function failed, or was ended after 29 seconds | perhaps |
| 503 | no function was free, or the reply took longer than 30 seconds | perhaps |

Repeat a request that creates something after one of the last two only when you have seen that it \
was not carried out. The same applies to the code `OutcomeUnknown` of requests that took too \
long."""
_DONE, _STORED, _FIRST_ERROR, _ABSENT = 200, 303, 400, 404
_PAGE_SIZE = "pageSize"
_IN_PATH = re.compile(r"{([\w:]+)\+?}")
_PLAIN: Json = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "object": {}}
_KEY: Json = {
    "type": "apiKey",
    "in": "header",
    "name": "Authorization",
    "description": (
        "`vams_<key>` for an API key, or `Bearer` followed by an API key or an access token"
    ),
}
_ERROR: Json = {
    "type": "object",
    "required": ["message"],
    "properties": {
        "message": {"type": "string"},
        "code": {
            "type": "string",
            "description": ("Stable error code; all codes are listed in docs/reference/errors.md"),
        },
        "requestId": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
_EMPTY_NOT_FOUND: Json = {
    "type": "object",
    "required": ["message"],
    "properties": {
        "message": {"type": "object", "maxProperties": 0},
        "reason": {
            "type": "string",
            "description": ("The text that other error replies have as `message`"),
        },
        **{name: _ERROR["properties"][name] for name in ("code", "requestId")},
    },
}


def document(bindings: Iterable[Binding]) -> Json:
    """Return the document of these routes."""
    ordered = sorted(bindings, key=lambda binding: (binding.route.path, binding.route.method))
    schemas = _Schemas(ordered)
    paths: dict[str, Json] = {}
    for binding in ordered:
        operations = paths.setdefault(document_path(binding.route), {})
        route = binding.route
        operation: Json = {
            "operationId": route.name,
            "summary": route.summary,
            "tags": [route.domain],
            "parameters": [*_parameters(binding, schemas)],
            "responses": {
                str(status): response for status, response in _responses(binding, schemas)
            },
        }
        if "body" in binding.models:
            model = binding.models["body"]
            content = {"schema": schemas.reference(model), "example": schemas.example(model)}
            operation["requestBody"] = {
                "required": not issubclass(model, OptionalBody),
                "content": {"application/json": content},
            }
        if route.public:
            operation["security"] = []
        if not route.ours:
            also = "".join(f" Also at `{path}`." for path in route.aliases)
            version = LATER_VERSION if route.later else CONTRACT_VERSION
            operation["description"] = f"As in VAMS {version}.{also}"
        operations[binding.route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Vitrine",
            "version": PRODUCT_VERSION,
            "summary": f"Visual asset management API, compatible with VAMS {CONTRACT_VERSION}",
            "description": _OF_GATEWAY,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The deployment that serves this document"}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {"securitySchemes": {"key": _KEY}, "schemas": schemas.named()},
    }


def document_path(route: Route) -> str:
    """Return the path as OpenAPI writes it.

    Routes that differ only in the names of parameters are one path.
    """
    # Tools take a colon in the name of a parameter for a format.
    names = _shown_names(route)
    return _IN_PATH.sub(lambda match: f"{{{names[match[1]]}}}", route.path)


def _shown_names(route: Route) -> dict[str, str]:
    """Return the parameter names of a path in the document, by their declared names."""
    shown = _names_by_shape()[_shape(route)]
    own = _IN_PATH.findall(route.path)
    return {name: shown_name.replace(":", "_") for name, shown_name in zip(own, shown, strict=True)}


@cache
def _names_by_shape() -> dict[str, tuple[str, ...]]:
    """Return the names of the first route of each shape, in the order of paths and methods."""
    names: dict[str, tuple[str, ...]] = {}
    for route in sorted(ROUTES, key=lambda listed: (listed.path, listed.method)):
        names.setdefault(_shape(route), tuple(_IN_PATH.findall(route.path)))
    return names


def _shape(route: Route) -> str:
    return _IN_PATH.sub("{}", route.path)


class _Generator(GenerateJsonSchema):
    """Generates schemas without titles, which only repeat the names."""

    def field_title_should_be_set(self, schema: object) -> bool:
        del schema
        return False


class _Schemas:
    """The schemas of all models that the bindings use, including nested models."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        models = {
            model
            for binding in bindings
            for model in (*binding.models.values(), binding.reply, binding.redirect)
            if model is not None
        }
        listed = sorted(models, key=lambda model: (model.__module__, model.__qualname__))
        references, definitions = models_json_schema(
            [(model, "validation") for model in listed],
            ref_template=_REFERENCE + "{model}",
            schema_generator=_Generator,
        )
        self._references = {model: schema for (model, _), schema in references.items()}
        self._definitions: dict[str, Json] = definitions["$defs"]
        self._used: dict[str, Json] = {"Error": _ERROR, "NotFound": _EMPTY_NOT_FOUND}
        for schema in self._definitions.values():
            schema.pop("title", None)
            for field, described in schema.get("properties", {}).items():
                _add_example(field, described)

    def reference(self, model: type[BaseModel]) -> Json:
        """Return a reference to a model's schema, and add the schema to the components."""
        self._use(self._references[model])
        return self._references[model]

    def fields(self, model: type[BaseModel]) -> Iterator[tuple[str, Json, bool]]:
        """Return each field's name, schema, and whether it is required."""
        schema = self._resolve(self._references[model])
        for name, field in schema.get("properties", {}).items():
            self._use(field)
            # A query field is omitted, but never null.
            choices = [choice for choice in field.get("anyOf", ()) if choice.get("type") != "null"]
            if len(choices) == 1:
                rest = {k: value for k, value in field.items() if k not in {"anyOf", "default"}}
                shown = {**choices[0], **rest}
            else:
                shown = field
            yield name, shown, name in schema.get("required", ())

    def example(self, model: type[BaseModel]) -> object:
        """Return an example of a model: every required field, and those that have examples."""
        return self._example(self._references[model], {})

    def example_of_reply(self, model: type[BaseModel]) -> object:
        """Return an example of a reply, including fields that only replies have."""
        return self._example(self._references[model], {**PARAMETERS, **REPLIES})

    def named(self) -> dict[str, Json]:
        """Return the components."""
        return dict(sorted(self._used.items()))

    def _resolve(self, schema: Json) -> Json:
        reference = schema.get("$ref")
        return schema if reference is None else self._definitions[_name_in(reference)]

    def _use(self, schema: object) -> None:
        for reference in _references(schema):
            name = _name_in(reference)
            if name not in self._used:
                self._used[name] = self._definitions[name]
                self._use(self._definitions[name])

    def _example(self, schema: Json, examples: Mapping[str, object]) -> object:
        example = _example_in(schema)
        if example is not None:
            return example
        if "anyOf" in schema:
            return self._example(schema["anyOf"][0], examples)
        whole = self._resolve(schema)
        if whole.get("type") == "array":
            return [self._example(whole["items"], examples)]
        if "properties" in whole and "examples" not in whole:
            required = whole.get("required", ())
            fields: Json = whole["properties"]
            return {
                name: examples[name]
                if name in examples and field.get("type") == "string" and _example_in(field) is None
                else self._example(field, examples)
                for name, field in fields.items()
                if name in required or name in EXAMPLES
            }
        if isinstance(whole.get("additionalProperties"), dict) and "examples" not in whole:
            return {}
        return _example_in(whole) or _PLAIN.get(whole.get("type", "string"))


def _parameters(binding: Binding, schemas: _Schemas) -> Iterator[Json]:
    names = _shown_names(binding.route)
    for place, model in binding.models.items():
        if place in {"path", "query"}:
            for name, schema, required in schemas.fields(model):
                if required or name == _PAGE_SIZE:
                    _add_example(name, schema, PARAMETERS)
                shown = names[name] if place == "path" else name
                yield {"name": shown, "in": place, "required": required, "schema": schema}
    awaited = (AFTER_HEADER,) if binding.route.awaits else ()
    for name in (*binding.route.reads, *awaited):
        about = _header(headers.OF_REQUESTS[name])
        yield {"name": name, "in": "header", "required": False, **about}


def _responses(binding: Binding, schemas: _Schemas) -> Iterator[tuple[int, Json]]:
    route = binding.route
    for status in sorted(statuses_of(binding)):
        answer: Json = {"description": _REASONS[status]}
        reply_headers = headers.of_reply(binding, status)
        if reply_headers:
            answer["headers"] = {name: _header(text) for name, text in reply_headers.items()}
        if status >= _FIRST_ERROR and route.method != "HEAD":
            name = "NotFound" if status == _ABSENT and route.empty_not_found else "Error"
            answer["content"] = {"application/json": {"schema": {"$ref": _REFERENCE + name}}}
        elif status == _STORED and binding.redirect is not None:
            stored = {"schema": schemas.reference(binding.redirect)}
            answer["content"] = {"application/json": stored}
        elif binding.reply is not None:
            content: Json = {"schema": schemas.reference(binding.reply)}
            if status == _DONE:
                content["example"] = schemas.example_of_reply(binding.reply)
            answer["content"] = {"application/json": content}
        yield status, answer


def _header(description: str) -> Json:
    return {"description": description, "schema": {"type": "string"}}


def statuses_of(binding: Binding) -> frozenset[int]:
    """Return the statuses that a route's replies may have."""
    return frozenset(binding.route.statuses).union(_usual_statuses(binding))


def _usual_statuses(binding: Binding) -> Iterator[int]:
    route = binding.route
    yield from (200, 429, 503)
    if not route.public:
        yield from (401, 403)
    if binding.models or route.action == "GET":
        yield 400
    if "path" in binding.models or "{" in route.path:
        yield 404
    if "body" in binding.models:
        yield from (404, 413)
    if route.method not in {"GET", "HEAD"}:
        yield from (409, 412)


def _example_in(schema: Json) -> object:
    """Return the example in a schema itself."""
    named = [*schema.get("examples", ()), *schema.get("enum", ())]
    return next(iter(named), schema.get("const", schema.get("default")))


def _add_example(name: str, schema: Json, examples: Mapping[str, object] = EXAMPLES) -> None:
    if name in examples:
        choices = (schema, *schema.get("anyOf", ()))
        if any("$ref" in choice.get("items", {}) for choice in choices):
            return  # the example is for a list of texts, not of objects
        kinds = {choice.get("type") for choice in choices}
        value = examples[name]
        schema["examples"] = [[value] if "array" in kinds else value]


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for name, value in cast("Mapping[str, object]", schema).items():
            if name == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from _references(value)
    elif isinstance(schema, list):
        for element in cast("list[object]", schema):
            yield from _references(element)


def _name_in(reference: str) -> str:
    return reference.removeprefix(_REFERENCE)
