"""The common parts of all engines: each is prepared once, and started on a data folder."""

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
    """One start: the folders of tools and program, and the files and the port of the engine."""

    tools: Path
    home: Path
    files: Path
    port: int
    options: Options


class Engine(ABC):
    """One engine; stateless, so one value serves every runtime of this process.

    A subclass defines its name, its command, what it is built of, and its probe.
    """

    name: str
    """The short name, which its pid file, log and data folder have, too."""
    probe: Callable[[str], bool]

    @abstractmethod
    def command(self, start: Start) -> list[str]:
        """Return the command, after writing the files that it reads below `start.files`."""

    def environment(self, options: Options) -> dict[str, str]:  # noqa: ARG002 - for subclasses
        """Return the environment variables of the process."""
        return {}

    def path(self, options: Options) -> str:  # noqa: ARG002 - for subclasses
        """Return the path below which the engine serves."""
        return ""

    def folder_name(self) -> str:
        """Return the name of the program's folder in the tools; empty if it has none."""
        return ""

    def build(self, folder: Path, tools: Path, progress: Progress) -> None:  # noqa: B027
        """Download, verify and install the program into its folder."""

    def prepare(self, tools: Path, progress: Progress) -> None:
        """Build into `tools`; immediate and offline if this was done before.

        Two processes may prepare the same folder at the same time.

        Raises:
            EngineError: a file cannot be downloaded, or does not have the checksum of the lock
                file.
        """
        if name := self.folder_name():
            layout.whole_folder(tools, name, lambda folder: self.build(folder, tools, progress))

    def start(
        self,
        tools: Path,
        data: Path,
        *,
        log: Path,
        port: int | None = None,
        options: Options | None = None,
    ) -> Running:
        """Start on `data/<name>` and return immediately.

        `Running.wait_healthy` waits for the engine.

        Processes that an earlier, killed runner left running on `data` are stopped first.

        Raises:
            EngineError: the engine is not prepared, or the port is in use.
        """
        options = options or Options()
        home = layout.prepared(tools / name, self.name) if (name := self.folder_name()) else tools
        stop_leftovers(data, name=self.name)
        port = chosen_port(port, name=self.name)
        files = data / self.name
        files.mkdir(parents=True, exist_ok=True)
        return launch(
            name=self.name,
            command=self.command(Start(tools, home, files, port, options)),
            environment=self.environment(options),
            data=data,
            log=log,
            port=port,
            probe=self.probe,
            path=self.path(options),
        )


class JarEngine(Engine):
    """An engine that runs from the jars of its lock file, which have a version."""

    version: str
    besides: bytes = b"1"
    """Further input of `complete`. Different input results in a different folder."""
    jars: str = "."
    """The folder of the jars in the program's folder."""

    def complete(self, tools: Path, home: Path) -> None:
        """Add files to the downloaded jars that the engine also needs."""

    def folder_name(self) -> str:
        return layout.jars_folder_name(self.name, self.version, besides=self.besides)

    def prepare(self, tools: Path, progress: Progress) -> None:
        """See `Engine.prepare`."""
        prepare_java(tools, progress)
        super().prepare(tools, progress)

    def build(self, folder: Path, tools: Path, progress: Progress) -> None:
        layout.fetch_locked(self.name, tools, progress, into=folder / self.jars)
        self.complete(tools, folder)
