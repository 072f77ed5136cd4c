"""The command that shows events."""

from typing import Annotated

import typer

from vitrine.cli.session import Session, command
from vitrine.errors import ConfigurationError
from vitrine.event_feed import receive_events


@command("events")
def show_events(
    session: Session,
    follow: Annotated[bool, typer.Option("--follow", help="Wait for events until Ctrl-C.")] = False,
) -> None:
    """Show new events of a local runtime.

    This needs --endpoint. Each event is shown to one of several readers, at least once.
    """
    feed = session.connection.event_feed
    if feed is None:
        raise ConfigurationError(
            "events can be shown only of a local runtime with the setting events=queue: give "
            "--endpoint"
        )
    for event in receive_events(feed, follow=follow, http=session.wiring.admin_transport):
        detail = event.detail
        session.output.document(event.wire())
        if not session.output.as_json:
            place = f"{detail.database_id}/{detail.asset_id}{detail.file_path}"
            cells = (detail.at, str(detail.number), event.type, place, detail.actor)
            session.output.line("\t".join(cell.replace("\t", " ") for cell in cells))
        session.output.flush()
