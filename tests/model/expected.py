"""The documents and rows that follow from the model, and their differences from the deployment.

Nothing here uses the product's projections or writes. Only values that S3 itself decides (version
id, ETag, time of an object) are read from it.
"""

from collections.abc import Iterator
from datetime import UTC
from typing import Any

from backend.core.names import extension_of
from backend.core.objects import Objects
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.core.transactions import Item
from backend.spec import keys
from backend.spec.tables.assets import ASSET_VERSIONS, ASSETS, DATABASES
from backend.spec.tables.metadata import ASSET_FILE_METADATA, FILE_ATTRIBUTES
from backend.spec.tables.model import Table
from backend.spec.tables.operations import AUDIT, JOBS, RESERVATIONS
from backend.spec.tables.registry import TAG_TYPES, TAGS
from tests.factories.buckets import BUCKET_ID
from tests.model.state import Model, ModelAsset, ModelFile, preview_base
from tests.model.values import attributes, described

Documents = dict[str, dict[str, Any]]
_PAGE = 500


def documents(model: Model, objects: Objects, bucket: str) -> Documents:
    """All documents in the indexes, by id."""
    result: Documents = {}
    for asset in model.assets.values():
        result[f"{asset.database_id}:{asset.asset_id}"] = _asset(model, asset, bucket)
        for path, file in asset.files.items():
            if preview_base(path) is None:
                key = asset.prefix + path[1:]
                body = _file(asset, path, file, objects, bucket)
                result[f"{asset.database_id}:{asset.asset_id}:{key}"] = body
    return result


def _shared(asset: ModelAsset, bucket: str) -> dict[str, Any]:
    return {
        "str_databaseid": asset.database_id,
        "str_assetid": asset.asset_id,
        "str_assetname": asset.name,
        "ruled_assettype": asset.asset_type,
        "str_bucketid": BUCKET_ID,
        "str_bucketname": bucket,
        "str_bucketprefix": "/",
        "list_tags": asset.tags,
    }


def _asset(model: Model, asset: ModelAsset, bucket: str) -> dict[str, Any]:
    return {
        "_rectype": "asset",
        "str_rectype": "asset",
        **_shared(asset, bucket),
        "str_assettype": asset.asset_type,
        "str_description": asset.description,
        "str_asset_version_id": "0",
        "str_asset_version_comment": "The asset was created",
        "str_assetlocationkey": asset.prefix,
        "bool_isdistributable": asset.is_distributable,
        "date_asset_version_createdate": asset.created_at,
        "bool_has_asset_children": model.is_linked(asset.asset_id, "parentChild", 1),
        "bool_has_asset_parents": model.is_linked(asset.asset_id, "parentChild", 2),
        "bool_has_assets_related": model.is_linked(asset.asset_id, "related", 1, 2),
        "bool_archived": asset.is_archived,
        **described(asset.records.get(("metadata", "/"), {})),
    }


def _file(
    asset: ModelAsset, path: str, file: ModelFile, objects: Objects, bucket: str
) -> dict[str, Any]:
    key = asset.prefix + path[1:]
    result = [item for item in objects.list_versions(bucket, key).versions if item.key == key]
    assert result, f"the bucket has no {key}"
    is_hidden = result[0].is_delete_marker
    assert is_hidden == file.is_archived or asset.is_half_done, f"{key}: {result[0]}"
    version = next(item for item in result if not item.is_delete_marker)
    modified = version.last_modified.astimezone(UTC).replace(microsecond=0)
    body = {
        "_rectype": "file",
        "str_rectype": "file",
        **_shared(asset, bucket),
        "str_key": key,
        "str_s3_version_id": version.version_id,
        "date_lastmodified": modified.isoformat(),
        "str_etag": version.etag,
        "num_filesize": file.size,
        "str_storageclass": "STANDARD",
        "bool_archived": is_hidden or asset.is_archived,
        **described(asset.records.get(("metadata", path), {})),
        **attributes(asset.records.get(("attribute", path), {})),
    }
    if extension_of(path):
        body["str_fileext"] = extension_of(path)
    if not is_hidden:
        versions = objects.list_versions(bucket, f"{key}.previewFile.").versions
        listed = [item for item in versions if item.is_latest and not item.is_delete_marker]
        if listed:
            body["str_previewfilekey"] = listed[0].key
            body["str_previewversionid"] = listed[0].version_id
            body["num_previewsize"] = listed[0].size
    return body


def differing(found: Documents, wanted: Documents) -> Iterator[str]:
    """The documents that are missing, needless, or different, with the difference."""
    for name in sorted(wanted.keys() - found.keys()):
        yield f"missing: {name}"
    for name in sorted(found.keys() - wanted.keys()):
        yield f"extra: {name}: {found[name]}"
    for name in sorted(wanted.keys() & found.keys()):
        there, ours = found[name], wanted[name]
        for field in sorted(there.keys() | ours.keys()):
            if there.get(field) != ours.get(field):
                yield (
                    f"stale: {name}: {field}: "
                    f"found {there.get(field)!r:.300}, wanted {ours.get(field)!r:.300}"
                )


def rows(tables: Tables, table: Table) -> list[Item]:
    result: list[Item] = []
    page = tables.scan(table, PageRequest(_PAGE))
    result += page.items
    while page.after is not None:
        page = tables.scan(table, PageRequest(_PAGE, page.after))
        result += page.items
    return result


