"""Every test file runs in one part, and long parts repeat files only with larger amounts."""

import re
from typing import NamedTuple

import pytest

from tests.amounts import AMOUNTS
from tests.changes import AREAS
from tests.imports import ROOT, needed_files
from tests.parts import LONG, PARTS, RUNTIME, SHARED, SHORT, Run, inputs
from tests.proofs import file_blobs, is_under

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
        each
        for each in PLACES
        if is_under(file, each.run.paths) and not is_under(file, each.run.without)
    ]


def homes(file: str) -> list[Place]:
    found = places(file)
    return [each for each in found if not each.repeats] if len(found) > 1 else found


def test_each_test_file_belongs_to_one_part() -> None:
    found = {file: [each.part for each in homes(file)] for file in FILES}
    assert {file: parts for file, parts in found.items() if len(parts) != 1} == {}


def test_each_path_of_a_part_has_test_files() -> None:
    wanted = {path for each in PLACES for path in (*each.run.paths, *each.run.without)}
    assert {path for path in wanted if not any(is_under(file, (path,)) for file in FILES)} == set()


def test_a_part_repeats_only_files_whose_amount_it_raises() -> None:
    repeated = [
        (each.part, file, each.run.amounts)
        for file in FILES
        for each in places(file)
        if each.run.amounts and len(places(file)) > 1
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
    assert {name: each for name, each in AMOUNTS.items() if each.many <= each.few} == {}


def test_each_amount_is_read_by_a_test_and_raised_by_a_part() -> None:
    read = {name for file in FILES for name in used(file)}
    raised = {name for each in PLACES for name in each.run.amounts}
    assert read == raised == set(AMOUNTS)


@pytest.mark.parametrize("file", ["README.md", "docs/guides/proofs.md"])
def test_pages_name_parts_that_there_are(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    named = re.findall(r'PART="?([a-z ]+)"?', text)
    assert {each for one in named for each in one.split()} - set(PARTS) == set()
