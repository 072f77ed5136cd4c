"""The command line of the local runtime: prepare, up, down, status, reset, demo.

Errors are reported in one line with an exit code: 1 for an operation that failed, 2 for a state
folder that another runtime uses.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, TypedDict

import httpx
import psutil
import typer
from pydantic import JsonValue
from rich.console import Console
from rich.table import Table

from local import box
from local.engines.errors import EngineError
from local.engines.process import stop_leftovers
from local.errors import AlreadyRunningError, LocalError
from local.iam.roles import Enforcement
from local.links import new_link
from local.state import REPOSITORY, StateFolder, tools_folder

_DETACHED_SECONDS = 900  # a first start downloads and builds the engines
_DOWN_SECONDS = 120  # on a busy machine; after this time the remaining engines are ended, too
_MEBIBYTE = 1024 * 1024

app = typer.Typer(
    help="Run the product locally, from its synthesized templates.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
_screen = Console(highlight=False, soft_wrap=True)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)

State = Annotated[Path, typer.Option("--state", help="Folder for all data.")]
Port = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        help="Port of the API, or 0 for any free one [8080, or the next free one].",
    ),
]
Detach = Annotated[bool, typer.Option(help="Run in the background; return once the API is ready.")]
GivenAssembly = Annotated[
    Path | None, typer.Option(help="Use this cloud assembly instead of synthesizing app.py.")
]
InMemory = Annotated[
    bool, typer.Option(help="Keep tables in memory: faster, but data is lost on exit.")
]
Record = Annotated[
    bool, typer.Option(help="Record the functions' requests, and allow injecting faults.")
]
Iam = Annotated[bool, typer.Option(help="Enforce the IAM policies of the templates.")]
RecordGrants = Annotated[
    Path | None,
    typer.Option(help="Record the grants in use in this file.", envvar="VITRINE_RECORD_GRANTS"),
]
Sandbox = Annotated[
    Literal["lambda", "lambda-strict"] | None,
    typer.Option(
        help="Refuse functions the system calls that AWS Lambda is reported to refuse; with "
        "`lambda-strict` all with which a process can confine itself."
    ),
]
Given = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Setting of the stage as NAME=VALUE; may be repeated."
    ),
]
PageOption = Annotated[
    bool, typer.Option("--page", help="Build the page of the product, unless it is built already.")
]
FirstLook = Annotated[Path | None, typer.Option(help="Folder to import on the first start.")]
_DEFAULT_STATE = REPOSITORY / ".local"


class RunnerFile(TypedDict):
    """The process that serves a state folder.

    Its start time distinguishes it from a later process with the same id.
    """

    pid: int
    created: float


@app.command()
def up(  # noqa: PLR0913 - each is an option of the command
    *,
    port: Port = None,
    state: State = _DEFAULT_STATE,
    detach: Detach = False,
    assembly: GivenAssembly = None,
    in_memory: InMemory = False,
    record: Record = False,
    iam: Iam = True,
    record_grants: RecordGrants = None,
    first_look: FirstLook = None,
    page: PageOption = False,
    sandbox: Sandbox = None,
    given: Given = None,
) -> None:
    """Start the engines, create what the templates declare, and serve until interrupted."""
    folder, recorded = StateFolder(state.resolve()), record_grants and record_grants.resolve()
    with _one_line_errors():
        if detach:
            options = _options(in_memory=in_memory, record=record, no_iam=not iam, page=page)
            options += _options(port=port, record_grants=recorded, sandbox=sandbox)
            options += _options(assembly=assembly and assembly.resolve())
            _start_detached(folder, options + [f"--set={setting}" for setting in given or []])
        else:
            if sandbox is not None and not box.is_possible():
                raise LocalError("--sandbox needs Linux on x86_64 or aarch64")
            from local.serve import serve  # noqa: PLC0415 - slow to import, for this

            settings = parsed_settings(given or [], assembly)
            with _interruptible():
                serve(
                    folder,
                    port=port,
                    assembly=assembly,
                    settings=settings,
                    in_memory=in_memory,
                    record=record,
                    iam=Enforcement(iam, recorded, sandbox),
                    first_look=first_look,
                    page=page,
                    say=_say(),
                )


@app.command()
def prepare() -> None:
    """Download and build the engines. `up` does it too; repeating it takes no time."""
    from local.engines.fleet import prepare_all  # noqa: PLC0415 - slow to import, for this only

    with _one_line_errors():
        prepare_all(tools_folder(), _say())


@app.command()
def down(state: State = _DEFAULT_STATE) -> None:
    """Stop a runtime, and the processes that a killed runtime left."""
    folder = StateFolder(state.resolve())
    with _one_line_errors():
        stopped = _stop_runner(folder)
        left = stop_leftovers(folder.data) if folder.data.exists() else []
        folder.endpoint.unlink(missing_ok=True)
        (folder.root / "runner.json").unlink(missing_ok=True)
        if left:
            _screen.print(f"stopped processes of an earlier run: {', '.join(left)}")
        _screen.print("stopped" if stopped or left else f"no runtime is running on {folder.root}")


@app.command()
def link(state: State = _DEFAULT_STATE) -> None:
    """Print a link that signs in to the page as the administrator.

    It works once, for ten minutes.
    """
    folder = StateFolder(state.resolve())
    with _one_line_errors():
        endpoint = folder.read("endpoint.json", dict[str, JsonValue]())
        _screen.print(new_link(folder, str(endpoint.get("api", ""))), markup=False)


@app.command()
def status(state: State = _DEFAULT_STATE) -> None:
    """Show engines, functions, memory, and the lag of the streams."""
    folder = StateFolder(state.resolve())
    with _one_line_errors():
        endpoint = folder.read("endpoint.json", dict[str, JsonValue]())
        if not endpoint:
            raise LocalError(f"no runtime is running on {folder.root}")
        try:
            answer = httpx.get(f"{endpoint['admin']}/health", timeout=10)
            overview = _overview(answer.json())
        # another process may use its port now
        except (httpx.HTTPError, ValueError, KeyError) as error:
            raise LocalError(f"the runtime of {folder.root} does not respond: {error}") from error
        _screen.print(overview)
        _screen.print(f"API: {endpoint['api']}")


@app.command()
def grants(
    record: Annotated[Path, typer.Argument(help="File written by `up --record-grants`.")],
) -> None:
    """List the grants of the templates that nothing used; the exit code is 1 if there are any."""
    from local.iam.report import read_record  # noqa: PLC0415 - for this only

    with _one_line_errors():
        roles = read_record(record)
    table = Table("role", "action", "resource", title="granted and never used")
    for role, usage in sorted(roles.items()):
        for grant in usage.unused():
            table.add_row(role, grant.action, grant.resource)
    if table.row_count:
        _screen.print(table)
    total = sum(len(usage.granted) for usage in roles.values())
    _screen.print(f"{table.row_count} of {total} grants of {len(roles)} roles were never used")
    raise typer.Exit(1 if table.row_count else 0)


@app.command()
def reset(state: State = _DEFAULT_STATE) -> None:
    """Remove all data of a state folder; downloads and installed packages are kept."""
    folder = StateFolder(state.resolve())
    with _one_line_errors():
        if not folder.root.is_dir():
            raise LocalError(f"{folder.root} does not exist")
        lock = folder.lock()
        if folder.data.exists():
            stop_leftovers(folder.data)
        folder.empty()
        lock.release()
        _screen.print(f"emptied {folder.root}")


@app.command("demo")
def demo_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", exists=True, file_okay=False)],
) -> None:
    """Import a folder into a new runtime, and check that search finds each of its files."""
    from local.demo import demo  # noqa: PLC0415 - for this only

    program = [sys.executable, "-m", "local"]
    with _interruptible():
        code = demo(
            folder.resolve(),
            lambda state: [*program, "up", "--detach", "--state", str(state)],
            lambda state: [*program, "down", "--state", str(state)],
        )
    raise typer.Exit(code)


@app.command("demo-tracking")
def demo_tracking() -> None:
    """Train a small model with MLflow on a table in memory: log, register, search."""
    from local.tracking_demo import demo  # noqa: PLC0415 - for this only

    with _one_line_errors(), _interruptible():
        raise typer.Exit(demo(_say()))


@contextmanager
def _one_line_errors() -> Generator[None]:
    try:
        yield
    # such as a full disk, or a folder that is a file
    except (LocalError, EngineError, OSError) as error:
        _errors.print(f"error: {error}", markup=False)
        raise typer.Exit(2 if isinstance(error, AlreadyRunningError) else 1) from error


@contextmanager
def _interruptible() -> Generator[None]:
    """Let Ctrl-C raise an exception, for commands that have to stop or remove something then."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a process group may receive it twice
        _errors.print("interrupted")
        raise typer.Exit(128 + signal.SIGINT) from interrupt


