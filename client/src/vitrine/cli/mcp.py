"""The command that serves a client of the Model Context Protocol, such as an assistant."""

from pathlib import Path
from typing import Annotated

import typer

from vitrine.cli.session import Session, command
from vitrine.errors import ConfigurationError


@command("mcp")
def mcp(
    session: Session,
    folder: Annotated[
        Path,
        typer.Option(
            help="The only folder that files are downloaded to and uploaded from.",
            exists=True,
            file_okay=False,
        ),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Also offer tools that change assets.")
    ] = False,
) -> None:
    """Serve an assistant by the Model Context Protocol.

    It is started by the assistant's program, on standard input and output. Without --write, no
    asset is changed. Tools that replace, remove or archive something ask the user through the
    assistant's program, and are refused where it cannot ask.
    """
    try:
        from vitrine.mcp_server.server import build_server  # noqa: PLC0415 - of an extra
    except ImportError as error:
        fact = "this command needs the protocol's SDK: pip install 'vitrine-client[mcp]'"
        raise ConfigurationError(fact) from error
    build_server(session.client, folder, write=write).run("stdio")
