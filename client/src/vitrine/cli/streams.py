"""Commands that print content of files, and that store files together with their asset."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from vitrine.cli.options import AssetArgument, DatabaseArgument
from vitrine.cli.session import FAILED, Session, command
from vitrine.errors import ConfigurationError
from vitrine.lookup import find_asset
from vitrine.resources.streams import Source
from vitrine.transfer.ingesting import Described, ingest_files

FilesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILE...", exists=True, dir_okay=False, readable=True)
]


@command("cat")
def cat(  # noqa: PLR0913, PLR0917 - a parameter for each option; Typer calls it by name
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Path of a file in the asset.")],
    start: Annotated[int, typer.Option("--from", min=0, help="First byte of a range.")] = 0,
    end: Annotated[
        int | None, typer.Option("--to", min=1, help="End of the range, exclusive.")
    ] = None,
    version: Annotated[
        str | None, typer.Option(help="Asset version to read the file from.")
    ] = None,
    viewer: Annotated[
        bool, typer.Option("--viewer", help="Read a file generated for viewers.")
    ] = False,
    head: Annotated[bool, typer.Option("--head", help="Show only size and type.")] = False,
) -> None:
    """Write the bytes of a file to standard output."""
    if end is not None and end <= start:
        raise ConfigurationError("--to must be greater than --from")
    asset_reply = find_asset(session.client, database, asset)
    source = Source(
        database_id=database,
        asset_id=asset_reply.asset_id,
        path=path,
        prefix=asset_reply.asset_location.key if asset_reply.asset_location else None,
        family="viewer" if viewer else "file",
        asset_version_id=version,
    )
    if head:
        reply = session.client.streams.head(source)
        cells = {"type": reply.content_type, "etag": reply.etag, "version": reply.version_id}
        names = {"type": "contentType", "version": "versionId"}
        facts = {names.get(name, name): value for name, value in cells.items()}
        session.output.reply({"size": reply.size, **facts}, size=reply.size, **cells)
        return
    if session.output.as_json:
        raise ConfigurationError("--json can be used only with --head")
    with session.client.streams.open(source, start=start, end=end) as pieces:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


@command("ingest")
def ingest(
    session: Session,
    database: DatabaseArgument,
    asset_id: Annotated[str, typer.Argument(metavar="ASSET_ID")],
    files: FilesArgument,
    name: Annotated[str | None, typer.Option(help="Name; default: the id.")] = None,
    description: Annotated[
        str | None, typer.Option(help="Description; 4 to 256 characters.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Tag; may be repeated.")] = None,
) -> None:
    """Upload files to an asset, created if it does not exist."""
    described = Described(
        database_id=database,
        asset_id=asset_id,
        asset_name=name or asset_id,
        description=description or f"Asset {asset_id}",
        tags=tuple(tag or ()),
    )
    result = ingest_files(session.client, described, files)
    session.output.document(result.wire())
    session.output.rows(
        ["file", "outcome"],
        [
            [
                file_result.relative_key,
                "stored" if file_result.success else file_result.error or "failed",
            ]
            for file_result in result.file_results
        ],
    )
    if not result.overall_success:
        raise typer.Exit(FAILED)
