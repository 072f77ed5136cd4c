"""Builds the documents of the two indexes from their sources. Pure: no I/O.

The fields are those of the data model (`spec.search_indexes`); `rev` and `hash` are added when
written.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any, cast

from backend.core.names import extension_of
from backend.core.objects import ObjectVersion
from backend.core.references import AssetRef, FileKeyRef
from backend.domains.assets.models import NO_FILES
from backend.domains.buckets.models import AssetBucket
from backend.search.values import (
    MAX_GEO_KEYS,
    MAX_KEYS_OF_DATABASE,
    SHAPE_BUDGET,
    JsonObject,
    Record,
    attribute_pairs,
    cut,
    flat_object,
    geographic_fields,
    geographic_keys,
    iso_date,
    location_of,
    misplaced_keys,
    searchable,
    searchable_attributes,
    shape_of,
    typed_pairs,
)
from backend.spec.key_layouts import is_generated_preview
from backend.spec.keys import DELETED_SUFFIX, active
from backend.spec.search_indexes import (
    ASSET_INDEX,
    ATTRIBUTES,
    DATED_FACTS_FROM,
    DOCUMENT_ID_BYTES,
    FIELD_SINCE,
    FILE_INDEX,
    FLAT_VALUE_BYTES,
    KEYWORD_CHARS,
    LOCATION,
    MAPPING_VERSION,
    PLACES_FROM,
    PREVIEW_SIZE,
    PREVIEW_VERSION,
    RECORD_TYPE,
    RULED_FIELDS,
    RULED_TYPE,
    SHAPE,
    SHAPES_FROM,
    SMALL_PREVIEW_VERSION,
    STORAGE_CLASS,
    WARNINGS,
    WITHHELD,
    SearchIndex,
)

Row = Mapping[str, Any]
# Mapping versions that changed what fields contain (decision 41): content and previews at an
# asset's root, GeoJSON points as places of metadata. `FIELD_SINCE` has those that added fields.
_CONTENT_FROM, _GEOJSON_POINTS_FROM = 2, 5
_LISTS = (list, tuple, set, frozenset)
_RULED = tuple(field.removesuffix(".keyword") for field in RULED_FIELDS.values())


@dataclass(frozen=True, slots=True)
class Document:
    """A document without its version; `index` says which of the two it belongs to.

    `mapping_version` is that of the physical indexes it is written to.
    """

    index: SearchIndex
    id: str
    body: JsonObject
    mapping_version: int = MAPPING_VERSION


@dataclass(frozen=True, slots=True)
class AssetSource:
    """The sources of an asset's document."""

    row: Row
    bucket: AssetBucket
    metadata: tuple[Record, ...] = ()
    preview_key: str | None = None
    """The key of the preview at the asset's root, if the row names no preview of a user."""
    preview: ObjectVersion | None = None
    """The version of that preview."""
    small: ObjectVersion | None = None
    """The version of its small image."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """The sources of a file's document. `version` is the latest one, or its delete marker.

    `content` is the newest version with content, None where only markers are left.
    `is_asset_preview` marks the preview of the asset, which has no file document.
    """

    asset: Row
    bucket: AssetBucket
    version: ObjectVersion
    content: ObjectVersion | None
    preview: ObjectVersion | None = None
    small: ObjectVersion | None = None
    metadata: tuple[Record, ...] = ()
    attributes: tuple[Record, ...] = ()
    is_asset_preview: bool = False


@dataclass(frozen=True, slots=True)
class AssetGone:
    database_id: str
    asset_id: str


@dataclass(frozen=True, slots=True)
class FileGone:
    database_id: str
    asset_id: str
    key: str


Source = AssetSource | FileSource | AssetGone | FileGone


def project(
    source: Source,
    allowed_geo_keys: frozenset[str] = frozenset(),
    mapping_version: int = MAPPING_VERSION,
) -> Document:
    """Return the document of a source; for a deleted one, the tombstone that replaces it."""
    document = _project_source(source, allowed_geo_keys, mapping_version)
    body = {
        field: value
        for field, value in document.body.items()
        if value is not None and FIELD_SINCE.get(field, 1) <= mapping_version
    }
    return replace(document, body=body, mapping_version=mapping_version)


def _project_source(source: Source, allowed: frozenset[str], mapping_version: int) -> Document:
    if isinstance(source, AssetSource):
        return _asset(source, allowed, mapping_version)
    if isinstance(source, FileSource):
        shown = source.version if mapping_version < _CONTENT_FROM else source.content
        is_document = mapping_version < _CONTENT_FROM or not source.is_asset_preview
        if shown is not None and is_document:
            return _file(source, shown, allowed, mapping_version)
        ids = active(_text(source.asset, "databaseId")), _text(source.asset, "assetId")
        source = FileGone(*ids, source.version.key)
    parts = (source.database_id, source.asset_id)
    if isinstance(source, AssetGone):
        return _document(ASSET_INDEX, parts, {**_asset_ids(*parts), "deleted": True})
    body = {**_asset_ids(*parts), "str_key": source.key, "deleted": True}
    return _document(FILE_INDEX, (*parts, source.key), body)


def reference_of(document: Document) -> AssetRef | FileKeyRef:
    """Return the reference with which the document can be rebuilt."""
    ids = (str(document.body["str_databaseid"]), str(document.body["str_assetid"]))
    if document.index is ASSET_INDEX:
        return AssetRef(*ids)
    return FileKeyRef(*ids, str(document.body["str_key"]))


def stub(document: Document) -> Document:
    """Return a minimal document, which is indexed if OpenSearch rejects the full one."""
    fields = ("_rectype", RECORD_TYPE, "str_databaseid", "str_assetid", "str_assetname", "str_key")
    # All fields that permissions use, so that the stub is visible to the same callers.
    kept = (*fields, "bool_archived", "deleted", WITHHELD, *_RULED)
    body = {field: document.body[field] for field in kept if field in document.body}
    return replace(document, body=body)


def wanted_geo_keys(sources: Iterable[Source]) -> dict[str, str]:
    """Return the metadata keys that would get geographic fields, each with a database of it."""
    geo_keys: dict[str, str] = {}
    for source in sources:
        if isinstance(source, AssetSource | FileSource):
            row = source.row if isinstance(source, AssetSource) else source.asset
            keys = geographic_keys(searchable(source.metadata))
            geo_keys |= dict.fromkeys(keys, active(_text(row, "databaseId")))
    return geo_keys


def document_id(*parts: str) -> str:
    """Return the id of a document: its parts joined by `:`, or their hash if that is too long.

    Database ids contain no `#`, so a hash never equals the id of another document.
    """
    joined = ":".join(parts)
    encoded = joined.encode()
    if len(encoded) <= DOCUMENT_ID_BYTES:
        return joined
    return "#sha256:" + hashlib.sha256(encoded).hexdigest()


def named_preview(row: Row) -> str | None:
    """Return the key of the preview that an asset's row names."""
    return _text(_row(row.get("previewLocation")), "Key") or None


