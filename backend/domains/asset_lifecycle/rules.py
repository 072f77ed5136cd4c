"""The changes of an asset's row, and the rows that a deleted asset leaves. Pure."""

from backend.domains.assets.models import Asset
from backend.spec import keys
from backend.spec.jobs import JobKind
from backend.spec.tables import assets, metadata, registry, workflows
from backend.spec.tables.model import Index, Table
from backend.values import frozen


@frozen
class Traces:
    """Rows that an asset leaves: those of one partition of a table, or of an index."""

    table: Table
    partition: str
    index: Index | None = None


def archived_form(asset: Asset, *, by: str, at: str, reason: str | None, job_id: str) -> Asset:
    """Return the asset in archived form, which its files inherit."""
    return _move_asset(
        asset,
        at,
        job_id,
        status="archived",
        archived_at=at,
        archived_by=by,
        archived_reason=reason,
    )


def unarchived_form(asset: Asset, *, at: str, job_id: str) -> Asset:
    """Return the asset in active form, which its files inherit."""
    return _move_asset(
        asset, at, job_id, status="active", archived_at=None, archived_by=None, archived_reason=None
    )


def _move_asset(asset: Asset, at: str, job_id: str, **changes: object) -> Asset:
    counted = {
        "revision": asset.revision + 1,
        "inherited_revision": asset.inherited_revision + 1,
        "updated_at": at,
        "lifecycle_job_id": job_id,
    }
    return asset.model_copy(update={**changes, **counted})


def job_id(kind: JobKind, asset: Asset) -> str:
    """Return the id of the job for the asset's next change of state.

    Revisions start again where an id is reused after a deletion: the time of creation distinguishes
    the two assets.
    """
    created = "".join(char for char in asset.created_at if char.isdecimal())
    return kind.job_id(asset.database_id, asset.asset_id, created or "0", asset.revision + 1)


def page_key(revision: int, number: int) -> str:
    """Return the key of a page of archived files: in the order of archivings, then pages."""
    return f"{revision:012}-{number:06}"


def traces_of(database_id: str, asset_id: str) -> tuple[Traces, ...]:
    """Return the rows that an asset leaves and that are simply removed."""
    asset = keys.ASSET.build(database_id, asset_id)
    return (
        Traces(metadata.ASSET_FILE_METADATA, asset, metadata.FILE_METADATA_BY_ASSET),
        Traces(metadata.FILE_ATTRIBUTES, asset, metadata.ATTRIBUTES_BY_ASSET),
        Traces(metadata.RECORD_SETS, asset),
        Traces(assets.ASSET_FILE_VERSIONS, asset, assets.FILE_VERSIONS_BY_ASSET),
        Traces(assets.ASSET_FILE_METADATA_VERSIONS, asset, assets.METADATA_VERSIONS_BY_ASSET),
        Traces(assets.FILE_VERSION_HISTORY, asset),
        Traces(assets.ASSET_VERSIONS, asset),
        Traces(assets.ARCHIVED_FILES, asset),
        Traces(workflows.WORKFLOW_EXECUTIONS, asset),
        Traces(registry.COMMENTS, asset_id),
        Traces(registry.COMMENTS, keys.archived(asset_id)),
    )


def subscription_key(asset_id: str) -> dict[str, str]:
    """Return the key of the row with the subscribers of an asset."""
    return {
        registry.SUBSCRIPTIONS.partition_key.name: registry.SUBSCRIPTION_EVENT,
        keys.SUBSCRIBED_ENTITY.name: keys.SUBSCRIBED_ENTITY.build(
            registry.SUBSCRIPTION_ENTITY, asset_id
        ),
    }
