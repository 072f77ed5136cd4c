"""The command that imports a folder, searches for every file, and counts the facts."""

import json
from pathlib import Path

import pytest

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell


@pytest.fixture
def garage(tmp_path: Path) -> Path:
    root = tmp_path / "garage"
    for name in ("car/body.glb", "car/wheel.obj", "bike/frame.stl"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return root


def test_the_demo_finds_every_file_and_ends_with_one_line_of_json(
    shell: Shell, server: FakeServer, garage: Path
) -> None:
    server.drained_after = 2
    (garage / "car" / "setup.exe").write_bytes(b"MZ")
    lines = shell.run("demo", str(garage)).splitlines()
    assert shell.code == 0
    figures = json.loads(lines[-1])
    assert list(figures) == [
        "assets",
        "files",
        "bytes",
        "searchable",
        "seconds",
        "files_per_second",
        "facts",
        "thumbnails",
        "glbs",
        "refused",
        "unexplained",
    ]
    assert (figures["assets"], figures["files"], figures["searchable"]) == (2, 3, 3)
    assert figures["bytes"] == len("car/body.glb" + "car/wheel.obj" + "bike/frame.stl")
    assert any(line.split()[:2] == ["car", "2"] for line in lines)


def test_the_demo_counts_what_was_found_out_about_files(
    shell: Shell, server: FakeServer, garage: Path
) -> None:
    server.facts = {
        "/body.glb": {"fact_format": "glTF2", "fact_vertices": "8"},
        "/wheel.obj": {"fact_refused": "is truncated"},
        "/frame.stl": {"fact_format": "STL", "fact_vertices": "3"},
    }
    server.glbs = {"glb/body.glb/v1.glb"}
    lines = shell.run("demo", str(garage)).splitlines()
    figures = json.loads(lines[-1])
    counted = ("facts", "thumbnails", "glbs", "refused", "unexplained")
    assert [figures[key] for key in counted] == [2, 0, 1, 1, 0]
    assert "is truncated" in shell.err


def test_files_that_no_pipeline_took_are_refused_with_the_reason_or_unexplained(
    shell: Shell, server: FakeServer, garage: Path
) -> None:
    server.facts = {"/body.glb": {"fact_format": "glTF2"}}
    server.not_inspected = {"/wheel.obj": "Such files are not inspected"}
    figures = json.loads(shell.run("demo", str(garage)).splitlines()[-1])
    assert (figures["facts"], figures["refused"], figures["unexplained"]) == (1, 1, 1)
    assert "Such files are not inspected: 1" in shell.err


def test_the_demo_fails_when_search_misses_a_file(
    shell: Shell, server: FakeServer, garage: Path
) -> None:
    server.hidden_from_search = {"/wheel.obj"}
    figures = shell.json("demo", str(garage))
    assert shell.code == 1
    assert (figures["files"], figures["searchable"]) == (3, 2)
    shell.run("demo", str(garage))
    assert "not found: car/wheel.obj" in shell.err
