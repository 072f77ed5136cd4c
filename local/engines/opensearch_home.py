"""Creates an OpenSearch home from jars: `lib/` and `modules/<name>/` with descriptors.

Package registries do not have the distribution's archive, but its server and its modules. The home
contains no configuration and no data, so several runtimes can share it.
"""

import re
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local.engines.errors import EngineError
from local.engines.versions import OPENSEARCH

_PLUGIN_CLASS = re.compile(r"org/opensearch/.*/\w+Plugin\.class")


@dataclass(frozen=True)
class Module:
    """A module of the server: its jars, by the beginnings of their names.

    Its own jar comes first.
    """

    name: str
    jars: tuple[str, ...]
    extends: str = ""


_HTTP_CLIENT = (
    "httpclient5-",
    "httpcore5-",
    "commons-codec-",
    "commons-logging-",
    "opensearch-rest-client-",
    "opensearch-ssl-config-",
    "slf4j-api-",
)

MODULES = (
    Module("transport-netty4", ("transport-netty4-client-", "netty-", "opensearch-netty4-")),
    Module(
        "lang-painless",
        ("lang-painless-", "opensearch-scripting-painless-spi-", "antlr4-runtime-", "asm-"),
    ),
    Module("analysis-common", ("analysis-common-",), extends="lang-painless"),
    Module("geo", ("geo-",)),
    Module("mapper-extras", ("mapper-extras-client-",)),
    Module("reindex", ("reindex-client-", *_HTTP_CLIENT)),
)


def arrange_jars(jars: Path, home: Path) -> None:
    """Move the jars of the folder `jars` to their folders below `home`.

    Raises:
        EngineError: a module's own jar, or its plugin class, is missing.
    """
    lib = home / "lib"
    lib.mkdir()
    for jar in sorted(jars.glob("*.jar")):
        module = owner(jar.name)
        folder = home / "modules" / module.name if module else lib
        folder.mkdir(parents=True, exist_ok=True)
        jar.rename(folder / jar.name)
    for module in MODULES:
        _describe(module, home / "modules" / module.name)
    # The server requires this folder, and logs warnings about `bin` and `plugins`.
    (home / "plugins").mkdir()
    shutil.rmtree(jars)


def add_plugin(home: Path, plugin: str) -> Path:
    """Describe a module of one class, which has the plugin's name.

    Return the folder for its jar.
    """
    folder = home / "modules" / plugin.lower()
    folder.mkdir()
    _write_descriptor(folder, plugin)
    return folder / f"{plugin}.jar"


def owner(jar: str) -> Module | None:
    """Return the module to which a jar belongs; None for the server's own."""
    return next((module for module in MODULES if jar.startswith(module.jars)), None)


def plugin_class(entries: Sequence[str]) -> str | None:
    """Return the plugin's class among a jar's entries.

    One named `…ModulePlugin` takes precedence.
    """
    classes = sorted(
        (entry for entry in entries if _PLUGIN_CLASS.fullmatch(entry)),
        key=lambda entry: (not entry.endswith("ModulePlugin.class"), entry),
    )
    return classes[0].removesuffix(".class").replace("/", ".") if classes else None


def _describe(module: Module, folder: Path) -> None:
    own = next(iter(folder.glob(f"{module.jars[0]}*.jar")), None)
    if own is None:
        raise EngineError(f"opensearch: no jar {module.jars[0]}*.jar among the locked ones")
    with zipfile.ZipFile(own) as archive:
        name = plugin_class(archive.namelist())
    if name is None:
        raise EngineError(f"opensearch: no plugin class in {own.name}")
    _write_descriptor(folder, name, extends=module.extends)


def _write_descriptor(folder: Path, plugin: str, *, extends: str = "") -> None:
    lines = (
        f"name={folder.name}",
        f"description={folder.name}",
        f"version={OPENSEARCH}",
        f"opensearch.version={OPENSEARCH}",
        "java.version=21",
        f"classname={plugin}",
        f"extended.plugins={extends}",
        "has.native.controller=false",
    )
    (folder / "plugin-descriptor.properties").write_text("\n".join(lines) + "\n", encoding="ascii")
