"""The main path, workflows and small files of a corpus with refused system calls.

The same program reads the files with and without the box: the facts must be equal.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from backend.processing.jail.parent import Jail
from backend.spec.formats import EXTENSIONS_OF, extension_of
from tests.journeys import test_executions
from tests.journeys.main import test_whole_path
from tests.journeys.runtime import Runtime, wait_until
from tests.journeys.test_facts import attributes
from tests.unit.processing import cad, samples

CORPUS = Path("/usr/share/assimp/models")
"""Debian's package assimp-testmodels."""
FORMATS = 12
SECONDS = 600


class SingleFileAsset:
    """An asset with one file."""

    def sizes(self) -> Mapping[str, int]:
        return {}

    def fetch(self, path: str, destination: Path) -> None:
        raise FileNotFoundError(path, destination)


def smallest() -> dict[str, bytes]:
    """The smallest file of each of the formats with the smallest ones, and a CAD model."""
    assert CORPUS.is_dir(), "install Debian's package assimp-testmodels"
    by_format: dict[str, Path] = {}
    for path in sorted(CORPUS.rglob("*")):
        extension = extension_of(path.name)
        size = path.stat().st_size if path.is_file() else 0
        if size and extension in EXTENSIONS_OF["Inspect"]:
            best = by_format.setdefault(extension, path)
            by_format[extension] = min(best, path, key=lambda each: each.stat().st_size)
    chosen = sorted(by_format.values(), key=lambda each: each.stat().st_size)[:FORMATS]
    result = {f"/corpus.{extension_of(path.name)}": path.read_bytes() for path in chosen}
    return {**result, "/cube.step": cad.cube_step()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, str]]]:
    """The facts of these files from a confined process outside the box."""
    jail = Jail(seconds=60)
    outcome: dict[str, dict[str, str]] = {}
    for path, data in smallest().items():
        folder = tmp_path_factory.mktemp("read")
        (folder / "content").write_bytes(data)
        result = jail.inspect(path.strip("/"), folder / "content", SingleFileAsset(), folder).result
        facts = {"refused": result.refused} if result.refused else result.facts
        names = ("refused", "format", "triangles", "vertices", "width", "watertight")
        outcome[path] = {f"fact_{n}": written(facts[n]) for n in names if n in facts}
    yield outcome
    jail.close()


def written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def calls_of_readers(runtime: Runtime) -> int:
    functions: Mapping[str, Any] = runtime.admin("GET", "/functions")
    return sum(
        int(function["invocations"])
        for name, function in functions.items()
        if name.endswith("Reader")
    )


def test_the_main_job_succeeds(boxed: Runtime) -> None:
    test_whole_path.test_an_asset_from_its_creation_to_its_archive(boxed)


def test_workflows_run(boxed: Runtime) -> None:
    test_executions.test_an_upload_runs_the_shipped_workflow_and_a_user_runs_it_again(boxed)


def test_small_files_have_the_facts_that_they_have_without_the_box(
    boxed: Runtime, expected: dict[str, dict[str, str]]
) -> None:
    api = boxed.client()
    database = api.new_database(f"box-{uuid4().hex[:8]}", processing=True)
    asset = api.new_asset(database, "Corpus")
    base = f"/database/{database}/assets/{asset}"
    assert api.upload(database, asset, {path: [data] for path, data in smallest().items()})
    facts: dict[str, dict[str, str]] = {}

    def are_there() -> bool:
        for path in expected:
            if not facts.get(path):
                facts[path] = attributes(api, base, path)
        return all(facts.values())

    wait_until(are_there, seconds=SECONDS, every=1)
    result = {
        path: {name: facts[path].get(name) for name in wanted} for path, wanted in expected.items()
    }
    assert result == expected
    assert sum("fact_format" in item for item in expected.values()) >= FORMATS // 2
    assert calls_of_readers(boxed) > 0  # CAD models at least


def test_a_model_with_materials_and_textures_is_read_and_shown(boxed: Runtime) -> None:
    api = boxed.client()
    database = api.new_database(f"box-{uuid4().hex[:8]}", processing=True)
    asset = api.new_asset(database, "Cube")
    base = f"/database/{database}/assets/{asset}"
    files = {
        "/textures/red.png": [samples.png()],
        "/cube.mtl": [b"newmtl red\nmap_Kd textures/Red.png\nmap_Ks ../../up.png\n"],
        "/cube.obj": [samples.cube_obj("mtllib cube.mtl\nusemtl red\n")],
    }
    assert api.upload(database, asset, files)["overallSuccess"] is True
    wait_until(lambda: bool(attributes(api, base, "/cube.obj")), seconds=SECONDS, every=1)
    facts = attributes(api, base, "/cube.obj")
    assert (facts["fact_triangles"], facts["fact_texturesFound"]) == ("12", "1")
    shown: dict[str, Any] = {}

    def is_shown() -> bool:
        shown.update(api.ok("GET", f"{base}/fileInfo", params={"filePath": "/cube.obj"}))
        return bool(shown.get("previewFile"))

    wait_until(is_shown, seconds=SECONDS, every=1)
