"""Every command with invalid replies, or replies without optional fields."""

import inspect
import io
import json
import sys
import typing
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from vitrine import RetryPolicy
from vitrine.cli.session import Wiring

from backend.entrypoints.openapi import openapi
from tests.unit.client.documented import documented_content
from tests.unit.client.test_habits import COMMANDS, ROOT

Reply = Callable[[httpx.Request], httpx.Response]

_PLAIN: dict[str, Any] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True}
_CHANGE = {
    name: ["--description", "a"]
    for name in (
        *("databases update", "assets update", "keys own update", "keys update", "roles update"),
    )
} | {
    "access explain": ["GET", "asset"],
    "login": ["--key", "vams_key"],
    "links edit": ["--alias", "a"],
    "audit list": ["--user", "a"],
    "users update": ["--email", "a@b.test"],
    "versions update": ["--comment", "a"],
    "metadata-schemas update": ["--name", "a"],
    "admin search repair": ["--all"],
    "admin failures replay": ["--all"],
    "facts renew": ["--all"],
    "runs": ["--tracking-uri", "other://mlflow"],
}
"""Arguments that a command needs besides its required ones."""
_LOCAL = {"demo", "events", "version", "wait", "uploads resume", "api", "watch", "mcp"}
"""Commands that need a local runtime or a record of an upload, print any reply, or run on."""
FILE: dict[str, Any] = {
    "fields": [],
    "entities": [{"databaseId": "b", "metadata": []}],
    "pipelineId": "a",
    "databaseId": "b",
    "description": "c",
    "pipelineType": "standardFile",
    "pipelineExecutionType": "Lambda",
    "assetType": ".glb",
    "outputType": ".glb",
    "lambdaName": "d",
}
REPLIES: dict[str, Reply] = {
    "nothing": lambda _: httpx.Response(200, content=b""),
    "HTML": lambda _: httpx.Response(200, html="<p>Please sign in"),
    "a list": lambda _: httpx.Response(200, json=[]),
    "null": lambda _: httpx.Response(200, json=None),
    "bytes": lambda _: httpx.Response(200, content=b"\xff\xfe{"),
    "deep lists": lambda _: httpx.Response(200, content=b"[" * 100_000),
    "a redirect": lambda _: httpx.Response(302, headers={"Location": "https://other.test/"}),
    "a 500 without JSON": lambda _: httpx.Response(500, content=b"oops"),
    "a 502 in HTML": lambda _: httpx.Response(502, html="<p>Bad gateway"),
    "a 404 with a list": lambda _: httpx.Response(404, json=[]),
    "an empty 403": lambda _: httpx.Response(403),
}


def poor(schema: dict[str, Any], depth: int = 0) -> Any:
    """A value with what the schema requires, and lists of one element."""
    if "$ref" in schema:
        return poor(openapi()["components"]["schemas"][schema["$ref"].rpartition("/")[2]], depth)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "anyOf" in schema:
        return poor(schema["anyOf"][0], depth)
    if schema.get("type") == "array":
        return [poor(schema["items"], depth + 1)] if depth < 5 and schema.get("items") else []
    if schema.get("type") == "object" or "properties" in schema:
        fields = schema.get("properties", {})
        return {name: poor(fields[name], depth + 1) for name in schema.get("required", ())}
    return _PLAIN.get(schema.get("type", ""), "text")


def required_fields_only(request: httpx.Request) -> httpx.Response:
    """The reply of the route with only its required fields."""
    content = documented_content(request)
    if content is None:
        return httpx.Response(200, headers={"ETag": '"a"'}, json={})
    if "application/json" not in content:
        return httpx.Response(200, content=b"")
    return httpx.Response(200, json=poor(content["application/json"]["schema"]))


