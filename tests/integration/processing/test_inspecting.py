"""Inspections of files, here and of remote objects."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.aws.clients import sdk_version
from backend.core.errors import InvalidInputError, NotFoundError
from backend.core.objects import NotRestoredError
from backend.entrypoints.inspection import Inspector
from backend.entrypoints.probe import handler
from backend.processing import limits
from backend.processing.jail.parent import Jail
from backend.spec.formats import EXTENSIONS_OF
from backend.spec.functions.inspection import READER_SECONDS
from tests.unit.processing import samples

RUN = "s3://auxiliary/pipelines/x-1/1/"


class FakeWorkFiles:
    """Objects in memory, by bucket and key; each has the one version `v1`."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], bytes] = {}
        self.read: list[tuple[str, str | None]] = []
        self.reported: dict[str, int] = {}
        self.archived: set[str] = set()

    def sizes(self, bucket: str, prefix: str, *, most: int) -> Mapping[str, int]:
        keys = [key for name, key in self.objects if name == bucket and key.startswith(prefix)]
        return {key.removeprefix(prefix): len(self.objects[bucket, key]) for key in keys[:most]}

    def size(self, bucket: str, key: str, version_id: str | None) -> int:
        if (bucket, key) not in self.objects:
            raise NotFoundError(key)
        return self.reported.get(key, len(self.objects[bucket, key]))

    def download(self, bucket: str, key: str, version_id: str | None, path: Path) -> None:
        if key in self.archived:
            raise NotRestoredError
        self.read.append((key, version_id))
        path.write_bytes(self.objects[bucket, key])

    def check_readable(self, bucket: str, key: str, version_id: str | None) -> None:
        if key in self.archived:
            raise NotRestoredError

    def url(self, bucket: str, key: str, version_id: str | None, *, seconds: int) -> str:
        assert (bucket, key) in self.objects
        assert seconds > READER_SECONDS
        self.read.append((key, version_id))
        return f"{bucket} {key}"

    def url_to_write(
        self, bucket: str, key: str, *, content_type: str, seconds: int
    ) -> tuple[str, Mapping[str, str]]:
        assert (bucket, key) not in self.objects
        return f"{bucket} {key}", {"Content-Type": content_type, "If-None-Match": "*"}

    def upload(self, path: Path, bucket: str, key: str, *, content_type: str) -> None:
        self.objects[bucket, key] = path.read_bytes()

    def by_url(self, url: str) -> tuple[str, str]:
        bucket, _, key = url.partition(" ")
        return bucket, key

    def result(self) -> dict[str, Any]:
        return json.loads(self.objects["auxiliary", "pipelines/x-1/1/metadata/inspection.json"])


@pytest.fixture(scope="module")
def jail() -> Iterator[Jail]:
    started = Jail(seconds=30)
    yield started
    started.close()


@pytest.fixture
def files() -> FakeWorkFiles:
    return FakeWorkFiles()


@pytest.fixture
def inspector(files: FakeWorkFiles, jail: Jail) -> Inspector:
    return Inspector(files, jail, EXTENSIONS_OF["Inspect"])


def event(path: str, **changes: str) -> dict[str, Any]:
    body = {
        "inputS3AssetFilePath": f"s3://assets/statue/{path}",
        "outputS3AssetFilesPath": f"{RUN}files/",
        "outputS3AssetPreviewPath": f"{RUN}previews/",
        "outputS3AssetMetadataPath": f"{RUN}metadata/",
        "bucketAsset": "assets",
        "inputAssetLocationKey": "statue/",
        "inputS3VersionId": "v1",
        "inputRelativePath": f"/{path}",
        "assetId": "statue",
    }
    return {"body": {**body, **changes}}


def test_a_model_becomes_facts_a_thumbnail_and_a_glb(
    inspector: Inspector, files: FakeWorkFiles
) -> None:
    material = b"newmtl red\nmap_Kd ../textures/red.png\n"
    files.objects["assets", "statue/models/cube.obj"] = samples.cube_obj("mtllib cube.mtl\n")
    files.objects["assets", "statue/models/cube.mtl"] = material
    files.objects["assets", "statue/textures/red.png"] = samples.png()
    files.objects["assets", "statue/textures/other.png"] = samples.png()
    files.objects["assets", "other/red.png"] = samples.png()
    inspector.handle(event("models/cube.obj"))
    result = files.result()
    assert result["version"] == 1
    assert result["source"] == {
        "bucket": "assets",
        "key": "statue/models/cube.obj",
        "versionId": "v1",
        "relativePath": "/models/cube.obj",
    }
    assert result["facts"]["triangles"] == 12
    assert len(result["descriptor"]) == 75
    assert result["references"] == [
        {"path": "models/cube.mtl", "kind": "material", "state": "found"},
        {"path": "textures/red.png", "kind": "texture", "state": "found"},
    ]
    assert (result["thumbnail"], result["glb"]) == ("thumbnail.png", "model.glb")
    assert result["small"] == "thumbnail.webp"
    assert files.objects["auxiliary", "pipelines/x-1/1/previews/thumbnail.webp"][8:12] == b"WEBP"
    assert files.objects["auxiliary", "pipelines/x-1/1/previews/thumbnail.png"][1:4] == b"PNG"
    assert files.objects["auxiliary", "pipelines/x-1/1/files/model.glb"][:4] == b"glTF"
    expected: list[tuple[str, str | None]] = [
        ("statue/models/cube.obj", "v1"),
        ("statue/models/cube.mtl", None),
        ("statue/textures/red.png", None),
    ]
    assert files.read == expected


