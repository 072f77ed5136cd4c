"""Commands of the audit trail: list entries, show a large value."""

import json
from itertools import islice
from typing import Annotated

import typer

from vitrine.cli.session import Session, with_session
from vitrine.errors import ConfigurationError
from vitrine.resources.audit import AuditEntry

_SHOWN_CHARS = 60


@with_session
def list_entries(
    session: Session,
    entity: Annotated[
        str | None,
        typer.Option(help="What was changed (asset:museum:statue) or read (read:asset:…)."),
    ] = None,
    user: Annotated[str | None, typer.Option(help="Who changed it.")] = None,
    since: Annotated[
        str | None, typer.Option("--from", help="The first day or time (ISO 8601).")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", help="The last day or time (ISO 8601).")
    ] = None,
    denied: Annotated[
        bool, typer.Option("--denied", help="What was refused instead, of the entity or the user.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Entries at the most.")] = 100,
) -> None:
    """List who changed what, newest first; --entity or --user says of what, or of whom."""
    if (entity is None) == (user is None):
        raise ConfigurationError("give --entity or --user")
    if denied and entity is not None:
        entity = f"denial:{entity}"
    listed = session.client.audit.list(
        entity=entity, user_id=user, since=since, until=until, page_size=min(limit + 1, 100)
    )
    wanted = (one for one in listed if one.denied is not None or not denied)
    found = list(islice(wanted, limit + 1))
    if len(found) > limit:
        session.output.say(f"There are more than {limit}: --limit shows them")
        del found[limit:]
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["at", "user", "operation", "entity", "changes"],
        [[one.at, one.user_id, one.operation, one.entity, _changes(one)] for one in found],
    )


@with_session
def show_value(
    session: Session,
    sha256: Annotated[str, typer.Argument(help="As an entry names it.")],
    entity: Annotated[str, typer.Option(help="What the entry is about.")],
    at: Annotated[str, typer.Option(help="The time of the entry.")],
) -> None:
    """Show a value that is too large for the entry that refers to it."""
    found = session.client.audit.value(sha256, entity=entity, at=at)
    session.output.document(found.wire())
    session.output.rows(["value"], [[json.dumps(found.value, ensure_ascii=False)]])


def _changes(entry: AuditEntry) -> str:
    if entry.denied is not None:
        told = f"refused: {entry.denied.route}"
        return told + (f" and {entry.denied.left_out} before" if entry.denied.left_out else "")
    if entry.read is not None:
        given = "URLs" if entry.read.urls else "bytes" if entry.read.files else "description"
        return f"read: {given} of {entry.read.file_count} files"
    if entry.changes_stored is not None:
        return f"very many, see the value {entry.changes_stored.sha256}"
    names = ", ".join(entry.changes)
    return names if len(names) <= _SHOWN_CHARS else names[: _SHOWN_CHARS - 1] + "…"
