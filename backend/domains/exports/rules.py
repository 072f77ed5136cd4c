"""The content of a page for an asset, and the order of assets on pages. Pure."""

from collections.abc import Iterable, Iterator

from backend.core.names import extension_of
from backend.core.paging import Position
from backend.core.references import AssetRef
from backend.domains.asset_links.models import Edge
from backend.domains.exports.models import ExportBody, ExportedRelationship, ExportedValues
from backend.domains.files.models import FileItem

# Length of a page's JSON. Also when escaped, or as base64 of gzip, it is below the 6 MB of a reply.
PAGE_CHARS = 3_500_000
_ASSET, _FILES = "asset", "files"


def is_wanted(item: FileItem, wanted: ExportBody) -> bool:
    """Return whether the flags include a row of the listing."""
    if wanted.include_only_primary_type_files and not item.primary_type:
        return False
    if item.is_folder:
        return wanted.include_folder_files
    extensions = {extension.lower() for extension in wanted.file_extensions or ()}
    return not extensions or extension_of(item.relative_path) in extensions


def remaining_assets(
    root: AssetRef, members: Iterable[AssetRef], after: Position | None
) -> Iterator[AssetRef]:
    """Return the assets of this page and later ones: the root, then all others by their ids."""
    # By ids alone: assets that are added or removed between two pages do not move others.
    order = sorted(members, key=lambda node: _place(root, node))
    if after is None:
        return iter(order)
    last = _place(root, AssetRef(*after[_ASSET]))
    begins_within = _FILES in after
    return (
        node
        for node in order
        if (place := _place(root, node)) > last or (begins_within and place == last)
    )


def _place(root: AssetRef, node: AssetRef) -> tuple[bool, AssetRef]:
    return node != root, node


def position_after(node: AssetRef, files: Position | None = None) -> Position:
    """Return the position after an asset; with `files`, the position within its listing."""
    at = {_ASSET: [node.database_id, node.asset_id]}
    return at if files is None else {**at, _FILES: dict(files)}


def files_after(node: AssetRef, after: Position | None) -> Position | None:
    """Return the position in the listing of an asset's files."""
    if after is None or AssetRef(*after[_ASSET]) != node:
        return None
    return after.get(_FILES)


def relationship(
    ends: tuple[AssetRef, AssetRef], edge: Edge, metadata: ExportedValues
) -> ExportedRelationship:
    """Return a link from a parent to a child."""
    parent, child = ends
    return ExportedRelationship(
        parent_asset_id=parent.asset_id,
        parent_asset_database_id=parent.database_id,
        child_asset_id=child.asset_id,
        child_asset_database_id=child.database_id,
        asset_link_type="parentChild",
        asset_link_id=edge.asset_link_id,
        asset_link_alias_id=edge.asset_link_alias_id,
        metadata=metadata,
    )


def hidden_relationship(ends: tuple[AssetRef, AssetRef], edge: Edge) -> ExportedRelationship:
    """Return a link to an asset that the caller may not see, with ids only."""
    return relationship(ends, edge, {}).model_copy(update={"asset_link_alias_id": None})
