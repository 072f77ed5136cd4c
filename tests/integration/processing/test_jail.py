"""The jail of readers, as a process and as a box."""

import io
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.processing import limits
from backend.processing.files import State
from backend.processing.jail import conversation, landlock, parent, results
from backend.processing.jail.confinement import Bounds, raise_cpu_seconds
from backend.processing.jail.parent import Jail, Outcome
from backend.processing.jail.results import Ended, ReadingStalledError
from backend.processing.references import Resolver
from tests.integration.processing.attacks import SECRET
from tests.unit.processing import cad, samples
from tests.unit.processing.test_documents import cloud, pdf
from tests.unit.processing.test_models import CUBES, draco_glb

ROOT = Path(__file__).resolve().parents[3]
READING = {"environment", "memory", "memory by a call"}


class Folder:
    """The files of an asset. Records which were fetched."""

    def __init__(self, **files: bytes) -> None:
        self.files = {name.replace("__", "."): content for name, content in files.items()}
        self.fetched: list[str] = []

    def sizes(self) -> Mapping[str, int]:
        return {name: len(content) for name, content in self.files.items()}

    def fetch(self, path: str, destination: Path) -> None:
        self.fetched.append(path)
        destination.write_bytes(self.files[path])


def run(jail: Jail, folder: Path, name: str, data: bytes, files: Folder | None = None) -> Outcome:
    content = folder / "content"
    content.write_bytes(data)
    return jail.inspect(name, content, files or Folder(), folder)


