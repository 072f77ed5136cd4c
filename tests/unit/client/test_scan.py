"""The assets and files of a folder on the disk, and the names that are skipped, with reasons."""

import os
import unicodedata
from pathlib import Path

import pytest
from vitrine.transfer import scan as scanning
from vitrine.transfer.scan import Scan, scan


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
    for name in ("car/a.glb", "car/parts/wheel.obj", "bike/b.stl", "readme.txt"):
        put(root, name)
    (root / "empty").mkdir()
    assert keys(scan(root)) == {
        "bike": ["/b.stl"],
        "car": ["/a.glb", "/parts/wheel.obj"],
        "empty": [],
        "garage": ["/readme.txt"],
    }


def test_loose_files_stay_apart_from_a_folder_of_the_same_name(root: Path) -> None:
    put(root, "garage/a.glb")
    put(root, "a.glb")
    assert keys(scan(root)) == {"garage": ["/a.glb"], "garage-files": ["/a.glb"]}


def test_a_link_to_a_file_inside_is_followed(root: Path) -> None:
    put(root, "car/a.glb", b"12345")
    (root / "car" / "same.glb").symlink_to("a.glb")
    [folder] = scan(root).folders
    assert [(file.key, file.size) for file in folder.files] == [("/a.glb", 5), ("/same.glb", 5)]


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


def test_a_circular_symbolic_link_is_reported(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    reason = "a circular symbolic link"
    assert reasons(scan(root)) == {"a": reason, "b": reason}


def test_a_pipe_is_not_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert reasons(scan(root)) == {"pipe": "not a regular file"}


def test_a_file_that_may_not_be_read_is_a_failure(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "car/closed.glb")

    def deny(_path: Path, _mode: int) -> bool:
        return False

    # Removing the permission would not suffice: root may read everything.
    monkeypatch.setattr(scanning.os, "access", deny)
    [problem] = scan(root).problems
    assert problem.unreadable
    assert problem.reason == "cannot be read: permission denied"


def test_names_that_cannot_be_stored_are_reported(root: Path) -> None:
    put(root, "car/what?.glb")
    put(root, "car/end.")
    undecodable = os.fsdecode(os.fsencode(root / "car") + b"/\xff.glb")
    Path(undecodable).write_bytes(b"x")
    problems = reasons(scan(root))
    assert sorted(problems) == ["\\udcff.glb", "end.", "what?.glb"]
    assert problems["\\udcff.glb"] == "the name is not valid UTF-8"


def test_a_folder_whose_name_is_not_text_is_reported(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/\xff")).mkdir()
    content = scan(root)
    assert content.folders == ()
    assert reasons(content) == {"\\udcff": "the folder's name is not valid UTF-8"}


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


def test_a_very_deep_tree_is_walked(root: Path) -> None:
    deep = "/".join(["d"] * 300)
    put(root, f"car/{deep}/a.glb")
    assert keys(scan(root)) == {"car": [f"/{deep}/a.glb"]}
