"""The common parts of all commands: connection options, client, and exit codes."""

import functools
import inspect
import os
import time
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, ParamSpec, cast

import httpx
import typer
from rich.console import Console

from vitrine import config
from vitrine.cli.output import Output
from vitrine.cli.wording import name_parameters
from vitrine.client import Vitrine
from vitrine.errors import (
    ApiError,
    ConfigurationError,
    InvalidNameError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnauthenticatedError,
    UnavailableError,
    UnreachableError,
    VitrineError,
)
from vitrine.lookup import find_asset
from vitrine.models import AssetIds
from vitrine.retry import RetryPolicy
from vitrine.transfer.downloading import MissingPathError
from vitrine.transfer.journal import Journal, default_folder
from vitrine.transfer.names import compose_name
from vitrine.transfer.sync_state import default_sync_folder
from vitrine.transfer.watching import Changes

Parameters = ParamSpec("Parameters")

COMMANDS: Final[dict[str, Callable[..., None]]] = {}
"""All commands by name, such as `comments list`; `command` adds them."""

FAILED: Final = 1
# Values of metadata, which are stored as they are, and fields of `vitrine api`.
_VERBATIM: Final = frozenset({"value", "texts", "fields"})
_EXIT_CODES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (ConfigurationError, 2),
    (InvalidNameError, 2),
    (NotFoundError, 3),
    (MissingPathError, 3),
    (UnauthenticatedError, 4),
    (PermissionDeniedError, 4),
    (UnreachableError, 5),
    (UnavailableError, 5),
    (RateLimitedError, 5),
)

ApiOption = Annotated[str | None, typer.Option("--api", help="Address of the API.")]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="API key (vams_…), or an access token of the identity provider."),
]
EndpointOption = Annotated[
    Path | None, typer.Option("--endpoint", help="Path of a local runtime's endpoint.json.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def watch_changes(folder: Path) -> Changes:
    """Return the paths that change below a folder, as the system reports them, until Ctrl-C.

    Raises:
        ConfigurationError: the package for it is not installed.
    """
    try:
        from watchfiles import watch  # noqa: PLC0415 - of an extra
    except ImportError as error:
        fact = "this command needs watchfiles: pip install 'vitrine-client[watch]'"
        raise ConfigurationError(fact) from error
    events = watch(folder, watch_filter=None, rust_timeout=500, yield_on_timeout=True)
    return ({Path(path) for _, path in changed} for changed in events)


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """The dependencies of the command; tests replace them."""

    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    login_path: Path = field(default_factory=config.default_path)
    journal_folder: Path = field(default_factory=default_folder)
    sync_folder: Path = field(default_factory=default_sync_folder)
    api_transport: httpx.BaseTransport | None = None
    storage_transport: httpx.BaseTransport | None = None
    admin_transport: httpx.BaseTransport | None = None
    retry: RetryPolicy | None = None
    sleep: Callable[[float], None] = time.sleep
    browse: Callable[[str], bool] = webbrowser.open
    watch: Callable[[Path], Changes] = watch_changes


@dataclass(kw_only=True)
class Session:
    """One run of the command."""

    wiring: Wiring
    output: Output
    api: str | None
    key: str | None
    endpoint: Path | None
    _client: Vitrine | None = None

    @functools.cached_property
    def connection(self) -> config.Connection:
        return config.resolve(
            api=self.api,
            key=self.key,
            endpoint=self.endpoint,
            environment=self.wiring.environment,
            login=self.wiring.login_path,
        )

    @property
    def client(self) -> Vitrine:
        """The client, created when it is first needed."""
        if self._client is None:
            self._client = self.connect(self.connection)
        return self._client

    @functools.cached_property
    def journal(self) -> Journal:
        """The record of unfinished uploads from this machine to the deployment."""
        return Journal(self.wiring.journal_folder, self.client.api_url)

    def connect(self, connection: config.Connection) -> Vitrine:
        client = Vitrine(
            connection.api,
            connection.key,
            retry=self.wiring.retry,
            api_transport=self.wiring.api_transport,
            storage_transport=self.wiring.storage_transport,
            sleep=self.wiring.sleep,
        )
        if not self.output.as_json:
            client.pauses.say = self.output.say
        return client

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask for confirmation, unless `yes` is set.

        Raises:
            ConfigurationError: there is no terminal.
            typer.Abort: the user declined.
        """
        if yes:
            return
        if not self.output.err.is_terminal:
            raise ConfigurationError("no terminal to ask for confirmation: use --yes")
        typer.confirm(question, abort=True, err=True)

    def asset_ids(self, database: str, asset: str, *, archived: bool = False) -> AssetIds:
        """Return the ids of an asset, by its id or its name."""
        return database, find_asset(self.client, database, asset, archived=archived).asset_id

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


def exit_code(error: Exception) -> int:
    """Return the command's exit code for an error."""
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), FAILED)


