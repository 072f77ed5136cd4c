"""The declarations against the transcription of the data model, in both directions."""

import re
from typing import Any, cast

import pytest

from backend.spec import buckets, key_layouts, keys, search_indexes
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, SearchIndex
from backend.spec.tables import TABLES
from backend.spec.tables.model import Index, KeyAttribute, Table
from tests.unit.spec import data_model
from tests.unit.spec.data_model import IndexFacts, TableFacts

OURS = {
    *("Policies", "SearchState", "Reservations", "Jobs", "Audit", "ArchivedFiles"),
    *("AssetLinkEdges", "MetadataRecordSets", "MetadataSchemaScopes"),
    *("ActiveExecutions", "AssetHistoryStorageTable", "DatabaseTagTypes", "FileVersionHistory"),
}
OURS_BUCKETS = {"FailureBucket", "AuditArchiveBucket"}
OUR_ACCESS_LOG_PREFIXES = {"Web App Bucket": "webApp-bucket-logs/"}
OURS_FIELDS = {
    *("metadata", "rev", "hash", "deleted", "ruled_assettype", "withheld", "cut_into"),
    *("source_bytes", "attributes", "shape", "geo_MD_location"),
    *(f"stretches_{name}" for name in ("databaseid", "assetname", "assettype", "tags")),
}
OURS_PARAMETERS = {"analyzer", "search_analyzer", "ignore_above", "copy_to", "inner", "sort"}
CHOSEN = {
    ("ApiKeyStorageTable", "apiKeyHashIndex"): ("apiKeyHash", None, "ALL"),
    ("ApiKeyStorageTable", "userIdIndex"): ("userId", "apiKeyId", "ALL"),
    ("S3AssetBucketsStorageTable", "bucketNameGSI"): ("bucketName", "baseAssetsPrefix", "ALL"),
    ("WorkflowExecutionsStorageTable", "WorkflowLSI"): (
        None,
        "workflowDatabaseId:workflowId",
        "ALL",
    ),
}
PROJECTIONS = {"Keys Only": "KEYS_ONLY", "ALL": "ALL"}


def _name_of(heading: str) -> str:
    """A heading without its blanks and brackets: the table's name."""
    return re.sub(r"[ ()]", "", heading)


DOCUMENTED: dict[str, TableFacts] = {
    **{_name_of(heading): facts for heading, facts in data_model.TABLES_WITH_HEADING.items()},
    **data_model.TABLES_WITHOUT_HEADING,
    **data_model.TABLES_IN_LISTS,
}
DECLARED = {table.name: table for table in TABLES}


def _key(key: KeyAttribute | None) -> str | None:
    return key.name if key else None


def _documented_indexes() -> dict[tuple[str, str], IndexFacts]:
    return {
        (table, name): facts
        for table, of_table in DOCUMENTED.items()
        for name, facts in (of_table.global_indexes | of_table.local_indexes).items()
    }


def _declared_indexes() -> dict[tuple[str, str], Index]:
    return {(table.name, index.name): index for table in TABLES for index in table.indexes}


def test_tables_and_indexes_are_those_of_the_document_and_ours() -> None:
    marked = {table.name for table in TABLES if table.origin == "ours"}
    assert set(DECLARED) - marked == set(DOCUMENTED)
    assert marked == OURS
    assert {table.origin for table in TABLES} == {"data model", "ours"}
    ours = {where for where, index in _declared_indexes().items() if index.origin == "ours"}
    assert set(_declared_indexes()) - ours == set(_documented_indexes())
    left_open = {where for where, facts in _documented_indexes().items() if None in facts}
    chosen = {where for where, index in _declared_indexes().items() if index.origin == "chosen"}
    assert chosen == left_open == set(CHOSEN)


def test_no_name_is_declared_twice_and_all_keys_are_strings() -> None:
    assert len(DECLARED) == len(TABLES)
    for table in TABLES:
        assert len({index.name for index in table.indexes}) == len(table.indexes)
    for table in TABLES:
        for key in _all_keys(table):
            assert key.type == "S", (table.name, key.name)
    of_document = [t for t in TABLES if t.origin == "data model" and t.stream is not None]
    assert len(of_document) == 7
    assert {t.name for t in TABLES if t.stream is not None} - {t.name for t in of_document} == {
        "Audit",
        "Jobs",
    }


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_a_table_has_the_keys_and_the_stream_of_the_document(name: str) -> None:
    declared, facts = DECLARED[name], DOCUMENTED[name]
    assert declared.partition_key.name == facts.partition_key
    assert _key(declared.sort_key) == facts.sort_key
    assert declared.stream == facts.stream


def _all_keys(table: Table) -> list[KeyAttribute]:
    result = [table.partition_key, table.sort_key]
    for index in table.indexes:
        result += [index.partition_key, index.sort_key]
    return [key for key in result if key is not None]


@pytest.mark.parametrize("where", sorted(_documented_indexes()), ids=".".join)
def test_an_index_is_as_in_the_document_or_as_chosen(where: tuple[str, str]) -> None:
    declared, facts = _declared_indexes()[where], _documented_indexes()[where]
    result = (_key(declared.partition_key), _key(declared.sort_key), declared.projection)
    assert declared.is_local == (where[1] in DOCUMENTED[where[0]].local_indexes)
    if where in CHOSEN:
        assert result == CHOSEN[where]
    stated = (facts.partition_key, facts.sort_key, facts.projection)
    for value, fact in zip(result, stated, strict=True):
        if fact is not None:
            assert value == PROJECTIONS.get(fact, None if fact == "--" else fact)


