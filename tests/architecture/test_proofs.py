"""Due parts, the parts that run now, and records that cannot be read."""

import json
from pathlib import Path

import pytest

from tests.changes import parts_to_run, reduced
from tests.parts import SHORT, inputs
from tests.proofs import Proof, file_blobs, inputs_digest, read_proofs, write_proofs

BLOBS = file_blobs()


def proof(part: str, commit: str = "HEAD") -> Proof:
    return Proof(commit, inputs_digest(inputs(part), BLOBS), 1)


def test_a_part_is_due_once_an_input_changes_appears_or_goes() -> None:
    before = inputs_digest(inputs("docs"), BLOBS)
    readme = {path: blob for path, blob in BLOBS.items() if path != "README.md"}
    assert inputs_digest(inputs("docs"), {**BLOBS, "README.md": "0"}) != before
    assert inputs_digest(inputs("docs"), {**BLOBS, "docs/new.md": "0"}) != before
    assert inputs_digest(inputs("docs"), readme) != before
    assert inputs_digest(inputs("docs"), {**BLOBS, "web/new.ts": "0"}) != before
    assert inputs_digest(inputs("kills"), readme) == inputs_digest(inputs("kills"), BLOBS)


def test_proved_parts_do_not_run_again() -> None:
    assert set(parts_to_run({part: proof(part) for part in SHORT})) == {"page"}


def test_parts_without_a_proof_that_can_be_compared_run_whole() -> None:
    assert parts_to_run({}) == SHORT
    unknown = {part: Proof("0" * 40, "of another state", 1) for part in SHORT}
    assert parts_to_run(unknown) == SHORT


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ("backend/core/paging.py", set(SHORT)),
        ("local/gateway.py", set(SHORT)),
        ("web/src/main.tsx", set[str]()),
        ("docs/guides/searching.md", {"docs"}),
        ("backend/domains/comments/rules.py", {"contract", "tests/journeys/test_comments.py"}),
        ("tests/journeys/test_links.py", {"tests/journeys/test_links.py"}),
        ("tests/factories/assets.py", set[str]()),
    ],
)
def test_what_runs_depends_on_what_changed(changed: str, runs: set[str]) -> None:
    parts = {name: part for name in SHORT if (part := reduced(name, [changed]))}
    whole = {name for name, part in parts.items() if part == SHORT[name]}
    files = {
        path
        for name, part in parts.items()
        if name not in whole
        for pytest_run in part.runs
        for path in pytest_run.paths
    }
    assert whole | files == runs


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = {"kills": Proof("1df5046bca4d", "5f", 260), "docs": Proof("1df5046bca4d", "60", 99)}
    write_proofs(record, tmp_path / "proved.json")
    assert read_proofs(tmp_path / "proved.json") == record


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '"kills"',
        json.dumps({"kills": "1df5046b"}),
        json.dumps({"kills": {"commit": "1df5046b", "digest": None, "seconds": 1}}),
        json.dumps({"kills": {"commit": "1df5046b"}}),
    ],
)
def test_what_cannot_be_read_of_a_record_is_due(tmp_path: Path, text: str) -> None:
    path = tmp_path / "proved.json"
    path.write_text(text, encoding="utf-8")
    assert read_proofs(path) == {}
    assert read_proofs(tmp_path / "none.json") == {}
