"""The two OpenSearch indexes: fields, dynamic templates, document ids.

The prefixed fields, their types and the dynamic templates are the data model's. Ours are `metadata`
and `attributes` (typed pairs), `shape`, `rev` (the ticket), `hash`, `deleted` (tombstone) and the
limits on keywords.
"""

from typing import Any

from backend.spec.analysis import (
    ANALYSIS,
    INNER_NORMALIZER,
    INNER_WITH_IDS,
    SORT_NORMALIZER,
    STRETCH_CHARS,
    WITH_IDS,
    WITH_IDS_SEARCH,
)
from backend.spec.tables import assets, metadata
from backend.spec.tables.model import Table
from backend.values import frozen

Mapping = dict[str, Any]

MAPPING_VERSION = 10
"""The version of the documents and mapping of an index; each index names its own in `_meta`.

1: indexes that name none. 2: `source_bytes` and the subfields `inner`; documents
of archived files have the facts of the last version with content; an asset's preview at its root is
no file document. 3: `str_storageclass` of files. 4: `attributes` (typed pairs) and `shape` of
files. 5: points in GeoJSON are places of metadata; version and size of the preview. 6: facts that
are dates have a `date`. 7: the subfields `sort`; shapes of GeoJSON. 8: generated ids are words. 9:
`geo_MD_location`, `str_rectype`, and points as shapes of metadata. 10: words that a text repeats. A
reindex creates indexes of this version; until then those of an earlier one are written and checked
as they were.
"""

# `ignore_above` of every keyword field. 8,000 characters are at most 32,000 bytes of UTF-8; Lucene
# rejects terms above 32,766 bytes.
KEYWORD_CHARS = 8000

# `index.merge.policy.segments_per_tier` of both indexes; OpenSearch's default is 10. Permission
# filters are evaluated once per segment, and OpenSearch caches none in segments below 10,000
# documents. Fewer segments make filtered searches faster.
SEGMENTS_PER_TIER = 4

# `indices.query.bool.max_clause_count`; OpenSearch's default is 1,024. The permission filter may
# use 900 clauses, and each search word adds one per searched field.
MAX_CLAUSES = 4096

# Thresholds of the slow logs. OpenSearch logs nothing unless a threshold is set. Sources are not
# logged: people who read logs may not be allowed to see the assets.
SLOW_LOGS: Mapping = {
    "search": {"slowlog": {"threshold": {"query": {"warn": "2s"}, "fetch": {"warn": "1s"}}}},
    "indexing": {"slowlog": {"threshold": {"index": {"warn": "1s"}}, "source": "false"}},
}

# Memory limits of requests and of field data; OpenSearch's defaults are 60% and 40%. It rejects
# requests above a limit, where a node would otherwise run out of memory and restart.
BREAKERS: dict[str, str] = {
    "indices.breaker.request.limit": "40%",
    "indices.breaker.fielddata.limit": "20%",
}

DOCUMENT_ID_BYTES = 512  # OpenSearch's limit for an _id
# Maximum size of the path and the value of one entry of a `flat_object`. A Lucene term has at most
# 32,766 bytes. DynamoDB stores the complete value.
FLAT_VALUE_BYTES = 32_000

TEXT: Mapping = {
    "type": "text",
    "fields": {"keyword": {"type": "keyword", "ignore_above": KEYWORD_CHARS}},
}
KEYWORD: Mapping = {"type": "keyword", "ignore_above": KEYWORD_CHARS}
LONG: Mapping = {"type": "long"}
BOOLEAN: Mapping = {"type": "boolean"}
DATE: Mapping = {"type": "date"}
FLAT_OBJECT: Mapping = {"type": "flat_object"}

# A shape that OpenSearch cannot read breaks no document.
GEO_SHAPE: Mapping = {"type": "geo_shape", "ignore_malformed": True}

INNER = "inner"
# The `inner` subfield, which finds a part inside a word: `lam` finds lamp. With doc values it is
# compared without reading sources (decision 41).
INNER_PARTS: Mapping = {
    "type": "wildcard",
    "normalizer": INNER_NORMALIZER,
    "ignore_above": KEYWORD_CHARS,
    "doc_values": True,
}
# Fields with texts that people write: searches also match parts of their words and misspelled
# words, and filters compare them word by word.
INNER_FIELDS = ("str_assetname", "str_key", "list_tags", "str_description")