def test_composite_keys_and_archived_partitions_are_those_of_the_document() -> None:
    for table in TABLES:
        for key in _all_keys(table):
            if ":" in key.name or key.name == "entityName_entityId":
                assert isinstance(key, keys.Composite), (table.name, key.name)
                assert key.separator.join(key.parts) == key.name
    assert keys.archived("my-database") == "my-database" + data_model.ARCHIVED_SUFFIX


def test_buckets_are_those_of_the_document_and_only_access_logs_expire() -> None:
    ours = {bucket.name for bucket in buckets.BUCKETS if bucket.origin == "ours"}
    named = {bucket.name for bucket in buckets.BUCKETS} - ours
    assert named == set(data_model.BUCKET_HEADINGS.values())
    assert ours == OURS_BUCKETS
    expiring = {b.name: b.expire_days for b in buckets.BUCKETS if b.expire_days is not None}
    assert expiring == {"AccessLogsBucket": data_model.ACCESS_LOG_EXPIRATION_DAYS}
    assert key_layouts.CLOUDTRAIL_LOG_PREFIX == data_model.CLOUDTRAIL_PREFIX
    assert key_layouts.DEFAULT_BASE_PREFIX == data_model.DEFAULT_BASE_ASSETS_PREFIX


@pytest.mark.parametrize("heading", sorted(data_model.BUCKET_HEADINGS))
def test_a_bucket_has_the_layout_and_logs_of_the_document(heading: str) -> None:
    name = data_model.BUCKET_HEADINGS[heading]
    bucket = next(bucket for bucket in buckets.BUCKETS if bucket.name == name)
    assert bucket.versioned == (heading in data_model.VERSIONED_BUCKETS)
    prefixes = data_model.ACCESS_LOG_PREFIXES | OUR_ACCESS_LOG_PREFIXES
    assert bucket.log_prefix == prefixes.get(heading)
    if heading in data_model.KEY_LAYOUTS:
        patterns = [k.pattern for k in key_layouts.KEY_LAYOUTS if k.bucket == name]
        assert patterns[0] == data_model.KEY_LAYOUTS[heading]


def _type_of(mapping: dict[str, Any]) -> str:
    """The type of a declared field, in the document's words."""
    bare = _without_limits(mapping)
    if bare == {"type": "text", "fields": {"keyword": {"type": "keyword"}}}:
        return data_model.TEXT_WITH_KEYWORD
    assert set(bare) == {"type"}, bare
    return str(bare["type"])


def _without_limits(value: Any) -> Any:
    """The mapping without what is ours: analyzers, `ignore_above`, `copy_to`, and the subfields."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value).items()
        return {name: _without_limits(v) for name, v in members if name not in OURS_PARAMETERS}
    if isinstance(value, list):
        return [_without_limits(member) for member in cast("list[Any]", value)]
    return value


@pytest.mark.parametrize(
    ("index", "fields"),
    [(ASSET_INDEX, data_model.ASSET_INDEX), (FILE_INDEX, data_model.FILE_INDEX)],
    ids=["assets", "files"],
)
def test_an_index_has_the_fields_of_the_document_and_ours(
    index: SearchIndex, fields: dict[str, str]
) -> None:
    properties = index.mapping["properties"]
    assert set(search_indexes.OURS) == OURS_FIELDS
    assert set(properties) - OURS_FIELDS - set(index.own_fields) == set(fields)
    assert {name: _type_of(properties[name]) for name in fields} == fields


def test_a_document_has_the_id_type_and_templates_of_the_document() -> None:
    for index, layout, rectype in (
        (ASSET_INDEX, data_model.ASSET_DOCUMENT_ID, data_model.ASSET_RECTYPE),
        (FILE_INDEX, data_model.FILE_DOCUMENT_ID, data_model.FILE_RECTYPE),
    ):
        assert ":".join(f"{{{part}}}" for part in index.document_id) == layout
        assert index.record_type == rectype
    for index in search_indexes.SEARCH_INDEXES:
        templates = _without_limits(index.mapping["dynamic_templates"])
        documented = len(data_model.DYNAMIC_TEMPLATES)
        assert templates[:documented] == data_model.DYNAMIC_TEMPLATES
        assert templates[documented:] == list(search_indexes.CHOSEN_TEMPLATES)
    words = {
        data_model.TEXT_WITH_KEYWORD: "text with keyword sub-field",
        "text": "text (JSON string)",
    }
    result = {prefix: _type_of(mapping) for prefix, mapping in search_indexes.BY_PREFIX.items()}
    assert {k: words.get(v, v) for k, v in result.items()} == data_model.FIELD_PREFIXES


def _keywords(value: Any) -> list[dict[str, Any]]:
    """All keyword fields in a mapping, however deep."""
    if isinstance(value, list):
        return [keyword for member in cast("list[Any]", value) for keyword in _keywords(member)]
    if not isinstance(value, dict):
        return []
    mapping = cast("dict[str, Any]", value)
    here = [mapping] if mapping.get("type") == "keyword" else []
    return here + [keyword for member in mapping.values() for keyword in _keywords(member)]


def test_keywords_have_limits_and_parts_of_words_are_found() -> None:
    for index in search_indexes.SEARCH_INDEXES:
        properties = index.mapping["properties"]
        parts = search_indexes.INNER_PARTS
        keywords = {
            name for name, item in properties.items() if item.get("fields", {}).get("inner")
        }
        assert keywords == set(search_indexes.INNER_FIELDS) & set(index.fields)
        assert properties["metadata"]["properties"]["string"]["fields"]["inner"] == parts
    for index in search_indexes.SEARCH_INDEXES:
        keywords = _keywords(index.mapping)
        assert keywords
        assert all(0 < keyword["ignore_above"] * 4 < 32_766 for keyword in keywords)
