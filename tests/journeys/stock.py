"""Requests of stock clients, as recorded in `tests/events/stock`, and checks of their replies."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from string import Template
from typing import Any, cast
from urllib.parse import quote

import httpx

RECORDED = Path(__file__).parents[1] / "events" / "stock"
ABSENT: Any = object()
OK = 200

WEB_ORIGIN = "http://localhost:3000"
"""The address of VAMS's web application during its development."""
CLIENT_HEADERS = {
    "cli": {"User-Agent": "vamscli/2.5.1", "Content-Type": "application/json"},
    "cli26": {"User-Agent": "vamscli/2.6.1", "Content-Type": "application/json"},
    "web": {"Origin": WEB_ORIGIN, "Accept": "application/json, */*"},
    "docs": {"Content-Type": "application/json"},
}


@dataclass(frozen=True)
class Response:
    """The parts of a reply on which a client relies."""

    status: int = 200
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """One recorded request; the README beside the records explains the fields."""

    name: str
    client: str
    source: str
    call: str
    query: dict[str, str] = field(default_factory=dict[str, str])
    body: dict[str, Any] | None = None
    nulls: tuple[str, ...] = ()
    content: str | None = None
    anonymous: bool = False
    headers: dict[str, str] = field(default_factory=dict[str, str])
    status: int = 200
    reads: tuple[str, ...] = ()
    reads_either: str | None = None
    reads_headers: tuple[str, ...] = ()
    text: str | None = None
    keep: dict[str, str] = field(default_factory=dict[str, str])
    drained: bool = False
    within: int = 0
    deviates: str | None = None
    answers: Response | None = None

    @property
    def expected(self) -> Response:
        """The status and the fields that the client expects."""
        return Response(self.status, self.reads)


def recorded(folder: Path = RECORDED) -> list[Request]:
    """All recorded requests of a folder, in the order in which they are sent."""
    return [
        _request(entry)
        for path in sorted(folder.glob("*.toml"))
        for entry in tomllib.loads(path.read_text())["request"]
    ]


def _request(entry: Mapping[str, Any]) -> Request:
    values: dict[str, Any] = {
        key: tuple(cast("list[str]", value)) if isinstance(value, list) else value
        for key, value in entry.items()
    }
    if "answers" in entry:
        answers = entry["answers"]
        values["answers"] = Response(answers["status"], tuple(answers.get("reads", ())))
    return Request(**values)


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """Return the value with every `$name` in it replaced.

    Raises:
        KeyError: no such name was stored.
    """
    if isinstance(value, str):
        return Template(value).substitute(names)
    if isinstance(value, list):
        return [filled(item, names) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: filled(item, names) for key, item in cast("dict[str, Any]", value).items()}
    return value


def send(http: httpx.Client, request: Request, names: Mapping[str, str]) -> httpx.Response:
    """Send a request as its client does."""
    method, place = request.call.split(" ", 1)
    url = filled(place, names)
    if not url.startswith("http"):
        url = filled(place, {name: quote(kept, safe="") for name, kept in names.items()})
    headers = {**CLIENT_HEADERS[request.client], **request.headers}
    if request.anonymous:
        headers["Authorization"] = ""
    body: Any = filled(request.body, names)
    if body is not None:
        body |= dict.fromkeys(request.nulls)
    sent = http.build_request(
        method,
        url,
        params=filled(request.query, names) or None,
        json=body,
        content=request.content,
        headers=headers,
    )
    if request.anonymous:
        del sent.headers["Authorization"]
        if request.content is not None:
            sent.headers.pop("Content-Type", None)  # which presigned URLs do not sign
    return http.send(sent)


def problems(
    request: Request, answer: httpx.Response, expected: Response, names: Mapping[str, str]
) -> list[str]:
    """Return why the reply does not serve the client; an empty text if it does."""
    if answer.status_code != expected.status:
        return [f"{answer.status_code} instead of {expected.status}: {answer.text[:300]}"]
    headers = [f"no header {name}" for name in request.reads_headers if name not in answer.headers]
    if request.text is not None and answer.text != request.text:
        headers.append(f"the text is {answer.text[:100]!r}")
    if expected.reads:
        try:
            reply = answer.json()
        except ValueError:
            return [*headers, f"no JSON: {answer.text[:100]!r}"]
        if request.reads_either is not None and isinstance(reply.get(request.reads_either), dict):
            reply = reply[request.reads_either]
        headers += [why for rule in expected.reads for why in _broken(rule, reply, names)]
        headers += _misleading(answer.status_code, reply)
    return headers


