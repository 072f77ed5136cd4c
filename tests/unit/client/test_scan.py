"""The assets and files of a folder on the disk, and the names that are skipped, with reasons."""

import os
import unicodedata
from pathlib import Path

import pytest
from pathspec import GitIgnoreSpec
from vitrine.transfer import scan as scanning
from vitrine.transfer.scan import Scan, scan, scan_files, scan_one


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "garage"
    folder.mkdir()
    return folder


def put(root: Path, name: str, content: bytes = b"x") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def keys(content: Scan) -> dict[str, list[str]]:
    return {folder.name: [file.key for file in folder.files] for folder in content.folders}


def reasons(content: Scan) -> dict[str, str]:
    return {Path(problem.path).name: problem.reason for problem in content.problems}


def test_each_folder_is_an_asset_and_loose_files_are_one_more(root: Path) -> None:
    deep = "/".join(["d"] * 300)
    names = ("car/a.glb", "car/parts/wheel.obj", "bike/b.stl", "readme.txt", f"deep/{deep}/a.glb")
    for name in names:
        put(root, name, b"12345")
    (root / "empty").mkdir()
    (root / "car" / "same.glb").symlink_to("a.glb")  # a link to a file inside is followed
    content = scan(root)
    assert keys(content) == {
        "bike": ["/b.stl"],
        "car": ["/a.glb", "/parts/wheel.obj", "/same.glb"],
        "deep": [f"/{deep}/a.glb"],
        "empty": [],
        "garage": ["/readme.txt"],
    }
    assert {file.size for folder in content.folders for file in folder.files} == {5}
    put(root, "garage/a.glb")  # a folder of the name that loose files have
    assert keys(scan(root))["garage"] == ["/a.glb"]
    assert keys(scan(root))["garage-files"] == ["/readme.txt"]


def test_links_that_lead_out_to_folders_or_nowhere_are_not_followed(root: Path) -> None:
    secret = put(root.parent, "secret.txt")
    put(root, "car/parts/wheel.obj")
    (root / "car" / "out.txt").symlink_to(secret)
    (root / "car" / "loop").symlink_to(root, target_is_directory=True)
    (root / "car" / "gone").symlink_to("nothing")
    (root / "linked").symlink_to("car", target_is_directory=True)
    content = scan(root)
    assert keys(content) == {"car": ["/parts/wheel.obj"]}
    assert reasons(content) == {
        "out.txt": "a symbolic link to a target outside the folder",
        "loop": "a symbolic link to a folder is not followed",
        "linked": "a symbolic link to a folder is not followed",
        "gone": "a symbolic link to a missing target",
    }
    assert not any(problem.unreadable for problem in content.problems)


def test_links_in_circles_pipes_and_files_that_may_not_be_read_are_reported(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    os.mkfifo(root / "pipe")
    reason = "a circular symbolic link"
    assert reasons(scan(root)) == {"a": reason, "b": reason, "pipe": "not a regular file"}
    closed = put(root, "car/closed.glb")

    def deny(_path: Path, _mode: int) -> bool:
        return False

    # Removing the permission would not suffice: root may read everything.
    monkeypatch.setattr(scanning.os, "access", deny)
    [problem] = [problem for problem in scan(root).problems if problem.path == str(closed)]
    assert problem.unreadable
    assert problem.reason == "cannot be read: permission denied"


def test_names_that_cannot_be_stored_are_reported(root: Path) -> None:
    put(root, "car/what?.glb")
    put(root, "car/end.")
    undecodable = os.fsdecode(os.fsencode(root / "car") + b"/\xff.glb")
    Path(undecodable).write_bytes(b"x")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff")).mkdir()
    problems = reasons(scan(root))
    assert sorted(problems) == ["\\udcff", "\\udcff.glb", "end.", "what?.glb"]
    assert problems["\\udcff.glb"] == "the name is not valid UTF-8"
    assert problems["\\udcff"] == "the folder's name is not valid UTF-8"
    assert [folder.name for folder in scan(root).folders] == ["car"]


def test_of_two_spellings_of_one_name_the_one_that_the_server_stores_is_kept(root: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "é.glb") for form in ("NFC", "NFD"))
    for name in (composed, decomposed):
        put(root, f"car/{name}")
    content = scan(root)
    assert keys(content) == {"car": ["/é.glb"]}
    assert content.folders[0].files[0].path.name == composed
    [problem] = content.problems
    assert problem.path.endswith(decomposed)
    assert problem.reason == (
        r"has the same name as 'car/\xe9.glb' in composed Unicode form (NFC); "
        r"on disk it is 'car/e\u0301.glb'"
    )


def test_changed_paths_are_the_files_of_a_scan_without_a_listing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "car/b", "car/e\u0301", "car/\xe9", "e\u0301/c", "x.tmp", "build/d"):
        put(root, name)
    (root / "link").symlink_to(root / "car", target_is_directory=True)
    (root / "alias").symlink_to(root / "a")
    (root / "lost").symlink_to(root / "none")
    (root / "out").symlink_to(root.parent)
    there = [path for path in root.rglob("*") if path.is_symlink() or not path.is_dir()]
    paths = [*there, root / "link/b", root / "gone"]
    ignores = GitIgnoreSpec.from_lines(["*.tmp", "build/"]).match_file
    whole, problems = scan_one(root, ignores)
    assert {"/a", "/alias", "/car/b", "/car/\xe9", "/\xe9/c"} == set(whole)
    monkeypatch.setattr(os, "scandir", None)
    files, refused = scan_files(root, paths, ignores)
    assert files == whole
    assert {problem.path for problem in refused} == {problem.path for problem in problems}
    files, (twin,) = scan_files(root, [root / "car/e\u0301"], ignores)
    assert files == {"/car/\xe9": whole["/car/\xe9"]}
    assert twin in problems