def values_of(command: Any, file: Path) -> Iterator[str]:
    """Values of the command's required arguments and options, and `--yes`."""
    for parameter in command.params:
        if "--yes" in parameter.opts:
            yield "--yes"
        if not parameter.required:
            continue
        kind = parameter.type_descriptor.annotation
        (kind,) = typing.get_args(kind) if typing.get_origin(kind) is list else (kind,)
        value = {int: "1", float: "1", bool: "true"}.get(kind, "abc")
        if parameter.name == "place":
            value = "abc/abc"
        elif kind is Path:
            is_folder = parameter.type_descriptor.parameter_info.file_okay is False
            value = str(file.parent if is_folder else file)
        elif inspect.isclass(kind) and issubclass(kind, Enum):
            value = str(next(iter(kind)).value)
        elif typing.get_origin(kind) is typing.Literal:
            value = typing.get_args(kind)[0]
        yield from (
            [value]
            if parameter.param_type_name == "argument"
            else [
                parameter.opts[0],
                value,
            ]
        )


class Run(NamedTuple):
    """The result of a command."""

    words: str
    end: object  # the exit code, or the error that a user would see as a traceback
    err: str
    requests: int
    out: bytes


def runs(folder: Path, reply: Reply, *more: str, encoding: str = "utf-8") -> Iterator[Run]:
    """Run every command, perhaps with more arguments, with a standard output of an encoding."""
    file = folder / "folder" / "a.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(FILE))
    sent: list[httpx.Request] = []
    transport = httpx.MockTransport(lambda request: sent.append(request) or reply(request))
    wiring = Wiring(
        environment={"VITRINE_API": "https://api.test", "VITRINE_KEY": "vams_key"},
        login_path=folder / "login",
        journal_folder=folder / "journal",
        sync_folder=folder / "sync",
        api_transport=transport,
        storage_transport=transport,
        admin_transport=transport,
        retry=RetryPolicy(attempts=1),
        sleep=lambda _: sys.exit("error: still waiting"),
        browse=lambda _: True,
    )
    for name, command in COMMANDS.items():
        if name in _LOCAL:
            continue
        words = [*name.split(" "), *values_of(command, file), *_CHANGE.get(name, []), *more]
        if name == "access explain":
            words.remove("abc")
        sent.clear()
        end: object = None
        out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        with redirect_stdout(out), redirect_stderr(io.StringIO()) as err:
            try:
                ROOT.main(words, prog_name="vitrine", obj=wiring)
            except SystemExit as stop:
                end = stop.code
            except Exception as error:  # noqa: BLE001 - what a user would see as a traceback
                end = error
            printed = out.buffer.getvalue()
        yield Run(" ".join(words), end, err.getvalue(), len(sent), printed)


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_that_is_none_of_the_api_ends_each_command_with_one_error(
    name: str, tmp_path: Path
) -> None:
    wrong = [
        f"{words}: {end!r} after {requests} requests: {output}"
        for words, end, output, requests, _ in runs(tmp_path, REPLIES[name])
        if (name, words) != ("HTML", "open")  # which finds a page there
        and (
            not (isinstance(end, int) and end and requests)
            or sum(line.startswith("error: ") for line in output.splitlines()) != 1
        )
    ]
    assert not wrong, "\n".join(wrong)


def test_a_reply_without_optional_fields_ends_no_command_with_a_traceback(tmp_path: Path) -> None:
    ended = [*runs(tmp_path, required_fields_only)]
    assert len(ended) > 100
    wrong = [f"{run.words}: {run.end!r}" for run in ended if isinstance(run.end, Exception)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_every_command_prints_what_any_terminal_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    monkeypatch.setitem(_PLAIN, "string", "a\x7f\x9b\u202e\u2028\u6e2c\u00e9\U0001f600")
    pairs = zip(
        runs(tmp_path, required_fields_only, *more),
        runs(tmp_path, required_fields_only, *more, encoding="ascii"),
        strict=True,
    )
    wrong: list[str] = []
    for run, limited in pairs:
        text = run.out.decode() + run.err + limited.err
        if run.end != limited.end or not text.replace("\n", "").replace("\t", "").isprintable():
            wrong.append(f"{run.words}: {run.end!r}, {limited.end!r}: {text!r}")
        for line in limited.out.splitlines() if more else ():
            json.loads(line)
    assert not wrong, "\n".join(wrong)
