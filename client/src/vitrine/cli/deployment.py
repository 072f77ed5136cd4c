"""Commands that show the version, the settings and the API of a deployment."""

import json

from vitrine.cli.session import Session, command


@command("version")
def version(session: Session) -> None:
    """Print the server's version."""
    answer = session.client.version.get()
    session.output.reply(
        answer, contract=answer.version, product=answer.product_version or "unknown"
    )


@command("settings")
def settings(session: Session) -> None:
    """Show the sign-in settings and enabled features."""
    configuration = session.client.configuration
    values = configuration.sign_in().wire() | configuration.switches().wire()
    session.output.document(values)
    session.output.rows(["setting", "value"], [[name, value] for name, value in values.items()])


@command("openapi")
def openapi(session: Session) -> None:
    """Print the OpenAPI document of the deployment."""
    session.output.json(json.dumps(session.client.configuration.openapi(), ensure_ascii=False))