def test_a_turntable_is_rendered_if_the_deployment_enables_it(
    inspector: Inspector, files: FakeWorkFiles, jail: Jail, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.objects["assets", "statue/cube.obj"] = samples.cube_obj()
    inspector.handle(event("cube.obj"))
    assert files.result()["turntable"] is None
    monkeypatch.setattr(jail, "turntable", True)
    inspector.handle(event("cube.obj"))
    assert files.result()["turntable"] == "turntable.png"
    made = files.objects["auxiliary", "pipelines/x-1/1/previews/turntable.png"]
    with Image.open(io.BytesIO(made)) as picture:
        assert (getattr(picture, "n_frames", 1), picture.size) == (8, (256, 256))


def test_a_file_that_cannot_be_read_is_a_result_and_no_error(
    inspector: Inspector, files: FakeWorkFiles
) -> None:
    files.objects["assets", "statue/broken.glb"] = b"glTF"
    inspector.handle(event("broken.glb"))
    result = files.result()
    assert result["refused"]
    assert (result["facts"], result["thumbnail"], result["glb"]) == ({}, None, None)


def test_a_pipeline_refuses_the_formats_of_another(files: FakeWorkFiles, jail: Jail) -> None:
    files.objects["assets", "statue/cube.obj"] = samples.cube_obj()
    Inspector(files, jail, EXTENSIONS_OF["InspectCad"]).handle(event("cube.obj"))
    assert files.result()["refused"] == "files with the extension .obj cannot be read"
    assert files.read == []


def test_a_file_that_is_too_large_is_not_downloaded(
    inspector: Inspector, files: FakeWorkFiles
) -> None:
    files.objects["assets", "statue/scan.las"] = b""
    files.reported["statue/scan.las"] = limits.INPUT_BYTES + 1
    inspector.handle(event("scan.las"))
    assert files.result()["refused"] == "larger than 512 MiB"
    assert files.read == []


def test_an_archived_file_is_refused(inspector: Inspector, files: FakeWorkFiles) -> None:
    files.objects["assets", "statue/cube.obj"] = samples.cube_obj()
    files.archived.add("statue/cube.obj")
    inspector.handle(event("cube.obj"))
    assert "archive storage class" in files.result()["refused"]


def test_what_another_pipeline_wrote_is_read_from_its_folder(
    inspector: Inspector, files: FakeWorkFiles
) -> None:
    source = "pipelines/x-1/1/files/cube.obj"
    files.objects["auxiliary", source] = samples.cube_obj()
    files.objects["auxiliary", "pipelines/secret.mtl"] = b""
    inspector.handle(event("cube.obj", inputS3AssetFilePath=f"s3://auxiliary/{source}"))
    assert files.read == [(source, None)]


def test_the_one_file_in_the_folder_of_another_pipeline_is_read(
    inspector: Inspector, files: FakeWorkFiles
) -> None:
    """The state machine passes that folder to each pipeline after the first."""
    folder = "s3://auxiliary/pipelines/x-1/1/files/"
    with pytest.raises(InvalidInputError):
        inspector.handle(event("cube.obj", inputS3AssetFilePath=folder))
    files.objects["auxiliary", "pipelines/x-1/1/files/cube.obj"] = samples.cube_obj()
    assert inspector.handle(event("cube.obj", inputS3AssetFilePath=folder))["refused"] is None
    files.objects["auxiliary", "pipelines/x-1/1/files/b.obj"] = samples.cube_obj()
    with pytest.raises(InvalidInputError, match="wrote several"):
        inspector.handle(event("cube.obj", inputS3AssetFilePath=folder))


@pytest.mark.parametrize("path", ["s3://assets/statue/", "s3://", "https://example.com/a.obj"])
def test_a_run_without_a_file_fails(inspector: Inspector, path: str) -> None:
    with pytest.raises(InvalidInputError):
        inspector.handle(event("a.obj", inputS3AssetFilePath=path))


ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import json, sys
from local import box
if sys.argv[1]:
    box.enter(sys.argv[1])
from backend.processing.jail.survey import survey
print(json.dumps(survey()))
"""


def surveyed(name: str) -> dict[str, Any]:
    command = [sys.executable, "-c", PROGRAM, name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def test_without_a_box_this_system_confines_readers() -> None:
    result = surveyed("")
    assert result["calls"]["prctl PR_SET_NO_NEW_PRIVS"] == "ok"
    assert result["calls"]["seccomp SECCOMP_GET_ACTION_AVAIL"] == "ok"
    assert result["confinement"]["alone"]["filtered"] is True
    assert result["hiddenMemory"] == "ok"
    assert result["diskMiB"]["free"] > 0
    assert {"kernel", "libc", "python", "memory", "cpus", "machine"} <= set(result)


def test_the_errors_of_refused_calls_are_reported() -> None:
    outcome = surveyed("lambda-strict")
    refused = {name.split()[0] for name, result in outcome["calls"].items() if result == "EPERM"}
    assert refused == {
        *("prctl", "seccomp", "capset", "ptrace", "unshare", "landlock_create_ruleset"),
    }
    assert (outcome["status"]["NoNewPrivs"], outcome["status"]["Seccomp"]) == ("1", "2")
    assert outcome["confinement"]["alone"]["filtered"] is False
    assert outcome["hiddenMemory"] == "Operation not permitted"


def test_a_survey_changes_nothing_of_its_own_process() -> None:
    first = handler({})
    assert first["status"] == handler({})["status"]
    assert first["boto3"] == sdk_version()
    assert Path("/proc/self/environ").read_bytes() is not None
