"""Bulk writing: what is retried, in how large requests, and what counts as done."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from backend.core.errors import InvalidInputError, TooLargeError, UnavailableError
from backend.core.search_engine import DocumentResult, DocumentWrite
from backend.search.indexing.bulk import MAX_BYTES, BulkWriter, write_of
from backend.search.indexing.projections import AssetGone, Document, project
from backend.spec.search_indexes import ASSET_INDEX
from tests.factories.search import NOON
from tests.fakes.search_engine import MemorySearchEngine


@dataclass
class Flaky(MemorySearchEngine):
    """Does for each request what the next entry of `troubles` says, and is well afterwards."""

    troubles: list[object] = field(default_factory=list[object])

    def bulk(self, writes: Sequence[DocumentWrite]) -> list[DocumentResult]:
        trouble = self.troubles.pop(0) if self.troubles else None
        if isinstance(trouble, Exception):
            self.bulks.append(len(writes))
            raise trouble
        results = super().bulk(writes)
        if isinstance(trouble, int):
            return [DocumentResult(w.index, w.id, trouble, "busy") for w in writes]
        return results


def flaky(*troubles: object) -> Flaky:
    engine = Flaky(troubles=list(troubles))
    engine.indexes["assets-1"] = {}
    return engine


def writes(count: int, *, size: int = 1) -> list[DocumentWrite]:
    return [DocumentWrite("assets-1", str(n), 5, f'{{"a":"{"x" * size}"}}') for n in range(count)]


def test_requests_hold_a_thousand_documents_and_five_megabytes_at_the_most() -> None:
    engine = flaky()
    BulkWriter(engine).write(writes(2500))
    assert engine.bulks == [1000, 1000, 500]
    large = flaky()
    BulkWriter(large).write(writes(3, size=MAX_BYTES // 2))
    assert large.bulks == [1, 1, 1]


def test_an_outage_is_retried_in_smaller_requests_until_all_is_written() -> None:
    engine = flaky(UnavailableError("down"), UnavailableError("down"))
    outcome = BulkWriter(engine).write(writes(8))
    assert engine.bulks[:3] == [8, 4, 2]
    assert outcome.written == 8


@pytest.mark.parametrize("status", [429, 503, 404, 403])
def test_items_that_were_not_taken_are_sent_again(status: int) -> None:
    engine = flaky(status)
    outcome = BulkWriter(engine).write(writes(4))
    assert outcome.written + outcome.overtaken == 4
    assert len(engine.bulks) > 1


def test_a_lasting_outage_is_reported_and_never_swallowed() -> None:
    with pytest.raises(UnavailableError):
        BulkWriter(flaky(*[UnavailableError("down")] * 50), patience=0).write(writes(2))
    with pytest.raises(UnavailableError, match="503 busy"):
        BulkWriter(flaky(*[503] * 50), patience=0).write(writes(2))


def test_an_older_version_is_overtaken_and_that_is_success() -> None:
    engine = flaky()
    engine.indexes["assets-1"]["0"] = (9, {})
    outcome = BulkWriter(engine).write(writes(2))
    assert (outcome.written, outcome.overtaken, outcome.highest_stored) == (1, 1, 9)


def test_only_the_refused_document_is_poison() -> None:
    engine = flaky()
    engine.refuses = lambda write: "bad" if write.id == "1" else None
    outcome = BulkWriter(engine).write(writes(3))
    assert [(write.id, reason) for write, reason in outcome.refused] == [("1", "bad")]
    assert outcome.written == 2


@pytest.mark.parametrize("error", [InvalidInputError("refused"), TooLargeError("too large")])
def test_a_request_that_is_refused_whole_is_halved_until_the_cause_is_found(
    error: Exception,
) -> None:
    class RejectingEngine(MemorySearchEngine):
        def bulk(self, writes: Sequence[DocumentWrite]) -> list[DocumentResult]:
            if any(write.id == "5" for write in writes):
                raise error
            return super().bulk(writes)

    engine = RejectingEngine()
    engine.indexes["assets-1"] = {}
    outcome = BulkWriter(engine).write(writes(9))
    assert [write.id for write, _ in outcome.refused] == ["5"]
    assert outcome.written == 8


def test_the_hash_is_of_the_content_and_not_of_the_version() -> None:
    document = project(AssetGone("museum", "pump"))
    engine = flaky()
    hashes: list[str] = []
    for version in (5, 6):
        BulkWriter(engine).write([write_of(document, "assets-1", version)])
        body = engine.document("assets-1", "museum:pump") or {}
        assert body["rev"] == version
        hashes.append(body["hash"])
    other = Document(document.index, document.id, {**document.body, "str_assetname": "é"})
    BulkWriter(engine).write([write_of(other, "assets-1", 7)])
    assert hashes[0] == hashes[1]
    assert (engine.document("assets-1", "museum:pump") or {})["hash"] != hashes[0]


@pytest.mark.parametrize("length", [*range(760, 780), *range(9760, 9780), 100_000])
@pytest.mark.parametrize("char", ["x", "é"])
def test_a_document_carries_the_size_of_its_own_source_in_bytes(length: int, char: str) -> None:
    document = Document(ASSET_INDEX, "a", {"_rectype": "asset", "str_assetname": char * length})
    body = write_of(document, "assets-1", 5).body
    assert json.loads(body)["source_bytes"] == len(body.encode())
    old = write_of(replace(document, mapping_version=1), "assets-1", 5).body
    assert json.loads(body) == {**json.loads(old), "source_bytes": len(body.encode())}
    assert "source_bytes" not in old


def test_only_a_tombstone_carries_its_time_and_not_in_its_hash() -> None:
    gone = project(AssetGone("museum", "pump"))
    bodies = [
        json.loads(write_of(gone, "assets-1", 5, tombstone_at=at).body)
        for at in (NOON, NOON + timedelta(days=1))
    ]
    assert [body["date_deleted"][:10] for body in bodies] == ["2026-03-01", "2026-03-02"]
    assert bodies[0]["hash"] == bodies[1]["hash"]
    alive = Document(gone.index, gone.id, {"_rectype": "asset", "str_assetname": "deleted"})
    assert "date_deleted" not in write_of(alive, "assets-1", 5, tombstone_at=NOON).body