FIELDS_WITH_IDS = ("str_assetid", "str_key")
"""Fields that contain generated ids, of which no parts are found."""
_WITH_IDS: Mapping = {"analyzer": WITH_IDS, "search_analyzer": WITH_IDS_SEARCH}

SORT = "sort"
# The `sort` subfield: without case and accents, numbers in their order (decision 41).
SORT_KEY: Mapping = {
    "type": "keyword",
    "normalizer": SORT_NORMALIZER,
    "ignore_above": KEYWORD_CHARS,
    "index": False,
}
SORT_FROM = SHAPES_FROM = 7
"""The mapping version that added `sort`, and `shape` of metadata."""
SORT_FIELDS = (
    *INNER_FIELDS,
    *("str_asset_version_comment", "str_assettype", "str_fileext", "str_databaseid", "str_assetid"),
)

BY_PREFIX: dict[str, Mapping] = {
    "str_": TEXT,
    "num_": LONG,
    "bool_": BOOLEAN,
    "date_": DATE,
    "list_": TEXT,
    "gp_": {"type": "geo_point"},
    "gs_": {"type": "text"},
}
"""The mapping of a field by the prefix of its name."""

DYNAMIC_TEMPLATES: tuple[Mapping, ...] = (
    {"core_strings": {"match": "str_*", "mapping": TEXT}},
    {"core_numeric": {"match": "num_*", "mapping": LONG}},
    {"core_boolean": {"match": "bool_*", "mapping": BOOLEAN}},
    {"core_dates": {"match": "date_*", "mapping": DATE}},
    {"core_lists": {"match": "list_*", "mapping": TEXT}},
)

CHOSEN_TEMPLATES: tuple[Mapping, ...] = (
    {"geo_points": {"match": "gp_*", "mapping": {"type": "geo_point"}}},
    {"geo_shapes": {"match": "gs_*", "mapping": {"type": "text"}}},
)
"""Templates for prefixes to which the data model gives a type, but no template."""

METADATA_PAIRS: Mapping = {
    "type": "nested",
    "properties": {
        "key": KEYWORD,
        "string": {
            **KEYWORD,
            "fields": {"text": {"type": "text"}, INNER: INNER_PARTS, SORT: SORT_KEY},
        },
        "number": {"type": "double"},
        "date": {"type": "date"},
        "boolean": BOOLEAN,
        "point": {"type": "geo_point"},
        # Of points too, because `geo_point` has no relations but `intersects`.
        "shape": GEO_SHAPE,
    },
}

ATTRIBUTES = "attributes"
# Attributes of files. Numeric and boolean facts have no `string`, so a search for words does not
# match them. Dates have both.
ATTRIBUTE_PAIRS: Mapping = {
    "type": "nested",
    "properties": {
        name: METADATA_PAIRS["properties"][name]
        for name in ("key", "string", "number", "date", "boolean")
    },
}

DATED_FACTS_FROM = 6
"""The mapping version that added `date` to the attributes."""

# The place of a document, which VAMS 2.6 derives from keys such as `location` and `latitude`.
LOCATION = "geo_MD_location"
PLACES_FROM = 9
"""The mapping version that added the location, and shapes of points in metadata."""

# The type of a document, under the name that VAMS 2.6 has for `_rectype`.
RECORD_TYPE = "str_rectype"

SHAPE = "shape"
# A shape is stored as bytes: each of its numbers, from 0 to 1, is scaled to 0 to 255. A script
# reads 75 bytes in a seventh of the time of 75 floats (decision 50).
SHAPE_STEPS = 255

# The S3 version and the size of a document's preview. A bucket without versions has `null:` and the
# ETag instead. With them a search signs preview URLs without a request to S3.
PREVIEW_VERSION, PREVIEW_SIZE = "str_previewversionid", "num_previewsize"
# The S3 version of the small image beside that preview, if it exists.
SMALL_PREVIEW_VERSION = "str_smallpreviewversionid"

