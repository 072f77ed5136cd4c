"""Reading in another function: its rounds, and what it may not achieve by its replies."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from backend.processing.jail.parent import Outcome
from backend.processing.jail.results import ReadingStalledError
from backend.processing.remote import NAMES, ROUNDS, invoker
from backend.processing.remote.invoker import ReaderFailedError, ReaderLateError
from backend.spec.facts import SHAPE_NUMBERS
from backend.spec.inspection_outputs import GLB, INSPECTION_OUTPUTS, THUMBNAIL, InspectionOutput

ASSET = {"m/cube.obj": 10, "m/cube.mtl": 20, "m/red.png": 30, "secret.txt": 40}
PICTURE = THUMBNAIL.magic + b"picture"
READ = {"result": {"facts": {"triangles": 12}, "refused": None}, "wrote": ["thumbnail", "glb"]}


class Function:
    """A reader that returns the given replies, the last one again and again."""

    def __init__(self, *replies: object) -> None:
        self.replies = list(replies)
        self.requests: list[Mapping[str, Any]] = []
        self.tenants: set[str] = set()

    def call(self, tenant: str, request: Mapping[str, Any]) -> object:
        self.tenants.add(tenant)
        self.requests.append(json.loads(json.dumps(request)))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply


class Files:
    """An asset, and what the reader has written."""

    def __init__(self, **written: bytes) -> None:
        self.written = written
        self.signed: list[str] = []

    def sizes(self) -> Mapping[str, int]:
        return ASSET

    def content(self) -> dict[str, Any]:
        return {"url": "https://s3/content", "size": 10}

    def file(self, path: str) -> str:
        self.signed.append(path)
        return f"https://s3/{path}"

    def output(self, output: InspectionOutput) -> dict[str, Any]:
        return {"url": f"https://s3/{output.file}", "headers": {}}

    def take(self, output: InspectionOutput, destination: Path) -> bool:
        if output.name not in self.written:
            return False
        destination.write_bytes(self.written[output.name])
        return True


def outcome(
    folder: Path,
    function: Function,
    files: Files | None = None,
    may_continue: Callable[[], bool] = lambda: True,
) -> Outcome:
    return invoker.read(
        "m/cube.obj",
        "x-1:1",
        function,
        files or Files(thumbnail=PICTURE, glb=b"glTF..."),
        folder,
        turntable=False,
        may_continue=may_continue,
    )


def test_names_are_resolved_in_the_asset_and_signed_in_the_next_round(tmp_path: Path) -> None:
    function = Function({"needs": ["cube.mtl"]}, {"needs": ["Red.PNG", "../../up"]}, READ)
    actual = outcome(tmp_path, function, files := Files(thumbnail=PICTURE, glb=b"glTF"))
    assert [sorted(request["files"]) for request in function.requests] == [
        [],
        ["cube.mtl"],
        ["../../up", "Red.PNG", "cube.mtl"],
    ]
    assert function.requests[2]["files"] == {
        "cube.mtl": {
            "path": "m/cube.mtl",
            "state": "found",
            "url": "https://s3/m/cube.mtl",
            "size": 20,
        },
        "Red.PNG": {
            "path": "m/red.png",
            "state": "otherCase",
            "url": "https://s3/m/red.png",
            "size": 30,
        },
        "../../up": {"path": "../../up", "state": "outside"},
    }
    assert function.tenants == {"x-1:1"}
    assert set(files.signed) == {"m/cube.mtl", "m/red.png"}
    assert actual.result.facts == {"triangles": 12}
    assert (actual.thumbnail, actual.glb) == (tmp_path / "thumbnail.png", tmp_path / "model.glb")


def test_each_output_may_be_written_and_facts_of_a_reply_are_checked(tmp_path: Path) -> None:
    function = Function(READ)
    outcome(tmp_path, function)
    assert set(function.requests[0]["outputs"]) == {output.name for output in INSPECTION_OUTPUTS}
    assert set(function.requests[0]) == {
        *("tenant", "path", "turntable", "content", "files", "outputs"),
    }
    huge: Any = 10**400  # JSON allows it, and floating point does not
    texture = {"path": "a", "kind": "texture", "state": "found"}
    results: list[Any] = [
        {"facts": {"triangles": huge, "area": -huge}},
        {"descriptor": [huge] * SHAPE_NUMBERS},
        {"descriptor": [True] * SHAPE_NUMBERS},
        {"references": [{**texture, "kind": ["texture"]}, {**texture, "state": {"a": 1}}]},
    ]
    for result in results:
        actual = outcome(tmp_path, Function({"result": result})).result
        assert (actual.facts, actual.descriptor, actual.references) == ({}, None, []), result


BAD: list[tuple[list[Any], str]] = [
    ([None], "the reply of the function that reads it is not valid"),
    (["nonsense"], "the reply of the function that reads it is not valid"),
    ([[1, 2]], "the reply of the function that reads it is not valid"),
    ([{}], "the reply of the function that reads it is not valid"),
    ([{"result": "facts"}], "the reply of the function that reads it is not valid"),
    ([{"needs": "a"}], "the function that reads it requests no further files"),
    ([{"needs": []}], "the function that reads it requests no further files"),
    ([{"needs": [1]}], "the function that reads it requests no further files"),
    ([{"needs": ["a", None]}], "the function that reads it requests no further files"),
    ([{"needs": ["a"]}], "the function that reads it requests no further files"),
    ([{"needs": ["x" * 2001]}], "the function that reads it requests no further files"),
    ([{"needs": [str(i) for i in range(1000)]}], f"it refers to more than {NAMES} files"),
    ([{"needs": [str(n)]} for n in range(ROUNDS + 1)], "needs further files 6 times in a row"),
    ([ReaderFailedError("the function that reads it failed: E")], "that reads it failed: E"),
]


@pytest.mark.parametrize(("replies", "reason"), BAD)
def test_a_bad_reply_is_a_fact_with_its_reason(
    replies: list[object], reason: str, tmp_path: Path
) -> None:
    actual = outcome(tmp_path, function := Function(*replies))
    assert reason in str(actual.result.refused)
    assert (actual.result.facts, actual.thumbnail, actual.glb) == ({}, None, None)
    assert len(function.requests) <= ROUNDS


def test_names_outside_the_asset_get_no_url(tmp_path: Path) -> None:
    names = ["/etc/passwd", "../../secret.txt", "https://example.com/a", "C:/x", "\ud800", "gone"]
    outcome(tmp_path, function := Function({"needs": names}, READ), files := Files())
    assert {name: file["state"] for name, file in function.requests[1]["files"].items()} == {
        "/etc/passwd": "absolute",
        "../../secret.txt": "outside",
        "https://example.com/a": "external",
        "C:/x": "absolute",
        "\ud800": "missing",
        "gone": "missing",
    }
    assert not any("url" in file for file in function.requests[1]["files"].values())
    assert files.signed == []


def test_no_round_begins_for_which_there_is_no_time(tmp_path: Path) -> None:
    function = Function({"needs": ["cube.mtl"]}, READ)
    with pytest.raises(ReadingStalledError, match="no time was left for round 2"):
        outcome(tmp_path, function, may_continue=lambda: False)
    assert len(function.requests) == 1


def test_a_reader_that_never_ends_is_called_once_more_and_then_a_fact(tmp_path: Path) -> None:
    late = ReaderLateError("it has not replied within 240 seconds")
    for has_time, calls in ((True, 2), (False, 1)):
        function = Function(late)
        actual = outcome(tmp_path, function, may_continue=lambda has_time=has_time: has_time)
        assert (actual.result.refused, len(function.requests)) == (str(late), calls)
    function = Function({"needs": ["cube.mtl"]}, late, READ)
    assert outcome(tmp_path, function).result.facts == {"triangles": 12}
    assert [len(request["files"]) for request in function.requests] == [0, 1, 1]


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b"\x89PNG\r\n\x1a", b"RIFF....WAVE", b"\x00" * (6 << 20)]
)
def test_what_was_written_is_checked(content: bytes, tmp_path: Path) -> None:
    large = PICTURE.ljust(THUMBNAIL.most_bytes + 1)
    for written in (content, large):
        every = dict.fromkeys((output.name for output in INSPECTION_OUTPUTS), written)
        reported = {**READ, "wrote": list(every)}
        actual = outcome(tmp_path, Function(reported), Files(**every))
        assert [actual.path_of(output) for output in INSPECTION_OUTPUTS] == [None] * len(every)
        assert actual.result.facts == {"triangles": 12}


def test_outputs_that_were_not_written_or_not_reported_are_none(tmp_path: Path) -> None:
    actual = outcome(tmp_path, Function(READ), Files(glb=GLB.magic))
    assert (actual.thumbnail, actual.glb) == (None, tmp_path / GLB.file)
    invalid: list[Any] = [None, {}, "glb", [["glb"]], ["inspection.json", "../glb"]]
    for wrote in invalid:
        actual = outcome(tmp_path, Function({**READ, "wrote": wrote}))
        assert (actual.thumbnail, actual.glb) == (None, None)


def test_a_refused_file_has_no_pictures_and_no_facts(tmp_path: Path) -> None:
    result = {"facts": {"triangles": 1}, "refused": "broken\nfile"}
    actual = outcome(tmp_path, Function({**READ, "result": result}))
    assert actual.result.refused == "broken file"
    assert (actual.result.facts, actual.thumbnail, actual.glb) == ({}, None, None)
    lies = {"facts": {"triangles": float("nan"), "unknown": 1, "area": [1]}, "references": [1]}
    actual = outcome(tmp_path, Function({"result": lies}))
    assert (actual.result.facts, actual.result.references) == ({}, [])
    for refused in ("", " \n", "\ud800", 5, True, ["a"]):
        result = {"facts": {"triangles": 1}, "refused": refused}
        actual = outcome(tmp_path, Function({"result": result, "wrote": ["glb"]}))
        assert actual.result.refused == "the reader gives no reason"
        assert (actual.result.facts, actual.glb) == ({}, None)
