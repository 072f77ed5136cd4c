"""Commands for the metadata of databases, assets and files."""

from pathlib import Path
from typing import Annotated

import httpx
import typer

from vitrine.api_models import EditMetadataBody, EntityResult
from vitrine.cli.options import AssetArgument, DatabaseArgument
from vitrine.cli.session import FAILED, Session, command
from vitrine.cli.standard_streams import read_json
from vitrine.lookup import find_asset
from vitrine.models import BulkResult, Metadata, MetadataType
from vitrine.resources.metadata import MetadataOwner

FileOption = Annotated[str | None, typer.Option("--file", help="Path of a file in the asset.")]
EditsHelp = (
    'JSON file: {"entities": [{"databaseId": …, "assetId": …, "filePath": …, "metadata": '
    '[{"metadataKey": …, "metadataValue": …, "metadataValueType": …, "expectedValue": …}], '
    '"removals": [{"metadataKey": …, "expectedValue": …}]}]}; - reads standard input.'
)
REQUEST_ENTITIES = 50
KeysArgument = Annotated[list[str], typer.Argument(metavar="KEY…")]


@command("metadata get")
def get_metadata(
    session: Session, database: DatabaseArgument, asset: AssetArgument, file: FileOption = None
) -> None:
    """Show the metadata of an asset, or of one of its files."""
    _show(session, _owner(session, database, asset, file))


@command("metadata set")
def set_metadata(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    metadata_key: Annotated[str, typer.Argument(metavar="KEY")],
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    kind: Annotated[MetadataType, typer.Option("--type")] = MetadataType.STRING,
    file: FileOption = None,
) -> None:
    """Add or change one metadata value of an asset, or of one of its files."""
    owner = _owner(session, database, asset, file)
    record = Metadata(metadata_key=metadata_key, metadata_value=value, metadata_value_type=kind)
    result = session.client.metadata.set(owner, [record])
    session.output.document(result.wire())
    _fail_if_failed(session, result)
    session.output.rows(["key", "value"], [[metadata_key, value]])


def _owner(
    session: Session, database: str, asset: str, file: str | None, *, attribute: bool = False
) -> MetadataOwner:
    return MetadataOwner(
        database_id=database,
        asset_id=find_asset(session.client, database, asset).asset_id,
        file_path=None if file is None else "/" + file.lstrip("/"),
        kind="attribute" if attribute else "metadata",
    )


def _show(session: Session, owner: MetadataOwner) -> None:
    session.output.items(
        session.client.metadata.list(owner),
        ["key", "value", "type"],
        lambda record: [record.metadata_key, record.metadata_value, record.metadata_value_type],
    )


@command("metadata remove")
def remove_metadata(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    keys: KeysArgument,
    file: FileOption = None,
    attribute: Annotated[
        bool,
        typer.Option("--attribute", help="Use the attributes of the file instead of its metadata."),
    ] = False,
) -> None:
    """Remove metadata from an asset, or from one of its files."""
    owner = _owner(session, database, asset, file, attribute=attribute)
    _print_result(session, session.client.metadata.remove(owner, keys))


@command("metadata edit")
def edit_metadata(
    session: Session, edits: Annotated[Path, typer.Argument(metavar="FILE", help=EditsHelp)]
) -> None:
    """Change the metadata of many assets, files, databases and links if it is as expected.

    Each is changed as a whole or not at all. A file may be sent again.
    """
    entities = list(read_json(edits, EditMetadataBody).entities)
    results: list[EntityResult] = []
    while entities:
        part, entities = entities[:REQUEST_ENTITIES], entities[REQUEST_ENTITIES:]
        results.extend(session.client.metadata.edit(part).results)
    session.output.items(
        iter(results),
        ["entity", "status", "message"],
        lambda result: [
            result.asset_link_id
            or "/".join(filter(None, (result.database_id, result.asset_id)))
            + (result.file_path or ""),
            result.status,
            result.message,
        ],
    )
    if any(result.status >= httpx.codes.BAD_REQUEST for result in results):
        raise typer.Exit(FAILED)


@command("databases metadata get")
def get_of_database(session: Session, database: DatabaseArgument) -> None:
    """Show the metadata of a database."""
    _show(session, MetadataOwner(database_id=database))


@command("databases metadata set")
def set_of_database(
    session: Session,
    database: DatabaseArgument,
    metadata_key: Annotated[str, typer.Argument(metavar="KEY")],
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    kind: Annotated[MetadataType, typer.Option("--type")] = MetadataType.STRING,
) -> None:
    """Add or change one metadata value of a database."""
    record = Metadata(metadata_key=metadata_key, metadata_value=value, metadata_value_type=kind)
    owner = MetadataOwner(database_id=database)
    _print_result(session, session.client.metadata.set(owner, [record]))


@command("databases metadata remove")
def remove_of_database(session: Session, database: DatabaseArgument, keys: KeysArgument) -> None:
    """Remove metadata from a database."""
    owner = MetadataOwner(database_id=database)
    _print_result(session, session.client.metadata.remove(owner, keys))


def _print_result(session: Session, result: BulkResult) -> None:
    """Print the result, and fail if a part of it failed."""
    session.output.document(result.wire())
    session.output.rows(["key"], [[str(key)] for key in result.successful_items])
    _fail_if_failed(session, result)


def _fail_if_failed(session: Session, result: BulkResult) -> None:
    for failed in result.failed_items:
        session.output.say(f"error: {failed.key}: {failed.error}")
    if result.failed_items:
        raise typer.Exit(FAILED)
