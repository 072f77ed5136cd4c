"""Commands of the audit log: list entries, show a large value."""

import json
from itertools import islice
from typing import Annotated

import typer

from vitrine.cli.session import Session, command
from vitrine.errors import ConfigurationError
from vitrine.resources.audit import AuditEntry

# So that a row fits a line of a terminal.
_SHOWN_CHARS = 60


@command("audit list")
def list_entries(
    session: Session,
    entity: Annotated[
        str | None,
        typer.Option(
            help="The changed object (asset:museum:statue), or the asset read (read:asset:…)."
        ),
    ] = None,
    user: Annotated[str | None, typer.Option(help="The user who made the change.")] = None,
    since: Annotated[
        str | None, typer.Option("--from", help="Start date or time, ISO 8601, inclusive.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", help="End date or time, ISO 8601, inclusive.")
    ] = None,
    denied: Annotated[
        bool, typer.Option("--denied", help="Show refused requests instead of changes.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of entries.")] = 100,
) -> None:
    """List audit entries of an object (--entity) or a user (--user), newest first."""
    if (entity is None) == (user is None):
        raise ConfigurationError("give --entity or --user")
    if denied and entity is not None:
        entity = f"denial:{entity}"
    listed = session.client.audit.list(
        entity=entity, user_id=user, since=since, until=until, page_size=min(limit + 1, 100)
    )
    wanted = (entry for entry in listed if entry.denied is not None or not denied)
    entries = list(islice(wanted, limit + 1))
    if len(entries) > limit:
        session.output.say(f"more than {limit} entries; use --limit to see more")
        del entries[limit:]
    session.output.items(
        entries,
        ["at", "user", "operation", "entity", "changes"],
        lambda entry: [entry.at, entry.user_id, entry.operation, entry.entity, _changes(entry)],
    )


@command("audit value")
def show_value(
    session: Session,
    sha256: Annotated[str, typer.Argument(help="Hash as shown in the entry.")],
    entity: Annotated[str, typer.Option(help="Object of the entry.")],
    at: Annotated[str, typer.Option(help="Time of the entry.")],
) -> None:
    """Show a value that is stored outside its audit entry."""
    value = session.client.audit.value(sha256, entity=entity, at=at)
    session.output.reply(value, value=json.dumps(value.value, ensure_ascii=False))


def _changes(entry: AuditEntry) -> str:
    if entry.denied is not None:
        text = f"refused: {entry.denied.route}"
        return text + (f" and {entry.denied.left_out} before" if entry.denied.left_out else "")
    if entry.read is not None:
        delivered = "URLs" if entry.read.urls else "bytes" if entry.read.files else "description"
        return f"read: {delivered} of {entry.read.file_count} files"
    if entry.changes_stored is not None:
        return f"too many to show, see the value {entry.changes_stored.sha256}"
    names = ", ".join(entry.changes)
    return names if len(names) <= _SHOWN_CHARS else names[: _SHOWN_CHARS - 1] + "…"
