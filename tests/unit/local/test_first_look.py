"""The first start prints its stages, so that minutes of inspections do not look like a hang."""

from pathlib import Path

import pytest

from local import first_look
from local.errors import LocalError
from local.state import StateFolder


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    folder = tmp_path / "samples" / "library"
    folder.mkdir(parents=True)
    for name in ("a.glb", "b.glb"):
        (folder / name).write_bytes(b"glTF")
    return folder


def printed_lines(samples: Path, monkeypatch: pytest.MonkeyPatch, waiting: str) -> list[str]:
    def command(*arguments: str | Path) -> list[str]:
        return ["sh", "-c", waiting if arguments[0] == "wait" else "true"]

    monkeypatch.setattr(first_look, "vitrine", command)
    lines: list[str] = []
    state = StateFolder(samples.parent / "state")
    state.root.mkdir()
    first_look.import_samples(state, samples, lines.append)
    return lines


def test_each_stage_is_printed_with_what_it_waits_for(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = printed_lines(samples, monkeypatch, "echo '10 s: waiting for executions 3' >&2")
    assert found[0].startswith("importing 2 files from ")
    assert found[1:3] == [
        "waiting until the files are inspected and can be found",
        "  10 s: waiting for executions 3",
    ]
    assert found[3] == "try:"


def test_a_step_that_fails_is_named_with_its_last_line(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LocalError, match=r"^waiting for them failed: error: 3 changes are left$"):
        printed_lines(samples, monkeypatch, "echo 'error: 3 changes are left' >&2; exit 1")
