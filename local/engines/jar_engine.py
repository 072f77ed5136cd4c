"""The common parts of engines that run from the jars of their lock file."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from local.engines import layout
from local.engines.base import Options, Progress
from local.engines.java import prepare_java
from local.engines.ports import chosen_port
from local.engines.process import Running, launch, stop_leftovers


@dataclass(frozen=True)
class Start:
    """One start: the folders of tools and jars, and the files and the port of the engine."""

    tools: Path
    lib: Path
    files: Path
    port: int
    options: Options


class JarEngine(ABC):
    """An engine of jars. A subclass defines its name, version, command and probe."""

    name: str
    version: str
    probe: Callable[[str], bool]
    besides: bytes = b"1"
    """Return further input of `complete`. Different input results in a different folder."""

    @abstractmethod
    def command(self, start: Start) -> list[str]:
        """Return the command, after writing the files that it reads below `start.files`."""

    def environment(self, options: Options) -> dict[str, str]:  # noqa: ARG002 - for subclasses
        """Return the environment variables of the process."""
        return {}

    def path(self, options: Options) -> str:  # noqa: ARG002 - for subclasses
        """Return the path below which the engine serves."""
        return ""

    def complete(self, tools: Path, lib: Path) -> None:  # noqa: B027 - most need nothing
        """Add files to the downloaded jars in `lib` that the engine also needs."""

    def prepare(self, tools: Path, progress: Progress) -> None:
        """See `Engine.prepare`."""
        prepare_java(tools, progress)

        def build(folder: Path) -> None:
            layout.fetch_locked(self.name, tools, progress, into=folder)
            self.complete(tools, folder)

        layout.whole_folder(tools, self._folder_name(), build)

    def start(
        self,
        tools: Path,
        data: Path,
        *,
        log: Path,
        port: int | None = None,
        options: Options | None = None,
    ) -> Running:
        """See `Engine.start`."""
        options = options or Options()
        lib = layout.prepared(tools / self._folder_name(), self.name)
        stop_leftovers(data, name=self.name)
        port = chosen_port(port, name=self.name)
        files = data / self.name
        files.mkdir(parents=True, exist_ok=True)
        return launch(
            name=self.name,
            command=self.command(Start(tools, lib, files, port, options)),
            environment=self.environment(options),
            data=data,
            log=log,
            port=port,
            probe=self.probe,
            path=self.path(options),
        )

    def _folder_name(self) -> str:
        return layout.jars_folder_name(self.name, self.version, besides=self.besides)
