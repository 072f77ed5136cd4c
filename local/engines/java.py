"""Finds a Java that can run the engines, or downloads one.

The order is: JAVA_HOME, `java` on the PATH, the usual folders of JVMs, an earlier download. The
first one that is new enough is used. A runtime without locale data is skipped, because OpenSearch
cannot create its analyzers there. So is one without a compiler, which the start of DynamoDB Local
requires (`DynamoDbOnLoopback.java`). If none is suitable, cjdk downloads the pinned Temurin and
checks its checksum.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from filelock import FileLock

from local.engines.base import Progress
from local.engines.errors import EngineError
from local.engines.versions import JAVA_MINIMUM, JDKS

_LINUX = ("usr/lib/jvm/*", "usr/java/*", "usr/local/java/*", "opt/java/*", "opt/jdk*", "opt/jvm/*")
_MACOS = (
    "Library/Java/JavaVirtualMachines/*/Contents/Home",
    "opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
)
_OF_A_USER = (
    ".sdkman/candidates/java/*",
    ".jdks/*",
    ".asdf/installs/java/*",
    "Library/Java/JavaVirtualMachines/*/Contents/Home",
)
_RELEASE_VERSION = re.compile(r'^JAVA_VERSION="([^"]+)"', re.MULTILINE)
_RELEASE_MODULES = re.compile(r'^MODULES="([^"]*)"', re.MULTILINE)
_PRINTED_VERSION = re.compile(r'version "([^"]+)"')
_LOCALE_DATA = "jdk.localedata"
_CPUS = {"amd64": "x86_64", "arm64": "aarch64"}
_MACHINE = platform.machine().lower()
PLATFORM = f"{sys.platform}-{_CPUS.get(_MACHINE, _MACHINE)}"
"""The name of this machine's kind in `JDKS`."""


def find_java(
    tools: Path,
    *,
    minimum: int = JAVA_MINIMUM,
    environment: Mapping[str, str] | None = None,
    root: Path = Path("/"),
    home: Path | None = None,
) -> Path | None:
    """Return the home of the first suitable Java; None if there is none."""
    env = os.environ if environment is None else environment
    candidates = _candidates(tools, env, root, home or Path.home())
    seen: set[Path] = set()
    for candidate in candidates:
        resolved = candidate.resolve()
        if resolved not in seen and _fits(resolved, minimum):
            return resolved
        seen.add(resolved)
    return None


def prepare_java(tools: Path, progress: Progress) -> Path:
    """Return the home of a suitable Java, downloaded into `tools` if the machine has none.

    Raises:
        EngineError: there is none, and none can be downloaded.
    """
    home = find_java(tools)
    if home is not None:
        return home
    tools.mkdir(parents=True, exist_ok=True)
    with FileLock(tools / ".java.lock"):
        return find_java(tools) or _fetch(tools, progress)


def java_command(tools: Path, program: str = "java") -> str:
    """Return the path of the `java` that starts engines, or of another program beside it.

    Raises:
        EngineError: there is none; it was removed after `prepare`.
    """
    home = find_java(tools)
    if home is None:
        raise EngineError(f"no JDK {JAVA_MINIMUM}+ found; prepare the engines again")
    return str(home / "bin" / program)


def major_version(text: str) -> int | None:
    """Return the major version in a version string: 8 of `1.8.0_402`, 25 of `25.0.3`."""
    match = re.match(r"(?:1\.)?(\d+)", text)
    return int(match.group(1)) if match else None


def _candidates(tools: Path, env: Mapping[str, str], root: Path, home: Path) -> Iterator[Path]:
    if env.get("JAVA_HOME"):
        yield Path(env["JAVA_HOME"])
    on_path = shutil.which("java", path=env.get("PATH", ""))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for folder, patterns in ((root, _LINUX + _MACOS), (home, _OF_A_USER)):
        for pattern in patterns:
            yield from sorted(folder.glob(pattern), reverse=True)
    yield tools / "java"


def _fits(java_home: Path, minimum: int) -> bool:
    java = java_home / "bin" / "java"
    # Not from the release file: in Debian's runtimes it lists the modules of the whole JDK.
    if not all(os.access(program, os.X_OK) for program in (java, java.with_name("javac"))):
        return False
    try:
        release = (java_home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        release = ""
    stated = _RELEASE_VERSION.search(release)
    major = major_version(stated.group(1)) if stated else _reported_version(java)
    modules = _RELEASE_MODULES.search(release)
    trimmed = modules is not None and _LOCALE_DATA not in modules.group(1).split()
    return major is not None and major >= minimum and not trimmed


def _reported_version(java: Path) -> int | None:
    """Run a Java without a release file to read its version."""
    try:
        result = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _PRINTED_VERSION.search(result.stderr + result.stdout)
    return major_version(match.group(1)) if match else None


def _fetch(tools: Path, progress: Progress) -> Path:
    import cjdk  # noqa: PLC0415 - only a machine without Java pays for it

    jdk = JDKS.get(PLATFORM)
    if jdk is None:
        raise EngineError(
            f"no JDK {JAVA_MINIMUM}+ found and no archive is pinned for {PLATFORM}; "
            "install one or set JAVA_HOME"
        )
    progress(f"java: no JDK of version {JAVA_MINIMUM} or newer found, fetching a Temurin")
    try:
        unpacked = cjdk.cache_package(
            "Temurin",
            f"tgz+{jdk.url}",
            sha256=jdk.sha256,
            cache_dir=tools / "cjdk",
            progress=False,
        )
    except cjdk.CjdkError as error:
        raise EngineError(
            f"no JDK {JAVA_MINIMUM}+ found and none can be fetched ({error}); "
            "install one or set JAVA_HOME"
        ) from error
    (compiler,) = unpacked.glob("*/**/bin/javac")
    home = compiler.parent.parent
    link = tools / "java"
    fresh = tools / f".java-{os.getpid()}"
    fresh.symlink_to(home.resolve())
    fresh.replace(link)
    return home
