"""Secrets of a test run, and a search for them in its logs.

Secrets are everything that clients received and planted words that they sent; the logs of functions
and of the runner are searched once, at the end. The engines' own logs are not searched, nor is
`up.log`, which is the screen output of `up` with the administrator's key.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx

KEY = re.compile(r"vams_[A-Za-z0-9_-]{43,}")
TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")
SIGNATURE = re.compile(r"X-Amz-(?:Signature|Security-Token)=([^&\s\"]+)")
KINDS = (KEY, TOKEN, SIGNATURE)

_WORD = re.compile(r"[A-Za-z0-9_-]{16,}")

planted: set[str] = set()
"""The long words in everything that the clients of this process sent and received."""


def plant(text: str) -> None:
    """Record the keys, tokens and signatures in a text."""
    for kind in KINDS:
        for item in kind.findall(text):
            planted.update(_WORD.findall(item))


def plant_words(secret: str) -> None:
    """Record a secret without a known form."""
    planted.update(_WORD.findall(secret))


def found_in(text: str) -> set[str]:
    """Return the secrets in a text that is not a log: a reply, or an entry."""
    shaped = {match[0] for kind in KINDS for match in kind.finditer(text)}
    return shaped | planted.intersection(_WORD.findall(text))


def note(answer: httpx.Response) -> None:
    """Record the content of a request and its reply; for the event hooks of a client."""
    planted.update(_WORD.findall(answer.request.headers.get("authorization", "")))
    if "json" in answer.headers.get("content-type", ""):
        answer.read()
        plant(answer.text)
    for name in ("location", "set-cookie"):
        plant(answer.headers.get(name, ""))


def secrets_of(state: Path) -> set[str]:
    """The values of the deployment's secrets."""
    file = state / "secrets.json"
    kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return {secret["value"] for secret in kept.values()}


def keep(file: Path) -> None:
    """Write the secrets of this process, for the process that searches the logs at the end."""
    file.write_text("\n".join(sorted(planted)))


def kept(files: Iterable[Path]) -> set[str]:
    """Return the secrets of all processes."""
    return {word for file in files for word in file.read_text().split()}


def leaks(logs: Path, secrets: Iterable[str], also: Collection[str] = ()) -> list[str]:
    """Return the places where logs contain a secret, a planted word, or a similar text."""
    wanted = [secret for secret in secrets if len(secret) >= 8]
    anything = re.compile("|".join([*(k.pattern for k in KINDS), *map(re.escape, wanted)]))
    watched = planted.union(also)
    result: list[str] = []
    for path in (*sorted((logs / "functions").glob("*.log*")), *sorted(logs.glob("runner.log*"))):
        for number, line in _lines(path):
            match = anything.search(line)
            words = [match[0]] if match else watched.intersection(_WORD.findall(line))
            result += [f"{path.name}:{number}: {word[:12]}…" for word in words]
    return result


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        yield from enumerate(lines, 1)