def _say() -> Callable[[str], None]:
    began = time.monotonic()

    def say(text: str) -> None:
        _screen.print(f"[{time.monotonic() - began:5.1f} s] {text}", markup=False)

    return say


def _options(**chosen: object) -> list[str]:
    """Return the equivalent options of the command line: flags, and options with values."""
    options: list[str] = []
    for name, value in chosen.items():
        if value is None or value is False:
            continue
        options.append(f"--{name.replace('_', '-')}")
        options += [] if value is True else [str(value)]
    return options


def parsed_settings(options: list[str], assembly: Path | None) -> dict[str, JsonValue]:
    """Return the settings of `--set`; a value that is JSON is parsed as JSON.

    Raises:
        LocalError: a setting is not valid, or no assembly is synthesized that could use it.
    """
    if options and assembly is not None:
        raise LocalError("--set cannot be used with --assembly, which is already synthesized")
    settings: dict[str, JsonValue] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or not name:
            raise LocalError(f"--set {option}: must have the form NAME=VALUE")
        try:
            settings[name] = json.loads(text)
        except ValueError:
            settings[name] = text
    return settings


def _start_detached(folder: StateFolder, options: list[str]) -> None:
    folder.create()
    folder.lock().release()  # fails immediately if another runtime uses the folder
    folder.endpoint.unlink(missing_ok=True)
    command = [sys.executable, "-m", "local", "up", "--state", str(folder.root), *options]
    log = folder.logs / "up.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _follow(folder, process, log)


