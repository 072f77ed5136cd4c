"""The command that sends a request to any route."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx
import typer
from pydantic import BaseModel, Field, JsonValue, ValidationError

from vitrine.cli.session import Session, command
from vitrine.cli.standard_streams import read_json
from vitrine.errors import ConfigurationError, ProtocolError
from vitrine.quoting import quote_text

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE")
_WITHOUT_BODY: Final = ("GET", "HEAD")
_OWN_HEADERS: Final = ("authorization", "host", "content-length", "transfer-encoding")
_KEY: Final = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)")
_NUMBER: Final = re.compile(r"-?(0|[1-9]\d{0,99})(\.\d{1,99})?([eE][+-]?\d{1,2})?", re.ASCII)
_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~\w-]+):[ \t]*([\x20-\x7e]*)", re.ASCII)
_WORDS: Final[Mapping[str, JsonValue]] = {"true": True, "false": False, "null": None}
# More would exceed the stack of the JSON encoder; no body of the API has a quarter of it.
_DEEPEST: Final = 20


class _Page(BaseModel):
    """The token of the next page, which some listings have within `message`."""

    next_token: str | None = Field(default=None, alias="NextToken")
    message: "_Page | JsonValue" = Field(default=None, union_mode="left_to_right")


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, Any]
    body: Mapping[str, JsonValue] | None
    headers: Mapping[str, str]


@command("api")
def call_api(  # noqa: PLR0913, PLR0917 - a parameter for each option; Typer calls it by name
    session: Session,
    method: Annotated[str, typer.Argument(metavar="METHOD", help="GET, POST, PUT, DELETE, HEAD.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="Such as /database/cars/assets.")],
    texts: Annotated[
        list[str] | None,
        typer.Option("-f", "--raw-field", metavar="KEY=TEXT", help="Field with a text."),
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "-F",
            "--field",
            metavar="KEY=VALUE",
            help="Field with true, false, null, a number, the content of @FILE, or a text.",
        ),
    ] = None,
    body: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="Whole body; - is stdin.")
    ] = None,
    headers: Annotated[
        list[str] | None, typer.Option("-H", "--header", metavar="NAME: VALUE", help="Header.")
    ] = None,
    include: Annotated[
        bool, typer.Option("-i", "--include", help="Print status and headers, too.")
    ] = False,
    paginate: Annotated[
        bool, typer.Option("--paginate", help="Print all pages, one on each line.")
    ] = False,
) -> None:
    r"""Send a request to any route and print the reply.

    Fields form the body; with GET, HEAD or --input they form the query. A key may be nested:
    a\[b]=c sets a key of an object, a[]=c adds to a list, a[] alone is an empty list. `vitrine
    openapi` prints all routes.
    """
    request = _request(method.upper(), path, body, headers or ())
    for option, typed, words in (("-f", False, texts), ("-F", True, fields)):
        for word in words or ():
            request = _with_field(request, option, word, typed=typed, to_query=body is not None)
    for response in _replies(session, request, paginate=paginate):
        if include:
            session.output.line(f"HTTP/1.1 {response.status_code} {response.reason_phrase}")
            for name, value in response.headers.items():
                session.output.line(f"{name}: {value}")
            session.output.line("")
        if response.content and "json" in response.headers.get("Content-Type", ""):
            session.output.json(response.text)
        elif response.has_redirect_location:
            session.output.json(json.dumps({"location": response.headers["Location"]}))
        else:  # bytes as they are
            session.output.flush()
            sys.stdout.buffer.write(response.content)


def _request(method: str, path: str, body: Path | None, headers: Sequence[str]) -> Request:
    if method not in METHODS:
        raise ConfigurationError(f"METHOD {quote_text(method)} is none of {', '.join(METHODS)}")
    if body is not None and method in _WITHOUT_BODY:
        raise ConfigurationError(f"--input: a {method} request has no body")
    parts = _split_path(path)
    query: dict[str, str] = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name in query:
            raise ConfigurationError(f"PATH has the parameter {quote_text(name)} twice")
        query[name] = value
    sent = None if body is None else read_json(body, dict[str, JsonValue])
    return Request(method, parts.path, query, sent, _headers(headers))


def _split_path(path: str) -> Any:
    """Return the parts of a path; the host is always that of the deployment."""
    if not path.startswith("/") or path.startswith("//"):
        raise ConfigurationError(
            f"PATH {quote_text(path)} must begin with one slash, "
            "without a host: /database/cars/assets"
        )
    if "#" in path or not path.isprintable():
        raise ConfigurationError(f"PATH {quote_text(path)} has a character that no path has")
    parts = urlsplit(path)
    if not {".", ".."}.isdisjoint(unquote(parts.path).split("/")):
        raise ConfigurationError(f"PATH {quote_text(path)} must not have the segment '.' or '..'")
    return parts


def _headers(texts: Sequence[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for text in texts:
        match = _HEADER.fullmatch(text)
        if match is None:
            raise ConfigurationError(f"-H {quote_text(text)} is not in the form NAME: VALUE")
        name = match[1].lower()
        if name in _OWN_HEADERS:
            raise ConfigurationError(f"-H {match[1]} is set by the command; --key sets the key")
        if name in headers:
            raise ConfigurationError(f"-H {match[1]} is given twice")
        headers[name] = match[2]
    return headers


def _with_field(
    request: Request, option: str, text: str, *, typed: bool, to_query: bool
) -> Request:
    """Return the request with the field of an option, in its query or its body."""
    key, equals, value = text.partition("=")
    where = f"{option} {quote_text(key)}"
    match = _KEY.fullmatch(key)
    if match is None or not (equals or key.endswith("[]")):
        raise ConfigurationError(f"{where} is not in the form KEY=VALUE, a[b]=VALUE or a[]=VALUE")
    steps = [match[1], *re.findall(r"\[([^\[\]]*)\]", match[2])]
    content = _typed_value(where, value) if typed else value
    if to_query or request.method in _WITHOUT_BODY:
        if len(steps) > 1 or content is None:
            raise ConfigurationError(f"{where}: a query parameter is neither nested nor null")
        if key in request.query:
            raise ConfigurationError(f"{where} is given twice")
        return replace(request, query={**request.query, key: content})
    if len(steps) > _DEEPEST:
        raise ConfigurationError(f"{option} {quote_text(match[1])} has over {_DEEPEST} levels")
    body = cast("dict[str, Any]", request.body or {})
    _set_field(body, where, steps, [content] if equals else [])
    return replace(request, body=body)


def _typed_value(where: str, text: str) -> JsonValue:
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return json.loads(text)
    if not text.startswith("@"):
        return text
    try:
        content = sys.stdin.buffer.read() if text == "@-" else Path(text[1:]).read_bytes()
        return content.decode()
    except OSError as error:
        raise ConfigurationError(f"{where}: {text[1:]} cannot be read: {error.strerror}") from error
    except ValueError as error:  # also a path with a null character
        raise ConfigurationError(f"{where}: {quote_text(text[1:])} is not text in UTF-8") from error


def _set_field(body: dict[str, Any], where: str, steps: Sequence[str], values: list[Any]) -> None:
    """Set the value at a nested key. An element of a list is extended until a key repeats."""
    target: Any = body
    for step, following in pairwise(steps):
        child: Any = {} if following else []
        if isinstance(target, dict):
            child = cast("dict[str, Any]", target).setdefault(step, child)
        else:
            elements = cast("list[Any]", target)
            last = elements[-1] if elements else None
            if following and isinstance(last, dict) and following not in last:
                child = cast("dict[str, Any]", last)
            else:
                elements.append(child)
        if not isinstance(child, dict if following else list):
            raise ConfigurationError(f"{where}: {quote_text(step)} has another value already")
        target = cast("Any", child)
    if isinstance(target, list):
        cast("list[Any]", target).extend(values)
    elif steps[-1] in target:
        raise ConfigurationError(f"{where} is given twice")
    else:
        target[steps[-1]] = values[0]


def _replies(session: Session, request: Request, *, paginate: bool) -> Iterator[httpx.Response]:
    """Yield the reply, or with `paginate` that of each page.

    Raises:
        ProtocolError: a page's token is repeated.
    """
    seen: set[str] = set()
    while True:
        response = session.client.request(
            request.method,
            request.path,
            query=request.query,
            body=request.body,
            headers=request.headers,
        )
        yield response
        if not paginate:
            return
        try:
            page = _Page.model_validate_json(response.content)
        except ValidationError:
            return
        inner = page.message
        token = page.next_token or (inner.next_token if isinstance(inner, _Page) else None)
        if token is None:
            return
        if token in seen:
            raise ProtocolError(f"{request.path}: the server returned the same page token twice")
        seen.add(token)
        name = "query" if request.method in _WITHOUT_BODY else "body"
        request = replace(
            request, **{name: {**(getattr(request, name) or {}), "startingToken": token}}
        )
