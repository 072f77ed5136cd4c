"""Commands that show the settings and the API of a deployment, and single files and comments."""

import json
from typing import Annotated

import typer

from vitrine.cli.commenting import KeyArgument
from vitrine.cli.output import size_text
from vitrine.cli.reading import AssetArgument, DatabaseArgument
from vitrine.cli.session import Session, with_session
from vitrine.lookup import find_asset


@with_session
def settings(session: Session) -> None:
    """Show the sign-in settings and the enabled features of the deployment."""
    configuration = session.client.configuration
    found = configuration.sign_in().wire() | configuration.switches().wire()
    session.output.document(found)
    session.output.rows(["setting", "value"], [[name, value] for name, value in found.items()])


@with_session
def openapi(session: Session) -> None:
    """Print the OpenAPI document of the deployment."""
    session.output.line(json.dumps(session.client.configuration.openapi(), ensure_ascii=False))


@with_session
def fields(session: Session) -> None:
    """List the fields that can be searched, by index."""
    found = session.client.search.mappings()
    session.output.document(found)
    rows: list[list[object]] = []
    for index, entry in sorted(found.items()):
        mapping = entry.get("mappings") if isinstance(entry, dict) else None
        properties = mapping.get("properties") if isinstance(mapping, dict) else None
        for name, field in (properties if isinstance(properties, dict) else {}).items():
            rows.append([index, name, field.get("type") if isinstance(field, dict) else None])
    session.output.rows(["index", "field", "type"], rows)


@with_session
def show_file(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Such as /parts/1.glb.")],
) -> None:
    """Show a file with its versions."""
    asset_id = find_asset(session.client, database, asset).asset_id
    wanted = "/" + path.lstrip("/")
    found = session.client.files.info(database, asset_id, wanted, include_versions=True)
    session.output.document(found.wire())
    session.output.rows(
        ["version", "changed", "size", "state"],
        [
            [
                one.version_id,
                one.last_modified,
                size_text(one.size),
                "archived" if one.is_archived else "latest" if one.is_latest else "",
            ]
            for one in found.versions or ()
        ],
    )
    if found.not_inspected is not None:
        session.output.say(f"no facts, thumbnail or GLB: {found.not_inspected}")


@with_session
def show_comment(
    session: Session, database: DatabaseArgument, asset: AssetArgument, comment: KeyArgument
) -> None:
    """Show one comment."""
    asset_id = find_asset(session.client, database, asset).asset_id
    found = session.client.comments.get(asset_id, comment)
    session.output.reply(
        found,
        key=found.key,
        by=found.comment_owner_id,
        at=found.date_edited or found.date_created,
        text=found.comment_body,
    )