def _follow(folder: StateFolder, process: subprocess.Popen[bytes], log: Path) -> None:
    """Print the output of the background process until it serves or exits."""
    deadline = time.monotonic() + _DETACHED_SECONDS
    with log.open(encoding="utf-8", errors="replace") as said:
        while True:
            ended = process.poll() is not None
            serves = folder.endpoint.exists()
            _screen.print(said.read(), end="", markup=False)
            if ended and not said.tell():
                raise LocalError(
                    f"the runtime ended with code {process.returncode} and wrote nothing "
                    f"to {log}; the disk may be full"
                )
            if ended:
                raise typer.Exit(process.returncode or 1)
            if serves:
                return
            if time.monotonic() > deadline:
                process.terminate()
                raise LocalError(f"the API is not ready after {_DETACHED_SECONDS} s; see {log}")
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue


def _stop_runner(folder: StateFolder) -> bool:
    noted = folder.read("runner.json", RunnerFile(pid=0, created=0.0))
    try:
        process = psutil.Process(noted["pid"])
        if noted["pid"] == 0 or abs(process.create_time() - noted["created"]) > 1:
            return False
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_DOWN_SECONDS)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait()
    except psutil.NoSuchProcess:
        return False
    return True


def _overview(health: dict[str, dict[str, dict[str, JsonValue]]]) -> Table:
    table = Table(title=f"healthy: {health['healthy']}")
    for column in ("part", "state", "memory"):
        justify = "right" if column == "memory" else "left"
        table.add_column(column, justify=justify, overflow="fold")
    total = 0
    rows = [
        *((name, "up" if e["healthy"] else "DOWN", e) for name, e in health["engines"].items()),
        *(
            (name, f"{e['invocations']} calls, {e['errors']} errors", e)
            for name, e in health["functions"].items()
            if e["invocations"]
        ),
        ("runner", "", health["runner"]),
    ]
    for name, state, facts in rows:
        size = facts["memoryBytes"]
        memory = size if isinstance(size, int) else 0
        total += memory
        table.add_row(str(name), state, f"{memory // _MEBIBYTE} MiB")
    for arn, lag in health["streams"].items():
        table.add_row(f"stream → {arn.rpartition(':')[2]}", f"{lag} s behind", "")
    for name, pump in health["pumps"].items():
        if pump["failure"]:
            table.add_row(name, str(pump["failure"]), "")
    table.add_section()
    table.add_row("all", "", f"{total // _MEBIBYTE} MiB")
    return table
