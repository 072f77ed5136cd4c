"""The parts of the tests, the records of what passed, and releases."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tests import proofs, release, running
from tests.amounts import AMOUNTS
from tests.changes import AREAS, parts_to_run, reduced
from tests.engines import HOST_FOLDER
from tests.imports import ROOT, needed_files
from tests.parts import ENVIRONMENT, LONG, PARTS, RUNTIME, SHARED, SHORT, Part, Run, inputs
from tests.proofs import Proof, file_blobs, inputs_digest, is_under, read_proofs, write_proofs

FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))


class Place(NamedTuple):
    """A run of a part."""

    part: str
    run: Run

    @property
    def repeats(self) -> bool:
        """Return whether the run has larger amounts than others, or another engine."""
        return bool(self.run.amounts or "TABLES" in self.run.environment)


PLACES = [Place(name, run) for name, part in PARTS.items() for run in part.runs]


def places(file: str) -> list[Place]:
    return [
        place
        for place in PLACES
        if is_under(file, place.run.paths) and not is_under(file, place.run.without)
    ]


def homes(file: str) -> list[Place]:
    result = places(file)
    return [item for item in result if not item.repeats] if len(result) > 1 else result


def test_each_test_file_belongs_to_one_part() -> None:
    result = {file: [home.part for home in homes(file)] for file in FILES}
    assert {file: parts for file, parts in result.items() if len(parts) != 1} == {}


def test_each_path_of_a_part_has_test_files() -> None:
    wanted = {path for place in PLACES for path in (*place.run.paths, *place.run.without)}
    assert {path for path in wanted if not any(is_under(file, (path,)) for file in FILES)} == set()


def test_a_part_repeats_only_files_whose_amount_it_raises() -> None:
    repeated = [
        (place.part, file, place.run.amounts)
        for file in FILES
        for place in places(file)
        if place.run.amounts and len(places(file)) > 1
    ]
    assert len(repeated) > 10
    assert [(part, file) for part, file, names in repeated if not set(names) & used(file)] == []


def used(file: str) -> set[str]:
    """The amounts that a test module, or an imported module of tests, reads."""
    modules = [path for path in needed_files([file]) if path.startswith("tests/")]
    texts = ((ROOT / path).read_text(encoding="utf-8") for path in modules if path.endswith(".py"))
    return {name for text in texts for name in re.findall(r'amount\("(\w+)"\)', text)}


TRACKED = file_blobs()
STARTS_THE_RUNTIME = ("tests/journeys/runtime.py", "tests/costs/test_costs.py")


@pytest.mark.parametrize("part", [*SHORT, *LONG])
def test_the_inputs_of_a_part_are_complete(part: str) -> None:
    tests = [file for file in FILES if part in {place.part for place in places(file)}]
    needed = needed_files(tests)
    starts_the_runtime = needed & {*STARTS_THE_RUNTIME} or PARTS[part].command[:1] == ("make",)
    assert not starts_the_runtime or {*SHARED, *RUNTIME} <= {*inputs(part)}
    wanted = [path for path in TRACKED if is_under(path, needed)]
    assert [path for path in sorted(wanted) if not is_under(path, inputs(part))] == []


def test_inputs_are_files_that_there_are() -> None:
    named = {path for part in (*SHORT, *LONG) for path in inputs(part)}
    assert {path for path in named if not any(is_under(file, (path,)) for file in TRACKED)} == set()


def test_what_runs_for_a_change_is_declared_for_each_slice_and_exists() -> None:
    slices = {path.split("/")[2] for path in TRACKED if path.startswith("backend/domains/")}
    assert {f"backend/domains/{name}" for name in slices - {"__init__.py"}} <= {*AREAS}
    runs = {run for area in AREAS.values() for run in area} - {*SHORT}
    assert {run for run in runs if not any(is_under(file, (run,)) for file in FILES)} == set()
    assert {area for area in AREAS if not any(is_under(file, (area,)) for file in TRACKED)} == set()


def test_many_is_more_than_few() -> None:
    assert {name: amount for name, amount in AMOUNTS.items() if amount.many <= amount.few} == {}


def test_each_amount_is_read_by_a_test_and_raised_by_a_part() -> None:
    read = {name for file in FILES for name in used(file)}
    raised = {name for place in PLACES for name in place.run.amounts}
    assert read == raised == set(AMOUNTS)


@pytest.mark.parametrize("file", ["README.md", "docs/guides/proofs.md"])
def test_pages_name_parts_that_there_are(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    named = re.findall(r'PART="?([a-z ]+)"?', text)
    assert {element for item in named for element in item.split()} - set(PARTS) == set()


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
        ("backend/domains/comments/rules.py", {"contract", "tests/journeys/test_links.py"}),
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


VERSION = next(iter(release.package_versions().values()))


def test_every_package_has_the_version_that_the_changelog_describes() -> None:
    assert set(release.package_versions().values()) == {VERSION}
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert release.changelog_section(VERSION, changelog)
    assert release.changelog_section("0.0.9", changelog) == ""


@pytest.mark.parametrize(
    ("version", "tags", "due", "sentence"),
    [
        ("", (), (), "'' is not of the form 1.2.3"),
        ("v1.0.0", (), (), "'v1.0.0' is not of the form 1.2.3"),
        ("1.0.0", ("v0.9.0", "v1.0.0"), (), "1.0.0 exists already, as the tag v1.0.0"),
        ("1.0.1", (), (), "1.0.1 is not the version in a.toml, b.json"),
        ("1.0.0", (), ("docs", "kills", "web"), 'run: make prove PART="docs kills"'),
    ],
)
def test_a_release_is_refused(
    version: str, tags: tuple[str, ...], due: tuple[str, ...], sentence: str
) -> None:
    versions = {"a.toml": "1.0.0", "b.json": "1.0.0"}
    with pytest.raises(release.ReleaseError) as refused:
        release.check(version, versions=versions, tags=tags, due=due)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_due_long_parts_do_not_keep_a_release_but_are_named() -> None:
    release.check("1.0.0", versions={"a.toml": "1.0.0"}, tags=(), due=("scale",))
    record = {"scale": Proof("1df5046bca4d", "5f", 900), "fuzz": Proof("7e788d1e0000", "60", 300)}
    notes = release.notes("- An entry.", ["scale", "mlflow"], record)
    assert "- `scale`: passed at 1df5046bca4d, of other files\n" in notes
    assert "- `fuzz`: passed at 7e788d1e0000\n" in notes
    assert "- `mlflow`: no record\n" in notes
    assert notes.count("\n- `") == len(LONG)


def test_changes_are_refused_in_one_sentence_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    monkeypatch.setattr(proofs, "is_clean", lambda: False)
    assert release.main([VERSION]) == 1
    assert capsys.readouterr().err == (
        "no release: there are uncommitted changes; commit or remove them\n"
    )
    assert not (tmp_path / "dist").exists()


def test_the_materials_of_the_page_are_those_that_it_runs() -> None:
    development = [{"name": "cdx:npm:package:development", "value": "true"}]
    materials: dict[str, Any] = {
        "metadata": {"component": {"bom-ref": "page@1"}},
        "components": [
            {"bom-ref": "react@19", "properties": []},
            {"bom-ref": "vite@8", "properties": development},
        ],
        "dependencies": [
            {"ref": "page@1", "dependsOn": ["react@19", "vite@8"]},
            {"ref": "react@19", "dependsOn": []},
            {"ref": "vite@8", "dependsOn": ["react@19"]},
        ],
    }
    page = release.deployed_materials(materials)
    assert [item["bom-ref"] for item in page["components"]] == ["react@19"]
    assert page["dependencies"] == [
        {"ref": "page@1", "dependsOn": ["react@19"]},
        {"ref": "react@19", "dependsOn": []},
    ]


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_ends_what_it_started(signum: int) -> None:
    # The pause: a command is known to the program only after its start.
    program = """
import sys
from tests import running

part = running.Part("", (), (), command=("sh", "-c", "sleep 20 & sleep 1; echo started; wait"))
running.run_all = lambda _: running.run("kills", part)
sys.exit(running.main(["kills"]))
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        began = monotonic()
        process.send_signal(signum)
        assert process.stdout.read() == "", "the pipe is open while a process has it"
        assert process.wait() == 128 + signum
        assert monotonic() - began < 15