def own_preview(row: Row) -> str | None:
    """Return the preview that an asset's row names, unless it was generated."""
    key = named_preview(row)
    is_own = key is not None and not is_generated_preview(_text(row, "assetId"), key)
    return key if is_own else None


def is_archived(row: Row) -> bool:
    """Return whether an asset's row is in the partition of archived assets."""
    return _text(row, "databaseId").endswith(DELETED_SUFFIX)


def _document(index: SearchIndex, parts: tuple[str, ...], body: JsonObject) -> Document:
    return Document(
        index,
        document_id(*parts),
        {"_rectype": index.record_type, RECORD_TYPE: index.record_type, **body},
    )


def _asset_ids(database_id: str, asset_id: str) -> JsonObject:
    return {"str_databaseid": database_id, "str_assetid": asset_id}


def _shared_fields(row: Row, bucket: AssetBucket) -> JsonObject:
    """Return the fields that an asset's document and those of its files share."""
    shared: JsonObject = {
        **_asset_ids(active(_text(row, "databaseId")), _text(row, "assetId")),
        "str_assetname": _text(row, "assetName"),
        RULED_TYPE: _type(row),
        "str_bucketid": bucket.bucket_id,
        "str_bucketname": bucket.bucket_name,
        "str_bucketprefix": bucket.base_assets_prefix,
        "list_tags": _texts(row.get("tags")),
    }
    # A value that permissions cannot compare hides the document, instead of passing a denial.
    tags: object = row.get("tags", ())
    ruled = cast("Iterable[object]", tags) if isinstance(tags, _LISTS) else (None,)
    stored = (row.get("assetName"), row.get("assetType", ""), *ruled)
    indexed = [shared[field] for field in _RULED]
    texts = [text for value in indexed for text in ([value] if isinstance(value, str) else value)]
    # OpenSearch leaves longer texts out. Java counts UTF-16 units: a character outside the basic
    # plane is two.
    is_too_long = any(len(text.encode("utf-16-le")) > 2 * KEYWORD_CHARS for text in texts)
    if is_too_long or not all(isinstance(text, str) for text in stored):
        shared[WITHHELD] = True
    return shared


