"""Builds the rows of a new asset and of its first version. Pure."""

from typing import NamedTuple

from backend.domains.assets.models import (
    FIRST_VERSION,
    Asset,
    AssetVersion,
    CurrentVersion,
    Location,
    NewAsset,
)

# The first `inheritedRevision` of an asset that is created from a folder. Its files exist already,
# and are indexed as after a change of inherited attributes.
_WITH_FILES = 2


class PlannedAsset(NamedTuple):
    """An asset that may be created, and the prefixes between its bucket's base and its own."""

    asset: Asset
    ancestors: tuple[str, ...]


def new_asset(
    body: NewAsset,
    asset_id: str,
    *,
    by: str,
    at: str,
    bucket_id: str,
    prefix: str,
    with_files: bool,
    is_empty: bool = False,
) -> Asset:
    """Return a new asset that is not written yet.

    `with_files` is true if it is made of a folder, `is_empty` if there is no object of it.
    """
    version = CurrentVersion(
        version=FIRST_VERSION,
        date_modified=at,
        comment="The asset was created",
        description=body.description,
        created_by=by,
    )
    return Asset(
        database_id=body.database_id,
        asset_id=asset_id,
        asset_name=body.asset_name,
        description=body.description,
        is_distributable=body.is_distributable,
        tags=body.tags or [],
        bucket_id=bucket_id,
        asset_location=Location(key=prefix),
        current_version=version,
        created_at=at,
        created_by=by,
        updated_at=at,
        inherited_revision=_WITH_FILES if with_files else 1,
        typed_files=[] if is_empty else None,
    )


def first_version(asset: Asset) -> AssetVersion:
    """Return the row of the version that a new asset names as its current one."""
    version = asset.current_version
    return AssetVersion(
        asset_version_id=version.version,
        comment=version.comment,
        description=version.description,
        date_created=version.date_modified,
        created_at=version.date_modified,
        created_by=version.created_by,
    )