def attacked(layer: str) -> dict[str, bool]:
    """The names of successful attacks."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.processing.attacks", "victim", layer],
        cwd=ROOT,
        env={"VICTIM": SECRET},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def test_without_the_jail_every_attack_succeeds() -> None:
    assert {name for name, succeeded in attacked("none").items() if not succeeded} == set()


@pytest.mark.parametrize("layer", ["jail", "threads"])
def test_in_the_jail_no_attack_succeeds(layer: str) -> None:
    assert {name for name, succeeded in attacked(layer).items() if succeeded} == set()


def test_a_reader_that_uses_a_folder_reaches_nothing_else() -> None:
    """Without Landlock it could use the files of its user."""
    ours = {"read a file", "write a file"} if landlock.version() == 0 else set[str]()
    assert {name for name, succeeded in attacked("folder").items() if succeeded} == ours


def test_a_process_that_hides_its_memory_is_not_read_even_without_the_filter() -> None:
    outcome = attacked("hidden")
    assert {name for name, succeeded in outcome.items() if not succeeded} >= READING
    assert outcome["connect"]


def test_the_environment_of_the_jail_has_no_variable_of_the_parent(
    jail: Jail, tmp_path: Path
) -> None:
    run(jail, tmp_path, "cube.obj", samples.cube_obj())
    assert SECRET in os.environ.values()
    paths = [
        path.read_bytes()
        for path in Path("/proc").glob("[0-9]*/environ")
        if (path.parent / "stat").read_text().split()[3] == str(os.getpid())
    ]
    jails = [item for item in paths if b"OPENBLAS_NUM_THREADS" in item]
    assert jails
    assert not any(SECRET.encode() in item for item in jails)


def test_a_model_is_inspected_with_the_files_that_it_references(jail: Jail, tmp_path: Path) -> None:
    library = (
        b"newmtl red\nmap_Kd Red.PNG\nmap_Ks ../../up.png\nmap_Ka /etc/passwd\nmap_Bump no.png"
    )
    files: dict[str, bytes] = {"models/cube__mtl": library, "models/red__png": samples.png()}
    asset = Folder(**files, unused__png=samples.png())
    data = samples.cube_obj("mtllib cube.mtl\nusemtl red\n")
    done = run(jail, tmp_path, "models/cube.obj", data, asset)
    assert done.result.refused is None
    assert asset.fetched == ["models/cube.mtl", "models/red.png"]
    assert {reference.path: reference.state for reference in done.result.references} == {
        "models/cube.mtl": "found",
        "models/red.png": "otherCase",
        "../../up.png": "outside",
        "/etc/passwd": "absolute",
        "no.png": "missing",
    }
    assert done.thumbnail is not None
    assert done.glb is not None
    assert done.glb.read_bytes()[:4] == b"glTF"
    assert done.result.descriptor is not None


@pytest.mark.parametrize(
    ("name", "data", "facts"),
    [
        ("cube.step", cad.cube_step(), {"triangles": 12, "volume": 1.0, "metresPerUnit": 1.0}),
        ("sheet.igs", cad.sheet_iges(), {"triangles": 2, "area": 100.0, "metresPerUnit": 0.001}),
        ("scan.laz", cloud(compressed=True), {"points": 1000, "format": "LAZ"}),
        ("plan.pdf", pdf(), {"pages": 2}),
        ("cube.glb", draco_glb(), {"triangles": 12, "watertight": True}),
        ("cube.off", CUBES["off"], {"triangles": 12, "format": "OFF"}),
    ],
)
def test_libraries_work_in_the_jail(
    name: str, data: bytes, facts: dict[str, object], jail: Jail, tmp_path: Path
) -> None:
    done = run(jail, tmp_path, name, data)
    assert done.result.refused is None
    assert {key: done.result.facts[key] for key in facts} == facts
    assert done.thumbnail is not None


@pytest.mark.parametrize("kind", ["AVIF", "DDS", "JPEG", "JPEG2000", "PNG", "TIFF", "WEBP"])
def test_images_are_decoded_in_the_jail(kind: str, jail: Jail, tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (40, 20), "red").save(out, kind)
    done = run(jail, tmp_path, "photo.png", out.getvalue())
    assert done.result.refused is None
    assert done.result.facts["format"] == kind
    assert done.thumbnail is not None


def test_a_file_with_the_extension_of_another_format_is_refused_with_this_reason(
    jail: Jail, tmp_path: Path
) -> None:
    glb = samples.glb(samples.cube_gltf(), samples.cube_binary())
    assert run(jail, tmp_path, "a.gltf", glb).result.refused is None
    for name in ("a.obj", "a.stl", "a.png", "a.pdf", "a.3mf", "a.fbx", "a.step"):
        reason = f"The content is GLB, but the name ends in {name[1:]}"
        assert run(jail, tmp_path, name, glb).result.refused == reason, name


def test_an_image_that_runs_a_program_is_refused(jail: Jail, tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (40, 20), "red").save(out, "EPS")
    done = run(jail, tmp_path, "photo.png", out.getvalue())
    assert done.result.refused == "not an image of a known format"


def test_the_same_file_has_the_same_result(jail: Jail, tmp_path: Path) -> None:
    first, second = (run(jail, tmp_path, "c.stl", samples.cube_stl()).result for _ in range(2))
    assert first == second


def test_a_reader_that_gets_no_processor_is_ended_and_its_file_is_not_refused(
    jail: Jail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of a busy machine is not a property of the file: another attempt may read it."""
    with monkeypatch.context() as changed:
        changed.setattr(jail, "seconds", 0.001)
        with pytest.raises(ReadingStalledError, match=r"in 0\.001 seconds \(it may use 8\)"):
            run(jail, tmp_path, "cube.obj", samples.cube_obj())
    assert run(jail, tmp_path, "cube.obj", samples.cube_obj()).result.refused is None