def _metadata_fields(
    records: Iterable[Record], allowed: frozenset[str], mapping_version: int
) -> JsonObject:
    kept = searchable(records)
    if not kept:
        return {}
    warnings: list[str] = []
    if left_out := sorted(geographic_keys(kept) - allowed):
        warnings.append(
            f"No gp_ or gs_ fields for {cut(', '.join(left_out), 500)}: {MAX_GEO_KEYS} keys of a "
            f"deployment and {MAX_KEYS_OF_DATABASE} of a database have them, and a reindex frees "
            "unused ones. Filters by location find them"
        )
    if mapping_version >= SHAPES_FROM and (misplaced := misplaced_keys(kept)):
        warnings.append(
            f"Filters by location may not find {cut(', '.join(misplaced), 500)}: the value is no "
            "valid place or shape, a polygon crosses or touches itself, or the shapes have more "
            f"than {FLAT_VALUE_BYTES:,} bytes each or {SHAPE_BUDGET:,} together"
        )
    return {
        "MD_": flat_object(kept),
        WARNINGS: warnings or None,
        "metadata": typed_pairs(
            kept,
            geojson_points=mapping_version >= _GEOJSON_POINTS_FROM,
            shapes=mapping_version >= SHAPES_FROM,
            point_shapes=mapping_version >= PLACES_FROM,
        ),
        LOCATION: location_of(kept),
        **geographic_fields(kept, allowed),
    }


def _preview_fields(source: AssetSource | FileSource) -> JsonObject:
    preview, small = source.preview, source.small
    if preview is None:
        return {}
    named = {PREVIEW_VERSION: _version_of(preview), PREVIEW_SIZE: preview.size}
    return named if small is None else {**named, SMALL_PREVIEW_VERSION: _version_of(small)}


def _version_of(version: ObjectVersion) -> str:
    # Without versions, the ETag distinguishes contents.
    return f"null:{version.etag}" if version.version_id == "null" else version.version_id


def _asset(source: AssetSource, allowed: frozenset[str], mapping_version: int) -> Document:
    row = source.row
    at_root = source.preview_key if mapping_version >= _CONTENT_FROM else None
    version = _row(row.get("currentVersion"))
    shared = _shared_fields(row, source.bucket)
    body: JsonObject = {
        **shared,
        "str_assettype": _type(row),
        "str_description": _text(row, "description"),
        "str_asset_version_id": _text(version, "Version"),
        "str_asset_version_comment": _text(version, "Comment"),
        "str_assetlocationkey": _text(_row(row.get("assetLocation")), "Key"),
        "str_previewfilekey": own_preview(row) or at_root or named_preview(row),
        "bool_isdistributable": row.get("isDistributable") is True,
        "date_asset_version_createdate": iso_date(version.get("DateModified")),
        "bool_has_asset_children": _counts(row, "childCount"),
        "bool_has_asset_parents": _counts(row, "parentCount"),
        "bool_has_assets_related": _counts(row, "relatedCount"),
        "bool_archived": is_archived(row),
        **_metadata_fields(source.metadata, allowed, mapping_version),
        **_preview_fields(source),
    }
    parts = (shared["str_databaseid"], shared["str_assetid"])
    return _document(ASSET_INDEX, parts, body)


def _file(
    source: FileSource, version: ObjectVersion, allowed: frozenset[str], mapping_version: int
) -> Document:
    """Return a file's document with the facts of a version; `bool_archived` is of the latest."""
    shared = _shared_fields(source.asset, source.bucket)
    # HEAD and listings report times in different resolutions, so only whole seconds are used.
    modified = version.last_modified.astimezone(UTC).replace(microsecond=0)
    attributes = searchable_attributes(source.attributes)
    body: JsonObject = {
        **shared,
        "str_key": version.key,
        "str_fileext": extension_of(version.key) or None,
        "str_s3_version_id": version.version_id,
        "str_previewfilekey": None if source.preview is None else source.preview.key,
        "date_lastmodified": modified.isoformat(),
        "bool_archived": source.version.is_delete_marker or is_archived(source.asset),
        SHAPE: shape_of(source.attributes),
        **_metadata_fields(source.metadata, allowed, mapping_version),
        **_preview_fields(source),
    }
    if not version.is_delete_marker:
        body |= {"str_etag": version.etag, "num_filesize": version.size}
        body[STORAGE_CLASS] = version.storage_class
    if attributes:
        pairs = attribute_pairs(attributes, dates=mapping_version >= DATED_FACTS_FROM)
        body |= {"AB_": flat_object(attributes), ATTRIBUTES: pairs}
    parts = (shared["str_databaseid"], shared["str_assetid"], version.key)
    return _document(FILE_INDEX, parts, body)


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _type(row: Row) -> str:
    """Return the type; a row without one is an asset without files."""
    return _text(row, "assetType") if "assetType" in row else NO_FILES


def _texts(value: object) -> list[str]:
    """Return the texts in a list; sorted if it is a set, which other products write for tags."""
    values = cast("Iterable[object]", value) if isinstance(value, _LISTS) else ()
    texts = [element for element in values if isinstance(element, str)]
    # A set has no order, and the hash of a document must not depend on it.
    return sorted(texts) if isinstance(value, set | frozenset) else texts


def _row(value: object) -> Row:
    return cast("Row", value) if isinstance(value, Mapping) else {}


def _counts(row: Row, name: str) -> bool:
    value = row.get(name)
    return isinstance(value, int) and value > 0
