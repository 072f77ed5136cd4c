"""The common parts of engines on a JVM: their commands, and the compiler."""

import re
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from local.engines.errors import EngineError
from local.engines.java import java_command
from local.engines.versions import JAVA_MINIMUM

_COMPILE_SECONDS = 300  # on a busy machine
_MANIFEST = "META-INF/MANIFEST.MF"
_CLASS_PATH = re.compile(rb"^Class-Path:.*\n(?: .*\n)*", re.MULTILINE)


def command(
    tools: Path, folder: Path, *, heap: Sequence[str], options: Sequence[str], main: str, lib: Path
) -> list[str]:
    """Return the beginning of a JVM's command, up to its main class."""
    return [
        java_command(tools),
        *heap,
        # The smallest collector, and fast on heaps of this size.
        "-XX:+UseSerialGC",
        # The archive of loaded classes saves 40 % of the work of a start (OpenSearch: 5 instead of
        # 8.3 seconds of one core). The JVM writes it at its first regular end, renews it if it no
        # longer matches, and continues without it if it cannot read or write it.
        "-XX:+AutoCreateSharedArchive",
        f"-XX:SharedArchiveFile={folder / 'classes.jsa'}",
        "-Xlog:cds=off",
        "-Xlog:cds+dynamic=off",
        *options,
        "-cp",
        f"{lib}/*",
        main,
    ]


def compile_into(jar: Path, sources: Sequence[Path], *, lib: Path, tools: Path) -> None:
    """Compile Java sources against the jars in `lib`, into `jar`.

    Raises:
        EngineError: the compilation failed; with the compiler's output.
    """
    with tempfile.TemporaryDirectory() as classes:
        command = [
            *(java_command(tools, "javac"), "--release", str(JAVA_MINIMUM), "-proc:none"),
            *("-cp", f"{lib}/*", "-d", classes, *map(str, sources)),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_COMPILE_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineError(f"{jar.stem} cannot be compiled: {error}") from error
        if done.returncode != 0:
            raise EngineError(f"{jar.stem} does not compile:\n{done.stderr}{done.stdout}")
        # A jar: the archive of loaded classes (see `command`) supports no folders.
        with zipfile.ZipFile(jar, "w") as archive:
            for compiled in sorted(Path(classes).rglob("*.class")):
                archive.write(compiled, compiled.relative_to(classes))


def drop_class_path(jar: Path) -> None:
    """Replace a jar by one whose manifest has no class path."""
    fresh = jar.with_suffix(".new")  # never in place: the store of jars shares the file
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            content = old.read(entry)
            new.writestr(
                entry, _CLASS_PATH.sub(b"", content) if entry.filename == _MANIFEST else content
            )
    fresh.replace(jar)
