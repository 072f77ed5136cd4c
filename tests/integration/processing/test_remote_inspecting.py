"""The shipped pipelines where another function reads their files, in rounds."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.core.function_calls import CallReply, ReplyLostError
from backend.entrypoints.inspection import Inspector
from backend.entrypoints.reading import RemoteReading
from backend.processing.jail.parent import Jail
from backend.processing.jail.results import ReadingStalledError
from backend.processing.remote.reader import OtherTenantError, Reader
from backend.spec.formats import EXTENSIONS_OF
from backend.spec.functions.inspection import READER_SECONDS
from backend.spec.inspection_outputs import INSPECTION_OUTPUTS, STRUCTURE, TURNTABLE
from tests.integration.processing.test_inspecting import FakeWorkFiles, event
from tests.unit.processing import cad, samples

_READ = frozenset(extension for read in EXTENSIONS_OF.values() for extension in read)
MATERIAL = b"newmtl red\nmap_Kd ../textures/Red.png\nmap_Ks ../../up.png\nmap_Ka gone.png\n"


class Transfers:
    """Reads and writes the objects of a fake by its URLs."""

    def __init__(self, files: FakeWorkFiles) -> None:
        self.files = files
        self.downloads: list[str] = []

    def download(self, url: str, destination: Path, *, most_bytes: int) -> None:
        content = self.files.objects[self.files.by_url(url)]
        assert len(content) <= most_bytes
        self.downloads.append(url)
        destination.write_bytes(content)

    def upload(self, source: Path, url: str, headers: Mapping[str, str]) -> None:
        place = self.files.by_url(url)
        assert place not in self.files.objects
        assert set(headers) == {"Content-Type", "If-None-Match"}
        self.files.objects[place] = source.read_bytes()


class Instances:
    """The reader function: an instance for each tenant, all with one jail."""

    def __init__(self, files: FakeWorkFiles, jail: Jail) -> None:
        self.files = files
        self.jail = jail
        self.transfers = Transfers(files)
        self.instances: dict[str, Reader] = {}
        self.rounds = 0
        self.named: set[str] = set()
        self.forgetful = False

    def call(self, function: str, tenant: str, request: Mapping[str, Any]) -> CallReply:
        assert function == "reader"
        self.rounds += 1
        self.named |= set(request["files"])
        if self.forgetful or tenant not in self.instances:
            folder = Path(tempfile.mkdtemp())
            self.instances[tenant] = Reader(self.jail, self.transfers, folder)
        reply = self.instances[tenant].handle(json.loads(json.dumps(request)))
        return CallReply(json.loads(json.dumps(reply)))


class Context:
    """A function that is about to end."""

    def get_remaining_time_in_millis(self) -> int:
        return 100_000


@pytest.fixture(scope="module")
def jail() -> Iterator[Jail]:
    started = Jail(seconds=30)
    yield started
    started.close()


@pytest.fixture
def files() -> FakeWorkFiles:
    result = FakeWorkFiles()
    result.objects["assets", "statue/models/cube.obj"] = samples.cube_obj("mtllib cube.mtl\n")
    result.objects["assets", "statue/models/cube.mtl"] = MATERIAL
    result.objects["assets", "statue/textures/red.png"] = samples.png()
    result.objects["assets", "up.png"] = samples.png()
    return result


@pytest.fixture
def instances(files: FakeWorkFiles, jail: Jail) -> Instances:
    return Instances(files, jail)


def pipeline(files: FakeWorkFiles, instances: Instances) -> Inspector:
    remote = RemoteReading(
        files, instances, "reader", READER_SECONDS, False, iter("123456789").__next__
    )
    return Inspector(files, None, _READ, remote)


def run(files: FakeWorkFiles, inspector: Inspector, path: str) -> dict[str, Any]:
    inspector.handle({**event(path), "body": {**event(path)["body"], "executionId": "x-1"}})
    return files.result()


def test_a_model_is_read_as_in_the_pipeline_itself(
    files: FakeWorkFiles, instances: Instances, jail: Jail
) -> None:
    here = run(files, Inspector(files, jail, EXTENSIONS_OF["Inspect"]), "models/cube.obj")
    outputs = {key: files.objects.pop(key) for key in list(files.objects) if key[0] == "auxiliary"}
    there = run(files, pipeline(files, instances), "models/cube.obj")
    assert there == here
    assert there["refused"] is None
    assert {reference["state"] for reference in there["references"]} == {
        *("found", "otherCase", "outside", "missing"),
    }
    assert {key: files.objects[key] for key in outputs} == outputs
    others = {key for _, key in files.objects if key.startswith("pipelines/")}
    others -= {key for _, key in outputs}
    absent = {STRUCTURE, TURNTABLE}
    written = (output.file for output in INSPECTION_OUTPUTS if output not in absent)
    assert others == {f"pipelines/x-1/1/reader/1/{item}" for item in written}
    assert list(instances.instances) == ["x-1:1"]


def test_a_file_is_fetched_once_by_an_instance_that_remains(
    files: FakeWorkFiles, instances: Instances
) -> None:
    run(files, pipeline(files, instances), "models/cube.obj")
    downloads = instances.transfers.downloads
    assert instances.rounds == 3  # the model, its materials, their textures
    assert sorted(downloads) == [
        "assets statue/models/cube.mtl",
        "assets statue/models/cube.obj",
        "assets statue/textures/red.png",
    ]


def test_an_instance_that_is_lost_between_rounds_does_not_matter(
    files: FakeWorkFiles, instances: Instances
) -> None:
    instances.forgetful = True
    assert run(files, pipeline(files, instances), "models/cube.obj")["facts"]["triangles"] == 12


def test_a_cad_model_is_read(files: FakeWorkFiles, instances: Instances) -> None:
    files.objects["assets", "statue/cube.step"] = cad.cube_step()
    done = run(files, pipeline(files, instances), "cube.step")
    assert (done["facts"]["triangles"], done["glb"]) == (12, "model.glb")


def test_buffers_of_a_document_are_requested_together(
    files: FakeWorkFiles, instances: Instances
) -> None:
    document = samples.cube_gltf("cube.bin")
    document["buffers"] += [{"uri": f"more{n}.bin", "byteLength": 4} for n in range(20)]
    files.objects["assets", "statue/cube.gltf"] = samples.encoded(document)
    files.objects["assets", "statue/cube.bin"] = samples.cube_binary()
    done = run(files, pipeline(files, instances), "cube.gltf")
    assert done["facts"]["triangles"] == 12
    assert instances.rounds == 2
    assert len(instances.named) == 21


def test_an_instance_reads_one_file_only(files: FakeWorkFiles, instances: Instances) -> None:
    run(files, pipeline(files, instances), "models/cube.obj")
    (reader,) = instances.instances.values()
    with pytest.raises(OtherTenantError):
        reader.handle({"tenant": "x-2:1"})


def test_an_archived_file_is_refused_before_a_reader_is_called(
    files: FakeWorkFiles, instances: Instances
) -> None:
    files.archived.add("statue/models/cube.obj")
    done = run(files, pipeline(files, instances), "models/cube.obj")
    assert "archive storage class" in done["refused"]
    assert instances.rounds == 0


def test_no_round_begins_that_the_pipeline_would_not_outlive(
    files: FakeWorkFiles, instances: Instances
) -> None:
    inspector = pipeline(files, instances)
    with pytest.raises(ReadingStalledError, match="no time was left for round 2"):
        inspector.handle(event("models/cube.obj"), Context())
    assert instances.rounds == 1


def test_without_a_jail_and_a_reader_nothing_is_read(files: FakeWorkFiles) -> None:
    inspector = Inspector(files, None, EXTENSIONS_OF["Inspect"])
    done = run(files, inspector, "models/cube.obj")
    assert done["refused"] == "this deployment has no function that reads files"
    assert files.read == []


def test_a_reader_that_cannot_be_called_fails_the_run(files: FakeWorkFiles, jail: Jail) -> None:
    class Busy(Instances):
        def call(self, function: str, tenant: str, request: Mapping[str, Any]) -> CallReply:
            raise UnavailableError("Lambda has no instance")

    with pytest.raises(UnavailableError):
        run(files, pipeline(files, Busy(files, jail)), "models/cube.obj")


def test_a_reader_that_never_ends_is_a_fact(files: FakeWorkFiles, jail: Jail) -> None:
    class Endless(Instances):
        def call(self, function: str, tenant: str, request: Mapping[str, Any]) -> CallReply:
            self.rounds += 1
            return CallReply(failure="has not replied within 240 seconds", late=True)

    done = run(files, pipeline(files, endless := Endless(files, jail)), "models/cube.obj")
    assert done["refused"] == "has not replied within 240 seconds"
    assert endless.rounds == 2


def test_a_reader_that_is_not_ready_in_time_fails_the_run_and_refuses_no_file(
    files: FakeWorkFiles, jail: Jail
) -> None:
    reply = CallReply(failure="failed: ReadingStalledError", kind="ReadingStalledError")

    class Late(Instances):
        def call(self, function: str, tenant: str, request: Mapping[str, Any]) -> CallReply:
            return reply

    with pytest.raises(ReadingStalledError, match=reply.failure):
        run(files, pipeline(files, Late(files, jail)), "models/cube.obj")
    assert not any(key.endswith("inspection.json") for _, key in files.objects)


def test_a_reader_whose_reply_is_lost_is_called_by_the_next_attempt(
    files: FakeWorkFiles, jail: Jail
) -> None:
    """It may still run, so the next call has another tenant and folder."""

    class Lost(Instances):
        def call(self, function: str, tenant: str, request: Mapping[str, Any]) -> CallReply:
            reply = super().call(function, tenant, request)
            if self.rounds == 1:
                raise ReplyLostError("the reply was lost")
            return reply

    inspector = pipeline(files, lost := Lost(files, jail))
    with pytest.raises(ReadingStalledError, match="the reply was lost"):
        run(files, inspector, "models/cube.obj")
    assert run(files, inspector, "models/cube.obj")["facts"]["triangles"] == 12
    assert list(lost.instances) == ["x-1:1", "x-1:2"]


def test_a_reader_that_fails_is_a_fact(files: FakeWorkFiles, jail: Jail) -> None:
    class Failing(Instances):
        def call(self, function: str, tenant: str, request: Mapping[str, Any]) -> CallReply:
            return CallReply(failure="the function that reads it failed: Runtime.ExitError")

    done = run(files, pipeline(files, Failing(files, jail)), "models/cube.obj")
    assert done["refused"] == "the function that reads it failed: Runtime.ExitError"
    assert (done["facts"], done["glb"]) == ({}, None)


def test_a_jail_that_confines_reads_here_although_there_is_a_reader(
    files: FakeWorkFiles, instances: Instances, jail: Jail
) -> None:
    remote = pipeline(files, instances)
    done = run(files, replace(remote, jail=jail), "models/cube.obj")
    assert done["facts"]["triangles"] == 12
    assert instances.rounds == 0
