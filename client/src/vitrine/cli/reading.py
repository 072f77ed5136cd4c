"""Commands that only read: version, ls, get."""

from typing import Annotated

import typer

from vitrine.cli.output import size_text
from vitrine.cli.session import Session, with_session
from vitrine.lookup import find_asset

DatabaseArgument = Annotated[str, typer.Argument(metavar="DATABASE")]
ProcessingOption = Annotated[
    bool | None,
    typer.Option(
        "--processing/--no-processing", help="Run the built-in workflows on uploaded files."
    ),
]
AssetArgument = Annotated[str, typer.Argument(metavar="ASSET", help="Id or name of an asset.")]


@with_session
def version(session: Session) -> None:
    """Print the server's version."""
    answer = session.client.version.get()
    session.output.reply(
        answer, contract=answer.version, product=answer.product_version or "unknown"
    )


@with_session
def ls(
    session: Session,
    database: Annotated[str | None, typer.Argument(metavar="DATABASE")] = None,
    asset: Annotated[str | None, typer.Argument(metavar="ASSET")] = None,
) -> None:
    """List databases, the assets of a database, or the files of an asset."""
    if database is None:
        _list_databases(session)
    elif asset is None:
        _list_assets(session, database)
    else:
        _list_files(session, database, asset)


def _list_databases(session: Session) -> None:
    session.output.items(
        session.client.databases.list(),
        ["database", "assets", "description"],
        lambda one: [one.database_id, one.asset_count, one.description],
    )


def _list_assets(session: Session, database: str) -> None:
    session.client.databases.get(database)
    session.output.items(
        session.client.assets.list(database),
        ["asset", "name", "type", "tags"],
        lambda one: [one.asset_id, one.asset_name, one.asset_type, " ".join(one.tags or ())],
    )


def _list_files(session: Session, database: str, asset: str) -> None:
    asset_id = find_asset(session.client, database, asset).asset_id
    session.output.items(
        session.client.files.list(database, asset_id, basic=True, page_size=1_500),
        ["path", "size", "changed"],
        lambda one: [one.relative_path, size_text(one.size), one.date_created_current_version],
    )


@with_session
def get(session: Session, database: DatabaseArgument, asset: AssetArgument) -> None:
    """Show one asset."""
    found = find_asset(session.client, database, asset).wire()
    session.output.document(found)
    session.output.rows(["field", "value"], [[name, value] for name, value in found.items()])
