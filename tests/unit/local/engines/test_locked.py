"""Lock files of jars: reading, writing, and what is shipped."""

from pathlib import Path

import pytest

from local.engines import EngineError
from local.engines.jars.locked import Artifact, Locked, lock_path, read_lock
from local.engines.versions import LEFT_OUT, ROOTS

A = "a" * 64
B = "b" * 64


def locked(tmp_path: Path, text: str) -> list[Locked]:
    path = tmp_path / "x.lock"
    path.write_text(text)
    return read_lock(path)


def test_a_line_is_read_with_classifier_and_type(tmp_path: Path) -> None:
    entries = locked(
        tmp_path, f"# said\n\no.x:lib:1.0+2 {A}  # why\no.x:nat:1:linux-x86_64@so {B}\n"
    )
    assert entries == [
        Locked(Artifact("o.x", "lib", "1.0+2", None, "jar"), A),
        Locked(Artifact("o.x", "nat", "1", "linux-x86_64", "so"), B),
    ]
    assert str(entries[0].artifact.path) == "o/x/lib/1.0+2/lib-1.0+2.jar"
    assert str(entries[1].artifact.path) == "o/x/nat/1/nat-1-linux-x86_64.so"


@pytest.mark.parametrize(
    "line",
    [
        f"o.x:lib {A}",
        "o.x:lib:1",
        f"o.x:lib:1 {A[:-1]}",
        f"o.x:lib:1 {A.upper()}",
        f"o.x:../l:1 {A}",
    ],
)
def test_a_line_that_is_no_lock_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(EngineError, match=r"x\.lock line 2 is not a lock line"):
        locked(tmp_path, f"o.x:fine:1 {A}\n{line}\n")


@pytest.mark.parametrize("engine", ROOTS)
def test_the_shipped_lock_has_its_roots_and_nothing_left_out(engine: str) -> None:
    entries = read_lock(lock_path(engine))
    assert set(ROOTS[engine]) <= {entry.artifact.coordinate for entry in entries}
    present = {f"{entry.artifact.group}:{entry.artifact.artifact}" for entry in entries}
    assert not present & set(LEFT_OUT[engine])
