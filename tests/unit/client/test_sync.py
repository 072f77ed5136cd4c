"""A folder and an asset that are made alike: what is transferred, left, archived and refused."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import cast

import httpx
import pytest
from vitrine.transfer import measuring
from vitrine.transfer.content import sha256_of
from vitrine.transfer.sync_plan import Action, Direction, Step
from vitrine.transfer.syncing import Plan

from tests.unit.client.fake_files import StoredFile, sha256
from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell


class Sides:
    """The folder and the asset `garage/pump`, and the command between them."""

    def __init__(self, shell: Shell, server: FakeServer, folder: Path) -> None:
        server.store_pump()
        self.shell, self.server, self.root = shell, server, folder / "work"
        self.root.mkdir()
        self.clock = 10**9

    def save(self, name: str, content: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        self.clock += 1
        os.utime(path, (self.clock, self.clock))
        return path

    def store(self, path: str, content: str) -> None:
        data = content.encode()
        self.server.files["pump", path] = StoredFile(data, f"etag-{content}", sha256(data))
        self.server.archived.discard(("pump", path))

    def sync(self, verb: str, *options: str, place: str = "garage/pump") -> dict[str, str]:
        """Run a sync and return what it does with each file that is not the same."""
        output = self.shell.json("sync", verb, str(self.root), place, *options)
        assert "items" in output, self.shell.err
        items = cast("list[dict[str, str]]", output["items"])
        return {item["path"]: item["action"] for item in items}

    def reason(self, verb: str, *options: str) -> str:
        self.shell.run("sync", verb, str(self.root), "garage/pump", *options)
        return self.shell.out + self.shell.err

    @property
    def local(self) -> dict[str, str]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {f"/{path.relative_to(self.root)}": path.read_text() for path in files}

    @property
    def remote(self) -> dict[str, str]:
        return {
            path: file.content.decode()
            for (_, path), file in self.server.files.items()
            if ("pump", path) not in self.server.archived
        }


@pytest.fixture
def sides(shell: Shell, server: FakeServer, tmp_path: Path) -> Sides:
    return Sides(shell, server, tmp_path)


def both(sides: Sides, *verbs: str) -> None:
    """The same two files on both sides, as a pull or a push left them."""
    for name in ("a.glb", "sub/b.txt"):
        if "pull" in verbs:
            sides.store(f"/{name}", f"old {name}")
        else:
            sides.save(name, f"old {name}")
    for verb in verbs:
        sides.sync(verb)
    assert sides.local == sides.remote


Change = Callable[[Sides], object]
NOTHING: dict[str, str] = {}
CHANGES: dict[str, tuple[Change, dict[str, str], dict[str, str]]] = {
    "nothing": (lambda _: None, NOTHING, NOTHING),
    "a touch": (lambda s: s.save("a.glb", "old a.glb"), NOTHING, NOTHING),
    "a change here": (
        lambda s: s.save("a.glb", "new"), {"/a.glb": "upload"}, {"/a.glb": "leave"}
    ),
    "a change of the same size": (
        lambda s: s.save("a.glb", "OLD a.glb"), {"/a.glb": "upload"}, {"/a.glb": "leave"}
    ),
    "a change there": (
        lambda s: s.store("/a.glb", "new"), {"/a.glb": "leave"}, {"/a.glb": "download"}
    ),
    "the same change": (
        lambda s: (s.save("a.glb", "new"), s.store("/a.glb", "new")), NOTHING, NOTHING
    ),
    "two changes": (
        lambda s: (s.save("a.glb", "here"), s.store("/a.glb", "there")),
        {"/a.glb": "conflict"},
        {"/a.glb": "conflict"},
    ),
    "a new file here": (lambda s: s.save("c", "1"), {"/c": "upload"}, {"/c": "leave"}),
    "a new file there": (lambda s: s.store("/c", "1"), {"/c": "leave"}, {"/c": "download"}),
    "two new files": (
        lambda s: (s.save("c", "here"), s.store("/c", "there")),
        {"/c": "conflict"},
        {"/c": "conflict"},
    ),
    "a deletion here": (
        lambda s: (s.root / "a.glb").unlink(), {"/a.glb": "leave"}, {"/a.glb": "download"}
    ),
    "an archived file": (
        lambda s: s.server.archived.add(("pump", "/a.glb")),
        {"/a.glb": "conflict"},
        {"/a.glb": "leave"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("verb", ["push", "pull"])
@pytest.mark.parametrize("name", CHANGES)
def test_each_change_since_the_last_sync_is_carried_out_left_or_a_conflict(
    sides: Sides, name: str, verb: str
) -> None:
    both(sides, "push")
    change, pushed, pulled = CHANGES[name]
    change(sides)
    before = (sides.local, sides.remote)
    expected = pushed if verb == "push" else pulled
    assert sides.sync(verb, "--dry-run") == expected
    assert (sides.local, sides.remote) == before
    assert sides.sync(verb) == expected
    assert sides.shell.code == ("conflict" in expected.values())
    if {"upload", "download"} & set(expected.values()):
        assert sides.local == sides.remote
        assert sides.sync(verb) == NOTHING
    if "conflict" in expected.values():
        assert (sides.local, sides.remote) == before
        sides.sync(verb, "--force")
        assert sides.local == sides.remote
        assert (sides.local == before[0]) == (verb == "push")


def test_an_unchanged_folder_costs_a_list_and_no_request_for_a_file(sides: Sides) -> None:
    both(sides, "push")
    sides.server.requests.clear()
    assert sides.sync("push") == NOTHING
    assert [to.rpartition("/")[2] for _, to in sides.server.requests] == ["pump", "listFiles"]
    # The state is lost: contents are compared, nothing is sent.
    for path in (sides.shell.folder / "sync").iterdir():
        path.unlink()
    sent = len(sides.server.storage_requests)
    assert sides.sync("push") == sides.sync("pull") == NOTHING
    assert len(sides.server.storage_requests) == sent


def test_contents_are_compared_on_request(sides: Sides) -> None:
    both(sides, "push")
    path = sides.root / "a.glb"
    facts = path.stat()
    path.write_text("OLD a.glb")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert sides.sync("push") == NOTHING
    assert sides.sync("push", "--checksum") == {"/a.glb": "leave"}


def test_a_push_archives_only_what_an_earlier_sync_recorded(sides: Sides) -> None:
    both(sides, "push")
    sides.store("/theirs", "new")
    (sides.root / "a.glb").unlink()
    (sides.root / "sub" / "b.txt").unlink()
    sides.store("/sub/b.txt", "changed meanwhile")
    expected = {"/a.glb": "archive", "/sub/b.txt": "conflict", "/theirs": "conflict"}
    assert "use --yes" in sides.reason("push", "--delete")
    assert len(sides.remote) == 3
    assert sides.sync("push", "--delete", "--yes") == expected
    assert [*sides.remote] == ["/sub/b.txt", "/theirs"]
    assert ("pump", "/a.glb") in sides.server.files  # archived, not deleted
    assert sides.server.calls("DELETE", "deleteFile") == 0


def test_a_pull_removes_only_unchanged_files_that_a_pull_wrote(sides: Sides) -> None:
    both(sides, "pull")
    for name in ("here", "mine", "copied"):
        sides.save(name, name)
    sides.sync("push")
    sides.store("/edited", "1")
    sides.store("/silent", "1")
    sides.sync("pull")
    sides.save("edited", "2")
    silent = sides.root / "silent"
    facts = silent.stat()
    silent.write_text("2")
    os.utime(silent, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    sides.server.archived |= {("pump", path) for path in ("/a.glb", "/mine", "/edited", "/silent")}
    assert sides.sync("pull", "--delete", "--yes") == {
        "/a.glb": "remove", "/silent": "remove", "/mine": "leave", "/edited": "leave"
    }  # fmt: skip
    assert sides.shell.code == 1  # another content of the same size and time
    assert sorted(sides.local) == [
        *("/copied", "/edited", "/here", "/mine", "/silent", "/sub/b.txt")
    ]


@pytest.mark.parametrize(("count", "deleted", "asks"), [(20, 2, False), (20, 3, True)])
def test_many_deletions_are_confirmed(sides: Sides, count: int, deleted: int, asks: bool) -> None:
    for number in range(count):
        sides.save(f"{number}", "x")
    sides.sync("push")
    for number in range(deleted):
        (sides.root / f"{number}").unlink()
    assert ("use --yes" in sides.reason("push", "--delete")) == asks


@pytest.mark.parametrize(("deleted", "total", "asks"), [(50, 600, False), (51, 600, True)])
def test_more_than_fifty_deletions_are_confirmed(deleted: int, total: int, asks: bool) -> None:
    steps = [Step(path=f"/{number}", action=Action.REMOVE) for number in range(deleted)]
    plan = Plan(direction=Direction.PULL, steps=steps, pairs={}, total=total)
    assert plan.needs_confirmation == asks


def test_ignored_files_are_on_neither_side(sides: Sides) -> None:
    both(sides, "push")
    sides.save(".vitrineignore", "\ufeff*.tmp\r\n/out/\n!keep.tmp\nsub/b.txt\n")
    for name in ("x.tmp", "keep.tmp", "out/keep.tmp", "deep/out/y"):
        sides.save(name, "x")
    sides.store("/y.tmp", "there")
    (sides.root / "sub" / "b.txt").unlink()
    assert sides.sync("push", "--delete") == {"/keep.tmp": "upload", "/deep/out/y": "upload"}
    assert sides.sync("pull", "--delete") == NOTHING
    assert "/sub/b.txt" in sides.remote
    assert "/y.tmp" not in sides.local


def link(path: Path) -> None:
    path.symlink_to("/etc/hostname")


BAD_IGNORES: list[tuple[Callable[[Path], object], str]] = [
    (os.mkfifo, "must be a regular file"),
    (link, "must be a regular file"),
    (lambda path: path.write_bytes(b"\xff"), "is not UTF-8 text"),
    (lambda path: path.write_text("!\n"), "Invalid git pattern"),
]


@pytest.mark.parametrize(("make", "fact"), BAD_IGNORES)
def test_a_bad_ignore_file_is_one_sentence(
    sides: Sides, make: Callable[[Path], object], fact: str
) -> None:
    make(sides.root / ".vitrineignore")
    said = sides.reason("push")
    assert fact in said
    assert sides.shell.code == 2


def test_a_folder_of_the_asset_is_a_side_of_its_own(sides: Sides) -> None:
    sides.store("/other.glb", "other")
    sides.store("/parts/a", "1")
    sides.save("b", "2")
    place = "garage/Pump/parts"  # the asset by its name
    assert sides.sync("pull", place=place) == {"/a": "download", "/b": "leave"}
    assert sides.sync("push", place=place) == {"/b": "upload"}
    assert sides.remote == {"/other.glb": "other", "/parts/a": "1", "/parts/b": "2"}
    for wrong, fact in (("garage", "DATABASE/ASSET"), ("garage/pump/../x", "is not allowed")):
        sides.shell.run("sync", "push", str(sides.root), wrong)
        assert (sides.shell.code, fact in sides.shell.err) == (2, True)


def test_loops_devices_and_links_are_refused_and_archive_nothing(sides: Sides) -> None:
    both(sides, "push")
    (sides.root / "a.glb").unlink()
    (sides.root / "a.glb").symlink_to("a.glb")
    (sides.root / "loop").symlink_to(sides.root, target_is_directory=True)
    os.mkfifo(sides.root / "pipe")
    (sides.root / "sub" / "b.txt").unlink()
    (sides.root / "sub").rmdir()
    (sides.root / "sub").symlink_to("/etc", target_is_directory=True)
    refused = dict.fromkeys(("/a.glb", "/loop", "/pipe", "/sub"), "refuse")
    for verb in ("push", "pull"):
        steps = sides.sync(verb, "--delete", "--force", "--yes")
        assert {path: steps[path] for path in refused} == refused
    assert [*sides.remote] == ["/a.glb", "/sub/b.txt"]
    assert not Path("/etc/b.txt").exists()


def test_a_file_that_may_not_be_read_is_a_failure_and_not_archived(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    both(sides, "push")

    def may_access(path: Path, _mode: int) -> bool:
        return Path(path).is_dir()

    # Removing the permission would not suffice: root may read everything.
    monkeypatch.setattr(os, "access", may_access)
    output = sides.shell.json("sync", "push", str(sides.root), "garage/pump", "--delete", "--yes")
    assert output["counts"] == {"refuse": 2, "failed": 0}
    assert sides.shell.code == 1
    assert sides.local == sides.remote


def test_a_file_that_the_server_refuses_is_a_failure(sides: Sides) -> None:
    sides.save("a", "1")
    sides.server.file_results["/a"], sides.server.error_kind = "is an executable", "rule"
    assert "refused" in sides.reason("push")
    assert sides.shell.code == 1


def test_names_in_two_unicode_forms_and_two_cases(sides: Sides) -> None:
    composed, decomposed = (unicodedata.normalize(form, "é.glb") for form in ("NFC", "NFD"))
    sides.save(decomposed, "1")
    sides.save("A", "upper")
    sides.save("a", "lower")
    assert sides.sync("push") == dict.fromkeys(("/A", "/a", f"/{composed}"), "upload")
    sides.store(f"/{composed}", "changed there")
    assert sides.sync("pull") == {f"/{composed}": "download"}
    names = {path.name for path in sides.root.iterdir()}
    assert composed not in names  # written to the name on the disk
    sides.store(f"/{decomposed}", "in a form that uploads never have")
    assert sides.sync("pull") == {f"/{decomposed}": "refuse"}
    sides.save(composed, "both forms")
    steps = sides.sync("push")
    assert steps.pop(f"/{decomposed}", "refuse") == "refuse"
    assert steps == {f"/{composed}": "upload"}  # the spelling that the server stores
    assert (sides.remote["/A"], sides.remote["/a"]) == ("upper", "lower")


HOSTILE = ["/../out", "//etc/out", "/a/../../out", "/sub\\out", "/bell\x07", "/./out"]


def test_hostile_names_of_the_server_are_refused(sides: Sides) -> None:
    sides.store("/good", "1")
    for name in HOSTILE:
        sides.store(name, "evil")
    outside = set(sides.root.parent.iterdir())
    steps = sides.sync("pull", "--force", "--delete", "--yes")
    assert sorted(set(steps.values())) == ["download", "refuse"]
    assert sides.local == {"/good": "1"}
    assert set(sides.root.parent.iterdir()) - outside <= {sides.shell.folder / "sync"}


def test_a_pull_overwrites_nothing_that_it_does_not_know(sides: Sides) -> None:
    both(sides, "pull")
    sides.save(".vitrineignore", "")
    sides.store("/.vitrineignore", "ignored on both sides")
    sides.store("/sub", "a file where the folder has a folder")
    sides.store("/a.glb/below", "a folder where the folder has a file")
    steps = sides.sync("pull", "--force")
    assert steps["/sub"] == "conflict"
    assert sides.shell.code == 1
    assert sides.local == {
        "/a.glb": "old a.glb",
        "/sub/b.txt": "old sub/b.txt",
        "/.vitrineignore": "",
    }


def test_a_file_that_grows_while_it_is_read_is_not_uploaded(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sides.save("growing", "beginning")

    def hash_and_grow(file: Path) -> str:
        digest = sha256_of(file)
        with file.open("a") as opened:
            opened.write(" and more")
        return digest

    with monkeypatch.context() as patch:
        patch.setattr(measuring, "sha256_of", hash_and_grow)
        assert "changed while being sent" in sides.reason("push")
    assert sides.remote == {}
    assert sides.shell.code == 1
    assert sides.sync("push") == {"/growing": "upload"}
    assert sides.remote == {"/growing": path.read_text()}


def test_an_interrupted_sync_continues_with_the_rest(sides: Sides) -> None:
    for number in range(120):
        sides.save(f"{number:03}", f"{number}")
    broken = [httpx.ReadError("reset") for _ in range(2)]
    sides.server.fail("POST", "/complete$", *broken)
    assert "reset" in sides.reason("push")
    stored = len(sides.remote)
    sides.server.requests.clear()
    left = sides.sync("push")
    assert len(left) == 120 - stored
    assert sides.local == sides.remote


def test_a_damaged_state_is_not_trusted_and_not_fatal(sides: Sides) -> None:
    both(sides, "pull")
    (state,) = (sides.shell.folder / "sync").iterdir()
    assert state.stat().st_mode & 0o077 == 0
    state.write_bytes(b'{"key": "/a.glb", "entry": {"size": "\xff\n' + state.read_bytes()[:-20])
    assert sides.sync("pull", "--delete", "--yes") == NOTHING
