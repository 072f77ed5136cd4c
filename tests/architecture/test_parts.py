"""Every test file runs in one part, and long parts repeat files only with larger amounts."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.amounts import AMOUNTS
from tests.parts import PARTS, ROOT, Run

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


def under(file: str, paths: tuple[str, ...]) -> bool:
    return any(file == path or file.startswith(f"{path}/") for path in paths)


def places(file: str) -> list[Place]:
    return [
        each for each in PLACES if under(file, each.run.paths) and not under(file, each.run.without)
    ]


def homes(file: str) -> list[Place]:
    found = places(file)
    return [each for each in found if not each.repeats] if len(found) > 1 else found


def test_each_test_file_belongs_to_one_part() -> None:
    found = {file: [each.part for each in homes(file)] for file in FILES}
    assert {file: parts for file, parts in found.items() if len(parts) != 1} == {}


def test_each_path_of_a_part_has_test_files() -> None:
    wanted = {path for each in PLACES for path in (*each.run.paths, *each.run.without)}
    assert {path for path in wanted if not any(under(file, (path,)) for file in FILES)} == set()


def test_a_part_repeats_only_files_whose_amount_it_raises() -> None:
    repeated = [
        (each.part, file, each.run.amounts)
        for file in FILES
        for each in places(file)
        if each.run.amounts and len(places(file)) > 1
    ]
    assert len(repeated) > 10
    assert [
        (part, file) for part, file, names in repeated if not set(names) & used(ROOT / file)
    ] == []


def used(path: Path) -> set[str]:
    """The amounts that a test module, or an imported module of tests, reads."""
    seen, waiting, found = set[Path](), [path], set[str]()
    while waiting:
        module = waiting.pop()
        if module in seen or not module.exists():
            continue
        seen.add(module)
        text = module.read_text(encoding="utf-8")
        found.update(re.findall(r'amount\("(\w+)"\)', text))
        names = re.findall(r"^from (tests\.[\w.]+) import", text, re.MULTILINE)
        waiting += [ROOT / f"{name.replace('.', '/')}.py" for name in names]
        waiting.append(module.with_name("conftest.py"))
    return found


def test_many_is_more_than_few() -> None:
    assert {name: each for name, each in AMOUNTS.items() if each.many <= each.few} == {}


def test_each_amount_is_read_by_a_test_and_raised_by_a_part() -> None:
    read = {name for file in FILES for name in used(ROOT / file)}
    raised = {name for each in PLACES for name in each.run.amounts}
    assert read == raised == set(AMOUNTS)


@pytest.mark.parametrize("file", ["README.md", "docs/guides/proofs.md"])
def test_pages_name_parts_that_there_are(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    named = re.findall(r'PART="?([a-z ]+)"?', text)
    assert {each for one in named for each in one.split()} - set(PARTS) == set()