def command(
    name: str,
) -> Callable[[Callable[Concatenate[Session, Parameters], None]], Callable[..., None]]:
    """Register a function as the command of this name.

    It receives a session, the shared options are added to its own, and its errors become exit
    codes. The name begins with the command's group, which `app.GROUPS` declares.
    """

    def register(
        function: Callable[Concatenate[Session, Parameters], None],
    ) -> Callable[..., None]:
        COMMANDS[name] = _with_session(function)
        return COMMANDS[name]

    return register


def _with_session(
    command: Callable[Concatenate[Session, Parameters], None],
) -> Callable[..., None]:

    @functools.wraps(command)
    def run(
        ctx: typer.Context,
        api: str | None,
        key: str | None,
        endpoint: Path | None,
        as_json: bool,
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> None:
        wiring = ctx.obj if isinstance(ctx.obj, Wiring) else Wiring()
        output = Output(Console(), Console(stderr=True), as_json=as_json)
        session = Session(wiring=wiring, output=output, api=api, key=key, endpoint=endpoint)
        try:
            try:
                arguments = {name: _compose_value(name, value) for name, value in kwargs.items()}
                _check_no_blanks(ctx, arguments)
                command(session, *args, **arguments)
            finally:
                output.flush()
        except BrokenPipeError:  # the reader has closed the pipe: Typer ends silently
            raise
        except UnicodeEncodeError as error:
            # So Python reads the bytes of an argument that are not UTF-8.
            fact = f"{error.object[error.start]!a} in an argument is not valid Unicode"
            output.error(fact, code=None, request_id=None)
            raise typer.Exit(2) from error
        except (VitrineError, OSError) as error:
            message, code, request_id = str(error), None, None
            if isinstance(error, ApiError):
                message = name_parameters(message, ctx)
                code, request_id = error.code, error.request_id
            output.error(message, code=code, request_id=request_id)
            raise typer.Exit(exit_code(error)) from error
        finally:
            session.close()

    _set_signature(run, command)
    return run


def _check_no_blanks(ctx: typer.Context, arguments: Mapping[str, object]) -> None:
    """Require that each value of a repeatable option or argument has text.

    A blank one is a variable of a script that is not set; it never means "none".

    Raises:
        ConfigurationError: one is blank.
    """
    for parameter in ctx.command.params:
        values = arguments.get(parameter.name or "")
        if isinstance(values, list) and not all(
            str(value).strip() for value in cast("list[object]", values)
        ):
            option = parameter.opts[0]
            name = option if option.startswith("-") else option.upper()
            raise ConfigurationError(f"{name} has an empty value")


def _compose_value(name: str, value: object) -> Any:
    """Return names in NFC, as the contract has them: macOS completes them in another form."""
    if name in _VERBATIM:
        return value
    if isinstance(value, list):
        return [_compose_value(name, element) for element in cast("list[object]", value)]
    return compose_name(value) if type(value) is str else value


def _set_signature(run: Callable[..., None], command: Callable[..., None]) -> None:
    """Set the signature for Typer: the command's own parameters and the shared ones."""
    kind = inspect.Parameter.KEYWORD_ONLY
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    shared = [
        inspect.Parameter("ctx", kind, annotation=typer.Context),
        inspect.Parameter("api", kind, default=None, annotation=ApiOption),
        inspect.Parameter("key", kind, default=None, annotation=KeyOption),
        inspect.Parameter("endpoint", kind, default=None, annotation=EndpointOption),
        inspect.Parameter("as_json", kind, default=False, annotation=JsonOption),
    ]
    parameters = [*(parameter.replace(kind=kind) for parameter in own), *shared]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
