"""Two folders that one asset keeps alike, and a folder that is followed; by the command."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path

from tests.journeys.runtime import Api, Runtime, wait_until
from tests.journeys.test_uploads import vitrine


def sync(runtime: Runtime, home: Path, verb: str, folder: Path, place: str, *options: str) -> str:
    """Run a sync, and return its table."""
    running = vitrine(runtime, home, "sync", verb, folder, place, *options)
    printed, errors = running.communicate(timeout=120)
    assert running.returncode in {0, 1}, printed + errors
    return printed


def files_of(folder: Path) -> Mapping[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.*")}


def test_what_one_person_pushes_another_pulls(
    runtime: Runtime, api: Api, database: str, tmp_path: Path
) -> None:
    place = f"{database}/{api.new_asset(database, 'Shared')}"
    ours, theirs, home = tmp_path / "ours", tmp_path / "theirs", tmp_path / "home"
    (ours / "sub").mkdir(parents=True)
    theirs.mkdir()
    (ours / "a.txt").write_text("first")
    (ours / "sub" / "b.txt").write_text("second")
    assert sync(runtime, home, "push", ours, place).count("upload\t") == 2
    assert sync(runtime, home, "pull", theirs, place).count("download\t") == 2
    assert files_of(ours) == files_of(theirs)
    for folder, verb in ((ours, "push"), (theirs, "push"), (ours, "pull"), (theirs, "pull")):
        assert sync(runtime, home, verb, folder, place, "--delete") == ""

    (theirs / "a.txt").write_text("theirs")
    assert "upload\t/a.txt" in sync(runtime, home, "push", theirs, place)
    (ours / "a.txt").write_text("ours, at the same time")
    for verb in ("push", "pull"):
        assert "conflict\t/a.txt" in sync(runtime, home, verb, ours, place)
    assert "download\t/a.txt" in sync(runtime, home, "pull", ours, place, "--force")
    assert files_of(ours) == files_of(theirs)

    (ours / "sub" / "b.txt").unlink()
    assert "archive\t/sub/b.txt" in sync(runtime, home, "push", ours, place, "--delete", "--yes")
    assert "remove\t/sub/b.txt" in sync(runtime, home, "pull", theirs, place, "--delete", "--yes")
    assert files_of(theirs) == {"a.txt": "theirs"}


def test_what_is_saved_in_a_watched_folder_is_uploaded(
    runtime: Runtime, api: Api, database: str, tmp_path: Path
) -> None:
    asset = api.new_asset(database, "Followed")
    work = tmp_path / "work"
    work.mkdir()
    (work / "early.txt").write_text("there before")
    watching = vitrine(runtime, tmp_path / "home", "watch", work, f"{database}/{asset}")
    path = f"/database/{database}/assets/{asset}"

    def sizes() -> dict[str, int]:
        listed = api.ok("GET", f"{path}/listFiles?basic=true")["items"]
        return {item["relativePath"]: item["size"] for item in listed}

    try:
        wait_until(lambda: sizes() == {"/early.txt": 12})
        with (work / "scene.blend").open("w") as file:
            for _ in range(8):
                file.write("x" * 100)
                file.flush()
                os.fsync(file.fileno())
                assert "/scene.blend" not in sizes()
        wait_until(lambda: sizes().get("/scene.blend") == 800)
        (work / "early.txt").unlink()
        (work / "scene.blend").write_text("saved again")
        wait_until(lambda: sizes() == {"/early.txt": 12, "/scene.blend": 11})
    finally:
        watching.send_signal(signal.SIGINT)
        printed, errors = watching.communicate(timeout=30)
    assert watching.returncode == 128 + signal.SIGINT, errors
    # the third may not be printed yet: it is seen on the server first
    assert printed.count("\tuploaded\t") >= 2
