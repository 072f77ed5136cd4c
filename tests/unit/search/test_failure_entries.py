"""Entries of the failure bucket: their keys, their first bytes, and what can be replayed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.aws.objects import S3Objects
from backend.core.paging import PageRequest
from backend.core.references import AssetRef, FileKeyRef
from backend.search.indexing.failures import FailureStore
from backend.search.maintenance.failure_entries import (
    BatchEntry,
    FailureEntries,
    PoisonEntry,
    Replays,
    StoredFailure,
    UnreadableFailureError,
    consumer_of,
    kind_of,
    parse_failure,
    parse_leading_members,
    summary_of,
)
from tests.factories.failures import BATCH_KEY, BUCKET, entries_in, failed_batch, put_object
from tests.factories.search import NOON

POISON_KEY = "IndexChanges/2026-03-01/" + "0" * 32 + ".json"


@pytest.fixture
def entries(objects: S3Objects) -> FailureEntries:
    return entries_in(objects)


def store(objects: S3Objects, consumer: str) -> FailureStore:
    return FailureStore(objects, BUCKET, consumer, lambda: NOON)


def stored_failure(text: str, key: str = BATCH_KEY) -> StoredFailure:
    return StoredFailure(key, "etag", text)


def test_keys_of_handlers_and_of_mappings_are_distinguished() -> None:
    assert (kind_of(POISON_KEY), kind_of(BATCH_KEY)) == ("poison", "batch")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/",
        POISON_KEY + "/",
        "/" + POISON_KEY,
        POISON_KEY.replace("IndexChanges", ".."),
        POISON_KEY.replace("IndexChanges", "a/b"),
        "IndexChanges/../" + POISON_KEY,
        POISON_KEY + "\n",
        POISON_KEY.replace("2026", "٢٠٢٦"),
        BATCH_KEY.replace("shardId-00000001573416256302-3011a914", ".."),
        BATCH_KEY + "/..",
        "aws/lambda/" + POISON_KEY,
        "pump/scan.glb",
    ],
)
def test_no_other_key_names_an_entry(key: str, entries: FailureEntries) -> None:
    assert kind_of(key) is None
    assert entries.read(key) is None


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=9),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
            max_leaves=6,
        ),
        max_size=5,
    ),
    st.integers(min_value=0, max_value=400),
    st.sampled_from([None, 1]),
)
def test_the_beginning_of_an_object_shows_its_first_members_whole(
    document: dict[str, Any], cut: int, indent: int | None
) -> None:
    text = json.dumps(document, indent=indent)
    assert parse_leading_members(text) == document
    members = parse_leading_members(text[:cut])
    names = list(document)
    assert list(members) == names[: len(members)]
    assert all(document[name] == value for name, value in members.items())


@pytest.mark.parametrize("text", ["", "[1]", "{", "null", '{"a" 1}', '{"a":', "{1:2}", "[" * 9999])
def test_what_is_no_object_returns_nothing(text: str) -> None:
    assert parse_leading_members(text) == {}


def test_a_physical_name_identifies_the_consumer() -> None:
    arn = "arn:aws:lambda:eu-central-1:123456789012:function:"
    assert consumer_of(f"{arn}vitrine-prod-indexing-IndexChanges-1RT8Q2B9K7XW") == "IndexChanges"
    assert consumer_of(f"{arn}IndexChanges") == "IndexChanges"
    assert consumer_of(f"{arn}IndexChanges:$LATEST") == "IndexChanges"
    assert consumer_of(f"{arn}vitrine-prod-api-SearchApi-1RT8Q2B9K7XW") is None
    assert consumer_of("IndexChanges") is None


def test_a_list_shows_each_entry_without_reading_it_whole(
    entries: FailureEntries, objects: S3Objects
) -> None:
    store(objects, "IndexObjects").store("m1", {"body": "x" * 100_000}, "is not JSON")
    put_object(objects, failed_batch([{"eventID": "x" * 100_000}]))
    put_object(objects, "not ours", key="notes.txt")
    poison, batch = entries.page(PageRequest(10)).items
    assert (poison.kind, poison.consumer, poison.name) == ("poison", "IndexObjects", "m1")
    assert (poison.reason, poison.failed_at) == ("is not JSON", "2026-03-01T12:00:00.000000Z")
    assert (batch.kind, batch.consumer) == ("batch", "IndexChanges")
    assert (batch.reason, batch.failed_at) == ("RecordAgeExceeded", "2026-03-01T11:00:00.717Z")
    assert min(poison.size, batch.size) > 100_000


def test_a_list_continues_after_a_page_and_can_be_that_of_a_consumer(
    entries: FailureEntries, objects: S3Objects
) -> None:
    for number in range(5):
        store(objects, "IndexChanges").store(f"e{number}", {}, "odd")
        store(objects, "IndexSettle").store(f"m{number}", {}, "odd")
    put_object(objects, failed_batch([{}]))
    starter = BATCH_KEY.replace("2d1b", "3d1b")
    put_object(objects, failed_batch([{}], function="s-JobStarter-X"), key=starter)
    for consumer, expected in ((None, 12), ("IndexChanges", 6), ("JobStarter", 1), ("Nobody", 0)):
        keys: list[str] = []
        request: PageRequest | None = PageRequest(2)
        while request is not None:
            page = entries.page(request, consumer=consumer)
            keys += (item.key for item in page.items)
            request = None if page.after is None else PageRequest(2, page.after)
        assert len(keys) == len(set(keys)) == expected
        assert keys == sorted(keys)


def test_an_entry_names_its_documents(entries: FailureEntries, objects: S3Objects) -> None:
    names = {AssetRef("museum", "pump"), FileKeyRef("museum", "pump", "pump/a:#.glb")}
    store(objects, "IndexChanges").store("assets-1/museum:pump", "{}", "odd", references=names)
    (entry,) = entries.page(PageRequest(10)).items
    read = entries.read(entry.key)
    assert read is not None
    assert parse_failure(read) == PoisonEntry("IndexChanges", frozenset(names), "{}")


def test_a_batch_is_read_as_it_is_documented() -> None:
    records = [{"eventID": "1"}, {"eventID": "2"}]
    entry = parse_failure(stored_failure(json.dumps(failed_batch(records))))
    assert entry == BatchEntry("IndexChanges", records)
    as_value = {**failed_batch([]), "payload": {"Records": records}}
    assert parse_failure(stored_failure(json.dumps(as_value))) == BatchEntry(
        "IndexChanges", records
    )


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "not JSON"),
        ("\ufffd\ufffd", "not JSON"),
        ("[]", "not an object"),
        ("{}", "nothing is not a consumer"),
        (json.dumps(failed_batch([], function="s-SearchApi-X")), "not a consumer of streams"),
        (json.dumps({**failed_batch([]), "payload": "x"}), "payload is not JSON"),
        (json.dumps({**failed_batch([]), "payload": None}), "contains no records"),
        (json.dumps({**failed_batch([]), "payload": "[1]"}), "contains no records"),
        (json.dumps(failed_batch([])), "contains no records"),
        (json.dumps(failed_batch([1])), "something that is not a record"),
    ],
)
def test_a_failure_that_cannot_be_replayed_has_a_reason(text: str, fact: str) -> None:
    with pytest.raises(UnreadableFailureError, match=fact):
        parse_failure(stored_failure(text))


@pytest.mark.parametrize("references", ["x", [["asset"]], [1], {"a": 1}])
def test_odd_references_are_not_guessed_at(references: object) -> None:
    with pytest.raises(UnreadableFailureError):
        parse_failure(stored_failure(json.dumps({"references": references}), POISON_KEY))


def test_a_note_is_stored_in_the_entry_and_does_not_replace_another_failure(
    entries: FailureEntries, objects: S3Objects
) -> None:
    key = put_object(objects, failed_batch([{"eventID": "1"}]))
    first = entries.read(key)
    assert first is not None
    noted = Replays(3, "2026-03-01T12:00:00.000000Z", "2026-03-01T12:20:00.000000Z", "still odd")
    assert entries.record(first, noted)
    (entry,) = entries.batches(PageRequest(10)).items
    assert (entry.replays, entry.reason) == (noted, "still odd")
    again = entries.read(key)
    assert again is not None
    assert parse_failure(again) == parse_failure(first)
    assert not entries.record(first, Replays(1))
    assert not entries.remove(first)
    assert entries.remove(again)
    assert entries.read(key) is None


def test_texts_that_cannot_be_written_are_shown_all_the_same() -> None:
    head = json.dumps({"name": "a\ud800b", "reason": "x" * 5000})
    summary = summary_of(POISON_KEY, 1, head)
    assert summary.name == "a\ufffdb"
    assert len(summary.reason or "") == 2000
