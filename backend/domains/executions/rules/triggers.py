"""Decides which uploads start workflows. Pure."""

from collections.abc import Iterable, Mapping

from backend.core.file_kinds import is_asset_preview, is_file, is_preview
from backend.domains.assets.models import Asset
from backend.domains.buckets.models import AssetBucket
from backend.domains.executions.models.events import UploadedObject
from backend.spec.buckets import WORKFLOWS_METADATA
from backend.spec.key_layouts import RESERVED_FOLDERS

# Workflows that start one another with their outputs. The chain is in the object's metadata, so
# each workflow runs once; this bounds chains of different ones.
MAX_DEPTH = 5


def bucket_of(upload: UploadedObject, buckets: Iterable[AssetBucket]) -> AssetBucket | None:
    """Return the bucket record of an object that may be a file of an asset.

    None for objects that no asset can own: outside all base prefixes, below a reserved folder, in
    no folder, or a folder itself.
    """
    for bucket in buckets:
        base = bucket.key_prefix
        if bucket.bucket_name == upload.bucket and upload.key.startswith(base):
            first, slash, rest = upload.key.removeprefix(base).partition("/")
            may_be_owned = slash and rest and first not in RESERVED_FOLDERS
            return bucket if may_be_owned and is_file(upload.key) else None
    return None


def path_of(asset: Asset, upload: UploadedObject) -> str:
    """Return the path of an object in its asset."""
    return f"/{upload.key.removeprefix(asset.asset_location.key)}"


def may_start(asset: Asset, upload: UploadedObject) -> bool:
    """Return whether a file of an asset can start workflows: previews start none."""
    if not is_file(upload.key) or is_preview(path_of(asset, upload)):
        return False
    return not is_asset_preview(asset.asset_location.key, upload.key)


def chain_of(metadata: Mapping[str, str]) -> list[str]:
    """Return the keys of the workflows whose executions led to a version of an object."""
    return [key for key in metadata.get(WORKFLOWS_METADATA, "").split(",") if key]


def may_continue(chain: list[str], workflow_key: str) -> bool:
    """Return whether a workflow may start on an output of this chain of workflows."""
    return len(chain) < MAX_DEPTH and workflow_key not in chain


def run_name(workflow_key: str, upload: UploadedObject, version_id: str) -> str:
    """Return the name of the run of a workflow on a version of a file.

    The execution's id follows from it: an event that is repeated starts the run once. So does a
    renewal: another job may start the run again, for example after it failed.
    """
    first = "run" if upload.renewal is None else f"renewal {upload.renewal.job_id}"
    return "\n".join((first, workflow_key, upload.bucket, upload.key, version_id))
