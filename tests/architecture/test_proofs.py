"""Due parts, the parts that run now, and records that cannot be read."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import proofs, running
from tests.changes import parts_to_run, reduced
from tests.engines import HOST_FOLDER
from tests.parts import ENVIRONMENT, SHORT, Part, inputs
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


def test_blobs_are_those_of_the_working_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "ROOT", tmp_path)
    for name in ("changed", "deleted", "same"):
        (tmp_path / name).write_text("before")
    for command in ("init --quiet", "add ."):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    before = file_blobs()
    (tmp_path / "changed").write_text("after")
    (tmp_path / "deleted").unlink()
    (tmp_path / "new").write_text("before")
    after = file_blobs()
    assert after.keys() == {"changed", "same", "new"}
    assert after["same"] == after["new"] == before["changed"] != after["changed"]


def passes(_name: str, _part: Part) -> bool:
    return True


KILLS = SHORT["kills"]


@pytest.mark.parametrize(
    ("part", "environment", "is_clean", "is_recorded"),
    [
        (KILLS, {}, True, True),
        (KILLS._replace(runs=KILLS.runs[:0]), {}, True, False),
        (KILLS, {"CI": "true"}, True, False),
        (KILLS, {"POLICIES": "1"}, True, False),
        (KILLS, {"KILL_ROUNDS": "9"}, True, False),
        (KILLS, {}, False, False),
    ],
    ids=["whole", "some of it", "in CI", "an amount", "a variable", "changes"],
)
def test_only_a_whole_part_on_a_clean_tree_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    part: Part,
    environment: Mapping[str, str],
    is_clean: bool,
    is_recorded: bool,
) -> None:
    for name in ("CI", *ENVIRONMENT):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(HOST_FOLDER, os.environ[HOST_FOLDER])  # restored at the end
    host = SimpleNamespace(folder=os.environ[HOST_FOLDER], stop=lambda: None)
    monkeypatch.setattr(running, "EngineHost", lambda: host)
    monkeypatch.setattr(running, "RECORDS", tmp_path)
    monkeypatch.setattr(running, "run", passes)
    monkeypatch.setattr(proofs, "is_clean", lambda: is_clean)
    written: list[Mapping[str, Proof]] = []
    monkeypatch.setattr(proofs, "write_proofs", written.append)
    assert running.run_all({"kills": part})
    assert [set(record) >= {"kills"} for record in written] == [True] * is_recorded