def test_a_reader_that_waits_without_the_processor_is_ended(
    jail: Jail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped process uses no processor time, like one that sleeps."""
    killed: list[int] = []

    def stopped(process: int, seconds: int) -> None:
        os.kill(process, signal.SIGSTOP)
        killed.append(process)

    monkeypatch.setattr(conversation, "raise_cpu_seconds", stopped)
    monkeypatch.setattr(jail, "seconds", 1)
    data = samples.cube_obj("mtllib cube.mtl\n")
    with pytest.raises(ReadingStalledError, match="in 1 seconds"):
        run(jail, tmp_path, "cube.obj", data, Folder(cube__mtl=b"#"))
    assert all(not Path(f"/proc/{process}").exists() for process in killed)


def test_a_template_that_does_not_start_in_time_refuses_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = Jail()
    try:
        with monkeypatch.context() as changed:
            changed.setattr(parent, "_START_SECONDS", 0.001)
            with pytest.raises(ReadingStalledError, match=r"not started within 0\.001 seconds"):
                run(starting, tmp_path, "cube.obj", samples.cube_obj())
        assert run(starting, tmp_path, "cube.obj", samples.cube_obj()).result.refused is None
    finally:
        starting.close()


def test_a_file_may_be_read_as_long_as_its_size_deserves() -> None:
    sizes = (0, 227, 33_000, 1 << 20, 10 << 20, 512 << 20)
    assert [limits.cpu_seconds_for(size) for size in sizes] == [8, 8, 8, 9, 24, 120]
    assert [limits.seconds_for(size) for size in sizes] == [64, 64, 64, 72, 150, 150]


def _hundred(_size: int) -> int:
    return 100


def test_a_small_file_ends_at_the_processor_time_of_a_small_file(
    jail: Jail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def short(size: int) -> int:
        return 1 if size < 1 << 20 else 25

    monkeypatch.setattr(limits, "cpu_seconds_for", short)
    monkeypatch.setattr(limits, "seconds_for", _hundred)  # on a busy machine
    monkeypatch.setattr(jail, "seconds", 100)
    drawn = random.Random(1)  # a polygon of random corners: its triangulation takes over 10 seconds
    corners = [b"v %f %f 0\n" % (drawn.random(), drawn.random()) for _ in range(10_000)]
    slow = b"".join(corners) + b"f " + b" ".join(b"%d" % (n + 1) for n in range(10_000))
    done = run(jail, tmp_path, "cube.obj", slow)
    assert done.result.refused == "reading takes more than 1 seconds of processor time"
    large = samples.cube_obj() + b"#" * (1 << 20)
    assert run(jail, tmp_path, "cube.obj", large).result.refused is None


def test_a_file_that_a_model_references_adds_to_the_processor_time(
    jail: Jail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[int] = []

    def note(process: int, seconds: int) -> None:
        raised.append(seconds)

    monkeypatch.setattr(conversation, "raise_cpu_seconds", note)
    data = samples.cube_obj("mtllib cube.mtl\n")
    asset = Folder(cube__mtl=b"#" * (10 << 20))
    assert run(jail, tmp_path, "cube.obj", data, asset).result.refused is None
    assert raised == [8, 24]  # after the list of the asset's files, and after the file


def test_the_processor_time_of_a_process_is_raised_below_its_hard_limit() -> None:
    kind = resource.RLIMIT_CPU
    before = resource.getrlimit(kind)
    try:
        raise_cpu_seconds(os.getpid(), 100_000)
        assert resource.getrlimit(kind) == (100_000, before[1])
    finally:
        resource.setrlimit(kind, before)
    raise_cpu_seconds(2**22 + 1, 10)  # it has ended


def test_what_needs_too_much_memory_is_refused(
    jail: Jail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jail, "bounds", Bounds(memory_bytes=96 << 20))
    done = run(jail, tmp_path, "many.obj", b"v 0 0 0\n" * 400_000)
    assert done.result.refused == "needs more memory than allowed"


def test_the_jail_continues_when_its_template_has_died(jail: Jail, tmp_path: Path) -> None:
    run(jail, tmp_path, "cube.obj", samples.cube_obj())
    jail.close()
    assert run(jail, tmp_path, "cube.obj", samples.cube_obj()).result.refused is None


def test_the_jail_continues_when_a_reference_could_not_be_fetched(
    jail: Jail, tmp_path: Path
) -> None:
    class Unavailable(Folder):
        def fetch(self, path: str, destination: Path) -> None:
            raise ConnectionResetError

    data = samples.cube_obj("mtllib cube.mtl\n")
    with pytest.raises(ConnectionResetError):
        run(jail, tmp_path, "cube.obj", data, Unavailable(cube__mtl=b""))
    assert run(jail, tmp_path, "cube.obj", data).result.refused is None


def test_results_of_a_hostile_child_are_checked() -> None:
    lies = {
        "facts": {"triangles": float("nan"), "unknown": 1, "format": "x" * 5000, "area": [1]},
        "references": [{"path": 1}, {"path": "a", "kind": "texture", "state": "fine"}],
        "descriptor": [1.0] * 74,
        "thumbnail": "yes",
    }
    outcome = results.check_result(lies)
    assert outcome == results.Result(facts={"format": "x" * 1000})
    assert results.check_result([1]) == results.Result()


_ENDED = (
    "the process that reads the file was ended, possibly because it needs more memory than allowed"
)
_SLOW = "reading takes more than 120 seconds of processor time"


@pytest.mark.parametrize(
    ("status", "late", "cpu_seconds", "reason"),
    [
        (9, False, 3.0, _ENDED),
        (9, False, 120.0, _SLOW),  # at the hard limit
        (9, True, 120.5, _SLOW),  # it ignores the signal
        (11, False, 3.0, "the process that reads the file crashed"),
        (24, False, 119.9, _SLOW),
        (25, False, 3.0, "the result is larger than 513 MiB"),
    ],
)
def test_the_end_of_a_child_is_a_reason(
    status: int, late: bool, cpu_seconds: float, reason: str
) -> None:
    refusal = results.refusal(Ended(status, late, cpu_seconds, seconds=150), Bounds())
    assert refusal == results.Result(refused=reason)


@pytest.mark.parametrize(
    ("name", "state", "file"),
    [
        ("a.png", "found", "m/a.png"),
        ("./x/../a.png", "found", "m/a.png"),
        ("..\\b.png", "found", "b.png"),
        ("A.PNG", "otherCase", "m/a.png"),
        ("../../b.png", "outside", None),
        ("gone.png", "missing", None),
        ("textures/a.png", "missing", "m/a.png"),
        ("C:\\paint\\a.png", "absolute", "m/a.png"),
        ("/etc/passwd", "absolute", None),
        ("file:///etc/passwd", "absolute", None),
        ("https://example.com/a.png", "external", None),
        ("http://169.254.169.254/latest", "external", None),
    ],
)
def test_references_are_resolved_within_the_asset(
    name: str, state: State, file: str | None
) -> None:
    resolver = Resolver("m/model.obj", {"m/a.png": 1, "b.png": 1, "m/model.obj": 1})
    assert resolver.resolve(name)[1:] == (state, file)


def test_no_socket_of_the_jail_reaches_a_server(jail: Jail, tmp_path: Path) -> None:
    """A model that references a server: nothing connects to it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        uri = f"http://127.0.0.1:{server.getsockname()[1]}/cube.bin"
        document = samples.encoded(samples.cube_gltf(uri))
        done = run(jail, tmp_path, "cube.gltf", document)
        assert [reference.state for reference in done.result.references] == ["external"]
        assert done.result.refused
        with pytest.raises(TimeoutError):
            server.accept()


READ = {"refused": None, "triangles": 12, "glb": True}


def read_in(box: str, *, unconfined: bool = False) -> dict[str, Any]:
    module = "tests.integration.processing.boxed"
    done = subprocess.run(
        [sys.executable, "-m", module, box, "yes" if unconfined else ""],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=120,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_jail_uses_prctl_where_the_kernel_allows_it() -> None:
    read = read_in("")
    assert read["found"] == {"cube.obj": READ, "cube.step": READ}
    (line,) = read["log"]
    assert line.startswith("INFO Files are read in a confined process: ")
    assert "the filter by prctl" in line


def test_without_prctl_the_jail_confines_by_the_other_call() -> None:
    read = read_in("lambda")
    assert read["found"]["cube.obj"] == READ
    (line,) = read["log"]
    assert line.startswith("WARNING Files are read in a confined process: ")
    assert "the filter by seccomp" in line
    assert "hidden memory: Operation not permitted" in line


def test_a_reader_that_uses_a_folder_needs_landlock_or_a_hidden_parent() -> None:
    assert read_in("lambda")["found"]["cube.step"] == {
        "refused": (
            "this system cannot confine the process that reads the file: it could read other files "
            "and processes of its user"
        ),
        "triangles": None,
        "glb": False,
    }


def test_without_any_confinement_nothing_is_read_and_the_reason_is_a_fact() -> None:
    read = read_in("lambda-strict")
    reasons = {name: item["refused"] for name, item in read["found"].items()}
    assert set(reasons.values()) == {
        "this system cannot confine the process that reads the file: Operation not permitted"
    }
    (line,) = read["log"]
    assert line.startswith("WARNING Files cannot be read in a confined process: ")


@pytest.mark.parametrize("box", ["lambda", "lambda-strict"])
def test_a_jail_that_may_be_open_reads_nevertheless(box: str) -> None:
    assert read_in(box, unconfined=True)["found"] == {"cube.obj": READ, "cube.step": READ}


def test_no_attack_succeeds_in_the_box_from_a_confined_reader() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.processing.attacks", "victim", "boxed"],
        cwd=ROOT,
        env={"VICTIM": SECRET},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert {name for name, succeeded in json.loads(done.stdout).items() if succeeded} == set()