STORAGE_CLASS = "str_storageclass"
"""The storage class of the version that a file's document shows."""

TOMBSTONE_TIME = "date_deleted"
"""The creation time of a tombstone. The dynamic template for `date_` maps it."""

WARNINGS = "list_warnings"
"""Texts about missing fields of a document. The dynamic template for `list_` maps it."""

# The type of the asset, or of a file's asset, for permission filters. Files have no
# `str_assettype`: a search for an asset type must find assets only.
RULED_TYPE = "ruled_assettype"

# The size of the document's source as UTF-8. Limits the size of a reply before sources are fetched.
# It is a doc value only, because no query searches by it.
SOURCE_BYTES = "source_bytes"

# Marks a document that no search returns, because a value that permissions depend on is too long
# for a keyword: denials would not match it (decision 31).
WITHHELD = "withheld"

RULED_FIELDS: dict[str, str] = {
    "databaseId": "str_databaseid.keyword",
    "assetName": "str_assetname.keyword",
    "assetType": RULED_TYPE,
    "tags": "list_tags.keyword",
}
"""The field of each attribute that permission rules may name, in both indexes."""

# The stretches of these fields. OpenSearch copies them at indexing; they are not part of a source.
STRETCHES_OF: dict[str, str] = {
    "databaseId": "stretches_databaseid",
    "assetName": "stretches_assetname",
    "assetType": "stretches_assettype",
    "tags": "stretches_tags",
}

_STRETCHES: Mapping = {
    "type": "text",
    "analyzer": "stretches",
    "norms": False,
    # Neither positions nor lengths: filters only test whether a stretch occurs.
    "index_options": "docs",
}
# A constant field of every index with stretches. Indexes of earlier releases lack it, and return
# nothing to restricted callers until a reindex (decision 31).
CUT_INTO, CUT = "cut_into", f"stretches of {STRETCH_CHARS} characters"

_COPIED = {
    field.removesuffix(".keyword"): STRETCHES_OF[name] for name, field in RULED_FIELDS.items()
}

# The mapping version that added a field. Documents of earlier indexes are written without it. An
# index names the version that it was created with, and refuses fields that it does not have.
FIELD_SINCE: dict[str, int] = {
    SOURCE_BYTES: 2,
    STORAGE_CLASS: 3,
    ATTRIBUTES: 4,
    SHAPE: 4,
    PREVIEW_VERSION: 5,
    PREVIEW_SIZE: 5,
    SMALL_PREVIEW_VERSION: 5,
    LOCATION: PLACES_FROM,
    RECORD_TYPE: 9,
}

OURS: dict[str, Mapping] = {
    "metadata": METADATA_PAIRS,
    ATTRIBUTES: ATTRIBUTE_PAIRS,
    LOCATION: GEO_SHAPE,
    SHAPE: {"type": "binary", "doc_values": True},
    "rev": LONG,
    "hash": KEYWORD,
    "deleted": BOOLEAN,
    SOURCE_BYTES: {"type": "long", "index": False},
    RULED_TYPE: KEYWORD,
    WITHHELD: BOOLEAN,
    **dict.fromkeys(STRETCHES_OF.values(), _STRETCHES),
    CUT_INTO: {"type": "constant_keyword", "value": CUT},
}