def differences(model: Model, tables: Tables) -> Iterator[str]:
    """The differences of the tables' rows from the model."""
    yield from _differ("assets", _asset_rows(tables), _wanted_assets(model))
    yield from _differ("records", _record_rows(tables), _wanted_records(model))
    yield from _differ("databases", _database_rows(tables), _wanted_databases(model))
    yield from _differ("tags", {row["tagName"] for row in rows(tables, TAGS)}, model.tags)
    counted = sum(int(row["tagCount"]) for row in rows(tables, TAG_TYPES))
    yield from _differ("counted tags", counted, len(model.tags))
    yield from _differ("reservations", _reservations(tables), _wanted_reservations(model))
    versions = {row[keys.ASSET.name] for row in rows(tables, ASSET_VERSIONS)}
    named = {f"{asset.database_id}:{asset.asset_id}" for asset in model.assets.values()}
    yield from _differ("asset versions", versions, named)
    unfinished = [row for row in rows(tables, JOBS) if row["state"] in {"queued", "running"}]
    yield from _differ("unfinished jobs", unfinished, [])
    entries = [row for row in rows(tables, AUDIT) if row["operation"] == "create_asset"]
    yield from _differ("audit entries of new assets", len(entries), model.made)
    failed = [row for row in rows(tables, JOBS) if row["state"] == "failed"]
    yield from _differ("failed jobs", [row for row in failed if not _overtaken(tables, row)], [])


def _overtaken(tables: Tables, job: Item) -> bool:
    """Return whether the asset of a failed job was deleted or changed again."""
    last = {row.get("lifecycleJobId") for row in rows(tables, ASSETS)}
    return job["kind"] in {"archiveAsset", "unarchiveAsset"} and job["jobId"] not in last


def _differ(what: str, found: object, wanted: object) -> Iterator[str]:
    if found != wanted:
        yield f"{what}: found {found}, wanted {wanted}"


def _asset_rows(tables: Tables) -> dict[tuple[str, str], dict[str, Any]]:
    shown = ("assetName", "description", "isDistributable", "tags", "assetType", "status")
    return {
        (row["databaseId"], row["assetId"]): {name: row.get(name) for name in shown}
        for row in rows(tables, ASSETS)
    }


def _wanted_assets(model: Model) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (
            keys.archived(asset.database_id) if asset.is_archived else asset.database_id,
            asset.asset_id,
        ): {
            "assetName": asset.name,
            "description": asset.description,
            "isDistributable": asset.is_distributable,
            "tags": asset.tags,
            "assetType": asset.asset_type,
            "status": "archived" if asset.is_archived else "active",
        }
        for asset in model.assets.values()
    }


Placed = dict[tuple[str, str, str], tuple[str, str]]


def _record_rows(tables: Tables) -> Placed:
    result: Placed = {}
    for table, name in ((ASSET_FILE_METADATA, "metadata"), (FILE_ATTRIBUTES, "attribute")):
        for row in rows(tables, table):
            place = (name, row[keys.FILE.name], row[f"{name}Key"])
            result[place] = (row[f"{name}ValueType"], row.get(f"{name}Value", ""))
    return result


def _wanted_records(model: Model) -> Placed:
    return {
        (kind, f"{asset.database_id}:{asset.asset_id}:{path}", key): (value.value_type, value.text)
        for asset in model.assets.values()
        for (kind, path), records in asset.records.items()
        for key, value in records.items()
    }


def _database_rows(tables: Tables) -> dict[str, str]:
    return {row["databaseId"]: row["description"] for row in rows(tables, DATABASES)}


def _wanted_databases(model: Model) -> dict[str, str]:
    deleted = {keys.archived(name): description for name, description in model.deleted.items()}
    return model.databases | deleted


def _reservations(tables: Tables) -> dict[str, object]:
    """Counts of a database together, and all other reservations except rates, by key."""
    result: dict[str, Any] = {}
    for row in rows(tables, RESERVATIONS):
        key = row["reservationKey"]
        if key.startswith("AssetCount#"):
            database = key.split("#")[1]
            result[f"count of {database}"] = result.get(f"count of {database}", 0) + row["count"]
        elif not key.startswith("Rate#"):
            result[key] = (row.get("databaseId"), row.get("assetId"), row.get("within"))
    return result


def _wanted_reservations(model: Model) -> dict[str, object]:
    wanted: dict[str, object] = {
        f"DeletedName#databaseId#{name}": (None, None, None) for name in model.deleted
    }
    for database in model.databases:
        active = [a for a in model.active() if a.database_id == database]
        wanted[f"count of {database}"] = len(active)
    within: dict[str, int] = {}
    for asset in model.assets.values():
        owner = (asset.database_id, asset.asset_id, None)
        wanted[f"AssetId#{asset.asset_id}"] = owner
        wanted[f"Prefix#{BUCKET_ID}#{asset.prefix}"] = owner
        parts = asset.prefix.split("/")[:-2]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth]) + "/"
            within[folder] = within.get(folder, 0) + 1
    for folder, count in within.items():
        wanted[f"Prefix#{BUCKET_ID}#{folder}"] = (None, None, count)
    return wanted