def _misleading(status: int, reply: dict[str, Any]) -> list[str]:
    """The web application treats a success as a failure if its message contains this word."""
    message = reply.get("message")
    if status == OK and isinstance(message, str) and "error" in message.lower():
        return [f"the message of a success speaks of an error: {message}"]
    return []


def kept(request: Request, answer: httpx.Response) -> dict[str, str]:
    """The values of the reply that later requests need.

    Raises:
        KeyError: the reply lacks one.
    """
    values: dict[str, str] = {}
    for name, place in request.keep.items():
        if place.startswith("header:"):
            values[name] = answer.headers[place.removeprefix("header:")].strip('"')
            continue
        ((_, value),) = _found(place, answer.json())
        if not isinstance(value, str):
            raise KeyError(place)
        values[name] = value
    return values


_RULE = re.compile(r"(?P<path>\S+) (?:= (?P<value>.*)|(?P<type>[a-z]+)(?P<optional>\?)?)")
_STEP = re.compile(r"(?P<name>[^\[]+)(?P<index>\[(?:\?|\d+|\w+=\w+)?\])?")


def _broken(rule: str, reply: Any, names: Mapping[str, str]) -> Iterator[str]:
    match = _RULE.fullmatch(rule)
    assert match is not None, f"not a rule: {rule}"
    for place, value in _found(match["path"], reply):
        if match["value"] is not None:
            holds = value == _literal(filled(match["value"], names))
        elif match["optional"] and (value is ABSENT or value is None):
            holds = True
        else:
            holds = _TYPES[match["type"]](value)
        if not holds:
            shown = "absent" if value is ABSENT else json.dumps(value)[:100]
            yield f"{place} is {shown}, not {rule.split(' ', 1)[1]}"


def _found(path: str, reply: Any) -> Iterator[tuple[str, Any]]:
    """The values at a path, each with its place."""
    places: list[tuple[str, Any]] = [("", reply)]
    for step in path.split("."):
        match = _STEP.fullmatch(step)
        assert match is not None, f"not a path: {path}"
        places = [
            inner
            for place, value in places
            for inner in _elements(f"{place}.{match['name']}", value, match["name"], match["index"])
        ]
    yield from ((place.removeprefix("."), value) for place, value in places)


def _elements(place: str, value: Any, name: str, index: str | None) -> list[tuple[str, Any]]:
    inner: Any = ABSENT
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value).get(name, ABSENT)
    if index is None:
        return [(place, inner)]
    if not isinstance(inner, list):
        return [(place, ABSENT)]
    elements = cast("list[Any]", inner)
    if "=" in index:
        key, value = index[1:-1].split("=")
        chosen = [element for element in elements if element.get(key) == value]
        return [(place + index, item) for item in chosen] or [(place + index, ABSENT)]
    if index in ("[]", "[?]"):
        every = [(f"{place}[{number}]", element) for number, element in enumerate(elements)]
        return every or ([] if index == "[?]" else [(f"{place}[0]", ABSENT)])
    number = int(index[1:-1])
    return [(place + index, elements[number] if number < len(elements) else ABSENT)]


def _literal(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return text[1:-1] if re.fullmatch(r"'.*'", text) else text


def _is_time(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return "T" in value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast("list[Any]", value)
    )


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "text": lambda value: isinstance(value, str) and bool(value),
    "integer": _is_whole,
    "number": lambda value: _is_whole(value) or isinstance(value, float),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "list": lambda value: isinstance(value, list),
    "strings": _are_strings,
    "time": _is_time,
    "url": lambda value: isinstance(value, str) and value.startswith(("http://", "https://")),
    "yesno": lambda value: value in ("True", "False"),
    "absent": lambda value: value is ABSENT,
}