@frozen
class SearchIndex:
    """A search index; `alias` reads the current one, the physical name is `<alias>-<n>`."""

    alias: str
    record_type: str
    fields: tuple[str, ...]
    flat_fields: tuple[str, ...]
    document_id: tuple[str, ...]
    sources: tuple[Table, ...]
    description: str
    max_result_window: int = 10_000
    own_fields: tuple[str, ...] = ()
    """Fields that are not part of the data model."""

    @property
    def all_fields(self) -> tuple[str, ...]:
        return (*self.fields, *self.own_fields)

    @property
    def settings(self) -> Mapping:
        """Return `settings` for the creation of the index; replicas are set by the cluster."""
        return {
            "index": {
                "number_of_shards": 1,
                "auto_expand_replicas": "0-1",
                "refresh_interval": "1s",
                "max_result_window": self.max_result_window,
                # 500 records of an entity are far below the limit of nested documents, and 200
                # geographic keys, of two fields each, below that of fields.
                "mapping": {"nested_objects": {"limit": 10_000}, "total_fields": {"limit": 1000}},
            },
            # Without statistics over all documents, so scores reveal nothing about documents that a
            # caller may not see (decision 36).
            "similarity": {"default": {"type": "boolean"}},
            "analysis": ANALYSIS,
        }

    @property
    def tuning(self) -> Mapping:
        """Return optional settings, which a managed service may not accept."""
        merge = {"policy": {"segments_per_tier": SEGMENTS_PER_TIER}}
        return {"index": {"merge": merge, **SLOW_LOGS}}

    @property
    def mapping(self) -> Mapping:
        """Return `mappings` for the creation of the index."""
        properties: Mapping = {
            field: BY_PREFIX[field.split("_", 1)[0] + "_"] for field in self.all_fields
        }
        properties |= dict.fromkeys(self.flat_fields, FLAT_OBJECT)
        properties |= {"_rectype": KEYWORD, **OURS}
        for fields, name, part in (
            (INNER_FIELDS, INNER, INNER_PARTS),
            (SORT_FIELDS, SORT, SORT_KEY),
        ):
            for field in properties.keys() & {*fields}:
                parts = {**properties[field]["fields"], name: part}
                properties[field] = {**properties[field], "fields": parts}
        for field in properties.keys() & {*FIELDS_WITH_IDS}:
            properties[field] = {**properties[field], **_WITH_IDS}
            if INNER in (parts := properties[field]["fields"]):
                inner = {**INNER_PARTS, "normalizer": INNER_WITH_IDS}
                properties[field]["fields"] = {**parts, INNER: inner}
        for field, cut in _COPIED.items():
            properties[field] = {**properties[field], "copy_to": [cut]}
        return {
            "_meta": {"mappingVersion": MAPPING_VERSION},
            "dynamic": "strict_allow_templates",
            "dynamic_templates": [*DYNAMIC_TEMPLATES, *CHOSEN_TEMPLATES],
            "properties": properties,
        }


ASSET_INDEX = SearchIndex(
    alias="assets",
    record_type="asset",
    fields=(
        "str_databaseid",
        "str_assetid",
        "str_assetname",
        "str_assettype",
        "str_description",
        "str_bucketid",
        "str_bucketname",
        "str_bucketprefix",
        "str_asset_version_id",
        "str_asset_version_comment",
        "str_assetlocationkey",
        "str_previewfilekey",
        "bool_isdistributable",
        "list_tags",
        "date_asset_version_createdate",
        "bool_has_asset_children",
        "bool_has_asset_parents",
        "bool_has_assets_related",
        "bool_archived",
    ),
    own_fields=(RECORD_TYPE, PREVIEW_VERSION, PREVIEW_SIZE, SMALL_PREVIEW_VERSION),
    flat_fields=("MD_",),
    document_id=("databaseId", "assetId"),
    sources=(assets.ASSETS, metadata.ASSET_FILE_METADATA),
    description="One document an asset.",
)

FILE_INDEX = SearchIndex(
    alias="files",
    record_type="file",
    fields=(
        "str_key",
        "str_databaseid",
        "str_assetid",
        "str_assetname",
        "str_bucketid",
        "str_bucketname",
        "str_bucketprefix",
        "str_fileext",
        "str_etag",
        "str_s3_version_id",
        "str_previewfilekey",
        "date_lastmodified",
        "num_filesize",
        "bool_archived",
        "list_tags",
    ),
    own_fields=(
        *(RECORD_TYPE, STORAGE_CLASS, PREVIEW_VERSION, PREVIEW_SIZE, SMALL_PREVIEW_VERSION),
    ),
    flat_fields=("MD_", "AB_"),
    document_id=("databaseId", "assetId", "fileKey"),
    sources=(assets.ASSETS, metadata.ASSET_FILE_METADATA, metadata.FILE_ATTRIBUTES),
    description="One document a file.",
)

SEARCH_INDEXES = (ASSET_INDEX, FILE_INDEX)
