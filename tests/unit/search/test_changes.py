"""Documents that change events affect; events that cannot be parsed are reported by name."""

import json
from typing import Any

from backend.core.objects import ObjectRef
from backend.core.references import AssetRef, FileKeyRef, FileRef
from backend.search.indexing.changes import FanOut, object_changes, settle_changes, table_changes
from backend.search.indexing.references import to_messages
from backend.spec.tables import TABLES
from tests.factories.search import object_message, stream_record

FILE_KEY = "databaseId:assetId:filePath"


def test_no_two_tables_with_a_stream_have_keys_of_the_same_names() -> None:
    names = [frozenset(table.key_names) for table in TABLES if table.stream]
    assert len(set(names)) == len(names)


def test_an_asset_in_either_partition_is_the_same_document() -> None:
    records = [
        stream_record({"databaseId": database_id, "assetId": "pump"})
        for database_id in ("museum", "museum#deleted")
    ]
    assert table_changes(records).references == {AssetRef("museum", "pump")}


def test_metadata_at_the_root_touches_the_asset_and_other_metadata_the_file() -> None:
    records = [
        stream_record({"metadataKey": "k", FILE_KEY: "museum:pump:/"}),
        stream_record({"metadataKey": "k", FILE_KEY: "museum:pump:/a:b/c.glb"}),
        stream_record({"attributeKey": "k", FILE_KEY: "museum:pump:/d.glb"}),
    ]
    assert table_changes(records).references == {
        AssetRef("museum", "pump"),
        FileRef("museum", "pump", "/a:b/c.glb"),
        FileRef("museum", "pump", "/d.glb"),
    }


def test_ten_records_of_one_file_are_one_reference() -> None:
    records = [
        stream_record({"metadataKey": f"k{n}", FILE_KEY: "museum:pump:/a.glb"}) for n in range(10)
    ]
    assert len(table_changes(records).references) == 1


def test_a_new_link_touches_both_ends_and_a_removed_one_identifies_no_one() -> None:
    ends = {
        "fromAssetDatabaseId:fromAssetId": {"S": "museum:pump"},
        "toAssetDatabaseId:toAssetId": {"S": "depot:wheel"},
    }
    key = {"assetLinkId": "link"}
    assert table_changes([stream_record(key, ends)]).references == {
        AssetRef("museum", "pump"),
        AssetRef("depot", "wheel"),
    }
    assert not table_changes([stream_record(key)]).references


def test_tables_that_are_in_no_document_touch_nothing() -> None:
    records = [
        stream_record({"databaseId": "museum"}, {}),
        stream_record({"metadataKey": "k", "databaseId": "museum"}, {}),
        stream_record({"assetLinkId": "link", "metadataKey": "k"}, {}),
    ]
    changes = table_changes(records)
    assert not changes.references
    assert not changes.poison


def test_only_a_later_inherited_revision_makes_a_fan_out_and_only_the_last_counts() -> None:
    key = {"databaseId": "museum", "assetId": "pump"}
    records = [
        stream_record(key, {"inheritedRevision": {"N": str(revision)}}) for revision in (1, 3, 2)
    ]
    assert table_changes(records).fan_outs == {FanOut("museum", "pump", 3)}
    assert not table_changes(records[:1]).fan_outs
    assert not table_changes([stream_record(key, {})]).fan_outs


def test_poison_is_named_and_leaves_the_rest_of_the_batch_alone() -> None:
    good = stream_record({"databaseId": "museum", "assetId": "pump"}, event_id="good")
    bad: list[Any] = [
        {"eventID": "no change"},
        stream_record({}, event_id="no key"),
        stream_record({"unknown": "x"}, event_id="unknown table"),
        stream_record({"metadataKey": "k", FILE_KEY: "museum"}, event_id="no path"),
        stream_record({"databaseId": "m", "assetId": ""}, event_id="empty id"),
        stream_record(
            {"databaseId": "m", "assetId": "a"}, {"inheritedRevision": {"N": "x"}}, event_id="NaN"
        ),
        None,
        "text",
    ]
    changes = table_changes([*bad[:3], good, *bad[3:]])
    assert AssetRef("museum", "pump") in changes.references
    names = {poison.name for poison in changes.poison}
    assert {"no change", "no key", "unknown table", "no path", "empty id", "NaN"} < names
    assert len(changes.poison) == len(bad)
    assert all(poison.reason for poison in changes.poison)


def test_keys_of_object_events_are_taken_as_they_are() -> None:
    messages = [object_message("bucket", "pump/a+b %20é.glb")]
    assert object_changes(messages).references == {ObjectRef("bucket", "pump/a+b %20é.glb")}


def test_messages_that_are_no_events_are_poison() -> None:
    bodies = ["", "not json", "[]", '{"detail": {}}', "[" * 100_000]
    messages: list[dict[str, Any]] = [
        {"messageId": str(n), "body": b} for n, b in enumerate(bodies)
    ]
    changes = object_changes([*messages, {"messageId": "none"}])
    assert len(changes.poison) == len(bodies) + 1
    assert not changes.references


def test_settle_messages_return_what_was_put_into_them() -> None:
    references = {
        AssetRef("museum", "pump"),
        FileRef("museum", "pump", "/" + "é" * 500),
        ObjectRef("bucket", "pump/a.glb"),
        FileKeyRef("museum", "pump", "base/pump/a:#.glb"),
    }
    messages = [{"messageId": "m", "body": json.dumps(body)} for body in to_messages(references)]
    assert settle_changes(messages).references == references


def test_many_references_are_cut_into_messages_that_fit_a_queue() -> None:
    references = {FileRef("museum", "pump", f"/{n:05}-" + "ü" * 900) for n in range(1000)}
    messages = list(to_messages(references))
    assert len(messages) > 1
    assert all(len(json.dumps(message)) < 240_000 for message in messages)
    changes = settle_changes([{"messageId": "m", "body": json.dumps(body)} for body in messages])
    assert changes.references == references


def test_a_settle_message_of_another_shape_is_poison() -> None:
    bodies: list[Any] = [
        {},
        {"references": "x"},
        {"references": [["asset", "only"]]},
        {"references": [["file", "a", "b", 3]]},
        {"references": [[]]},
    ]
    messages = [{"messageId": "m", "body": json.dumps(body)} for body in bodies]
    assert len(settle_changes(messages).poison) == len(bodies)
