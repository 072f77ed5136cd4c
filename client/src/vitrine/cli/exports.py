"""The command that exports assets."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vitrine.cli.options import AssetArgument, DatabaseArgument
from vitrine.cli.output import escape_json, size_text
from vitrine.cli.session import Session, command
from vitrine.cli.standard_streams import is_standard
from vitrine.lookup import find_asset
from vitrine.resources.exports import ExportedAsset, ExportFlags, ExportPage, UnseenAsset


class Depth(StrEnum):
    ALONE = "alone"
    CHILDREN = "children"
    TREE = "tree"


class Added(StrEnum):
    URLS = "urls"
    PARENTS = "parents"
    ARCHIVED = "archived"
    FOLDERS = "folders"


class LeftOut(StrEnum):
    METADATA = "metadata"
    UNTYPED = "untyped"


AddOption = Annotated[
    list[Added] | None, typer.Option("--add", help="Additional data to export; may be repeated.")
]
LeaveOutOption = Annotated[
    list[LeftOut] | None,
    typer.Option("--leave-out", help="Data to leave out; may be repeated."),
]
ExtensionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--extension", help="Only files with this extension, such as .glb; may be repeated."
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Output file, one page of JSON a line; - is standard output."
    ),
]


@command("export")
def export(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    depth: Annotated[Depth, typer.Option(help="Depth of the tree.")] = Depth.CHILDREN,
    add: AddOption = None,
    leave_out: LeaveOutOption = None,
    extension: ExtensionOption = None,
    output: OutputOption = None,
) -> None:
    """Export an asset and its tree.

    With --json or --output, the pages are written as the server returned them.
    """
    asset_id = find_asset(session.client, database, asset).asset_id
    added, without = add or (), leave_out or ()
    has_metadata = LeftOut.METADATA not in without
    flags = ExportFlags(
        generate_presigned_urls=Added.URLS in added,
        include_folder_files=Added.FOLDERS in added,
        include_only_primary_type_files=LeftOut.UNTYPED in without,
        include_file_metadata=has_metadata,
        include_asset_link_metadata=has_metadata,
        include_asset_metadata=has_metadata,
        fetch_asset_relationships=depth is not Depth.ALONE,
        fetch_entire_children_subtrees=depth is Depth.TREE,
        include_parent_relationships=Added.PARENTS in added,
        include_archived_files=Added.ARCHIVED in added,
        file_extensions=tuple(extension or ()),
    )
    to_file = None if output is None or is_standard(output) else output
    if to_file is not None:
        to_file.write_text("", encoding="utf-8")
    hidden = 0
    for page in session.client.exports.pages(database, asset_id, flags):
        hidden = page.unauthorized_asset_count
        line = json.dumps(page.wire(), ensure_ascii=False)
        if output is None:
            session.output.document(page.wire())
            session.output.rows(["database", "asset", "name", "files", "size"], _rows(page))
        elif to_file is None:
            session.output.json(line)
        else:
            with to_file.open("a", encoding="utf-8") as file:
                file.write(f"{escape_json(line)}\n")
    if hidden:
        session.output.say(f"{hidden} more without permission to see them")


def _rows(page: ExportPage) -> list[tuple[str, ...]]:
    return [_row(asset) for asset in page.assets]


def _row(asset: ExportedAsset | UnseenAsset) -> tuple[str, ...]:
    if isinstance(asset, UnseenAsset):
        return asset.database_id, asset.asset_id, "(not visible)", "", ""
    size = sum(file.size or 0 for file in asset.files)
    count = len(asset.files)
    return asset.database_id, asset.asset_id, asset.asset_name, str(count), size_text(size)
