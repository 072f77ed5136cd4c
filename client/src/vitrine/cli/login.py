"""The command that saves an address and a key."""

import typer

from vitrine.cli.session import Session, command
from vitrine.config import write_login
from vitrine.errors import ConfigurationError


@command("login")
def login(session: Session) -> None:
    """Check an address and a key, and save them for this user."""
    connection = session.connection
    if connection.key is None:
        if not session.output.err.is_terminal:
            raise ConfigurationError("no API key: give --key, or set VITRINE_API_KEY")
        key = typer.prompt("API key", hide_input=True, err=True)
        connection = connection.model_copy(update={"key": str(key).strip()})
    with session.connect(connection) as client:
        answer = client.version.get()
        next(client.databases.list(page_size=1), None)
    path = session.wiring.login_path
    write_login(path, connection)
    session.output.document({"api": connection.api, "version": answer.version, "file": str(path)})
    if not session.output.as_json:
        session.output.line(f"logged in to {connection.api}; saved in {path}")
