"""How tools of the engines are found, fetched and built, on made-up machines."""

import hashlib
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from local.engines import EngineError, Options, s3
from local.engines.eatmydata import preload
from local.engines.go import Go, find_go
from local.engines.jars import store as store_module
from local.engines.jars.locked import Artifact, Locked, lock_path, read_lock
from local.engines.jars.store import REPOSITORY_VARIABLE, fetch_all
from local.engines.layout import whole_folder
from local.engines.opensearch_home import MODULES, arrange_jars, owner, plugin_class
from local.engines.versions import LEFT_OUT, ROOTS, VERSITYGW_SUM

BODY = b"the bytes of a jar" * 1000
JAR = Artifact("org.example", "lib", "1.0", None, "jar")
ENTRY = Locked(JAR, hashlib.sha256(BODY).hexdigest())

Response = Callable[[httpx.Request], httpx.Response]


class Broken(httpx.SyncByteStream):
    """A body whose connection breaks in the middle."""

    def __iter__(self) -> Iterator[bytes]:
        yield BODY[: len(BODY) // 2]
        raise httpx.ReadError("connection reset")


@pytest.fixture(autouse=True)
def a_mirror_and_no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REPOSITORY_VARIABLE, "https://mirror.example/maven/")
    monkeypatch.setattr(store_module, "_PAUSE_SECONDS", 0.0)


def fetch(store: Path, answer: Response) -> list[int]:
    sizes: list[int] = []
    fetch_all([ENTRY], store, fetched=sizes.append, transport=httpx.MockTransport(answer))
    return sizes


def files(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def test_a_jar_comes_from_the_mirror_into_the_store(tmp_path: Path) -> None:
    requests: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(str(request.url))
        return httpx.Response(200, content=BODY)

    assert fetch(tmp_path, answer) == [len(BODY)]
    assert requests == ["https://mirror.example/maven/org/example/lib/1.0/lib-1.0.jar"]
    assert (tmp_path / JAR.path).read_bytes() == BODY
    assert fetch(tmp_path, lambda _: httpx.Response(500)) == []


def test_another_content_than_locked_is_named_and_not_kept(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"org\.example:lib:1\.0 .* it is not used"):
        fetch(tmp_path, lambda _: httpx.Response(200, content=b"evil"))
    assert files(tmp_path) == []


def test_a_partial_download_is_started_again_and_never_kept(tmp_path: Path) -> None:
    answers = iter([httpx.Response(200, stream=Broken()), httpx.Response(200, content=BODY)])
    fetch(tmp_path, lambda _: next(answers))
    assert (tmp_path / JAR.path).read_bytes() == BODY
    assert files(tmp_path) == [str(JAR.path)]


def test_a_connection_that_keeps_breaking_ends_in_an_error_with_the_coordinate(
    tmp_path: Path,
) -> None:
    with pytest.raises(EngineError, match=r"cannot fetch org\.example:lib:1\.0: .*reset"):
        fetch(tmp_path, lambda _: httpx.Response(200, stream=Broken()))
    assert files(tmp_path) == []


def test_a_jar_that_the_repository_lacks_is_an_error_at_once(tmp_path: Path) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(404)

    with pytest.raises(EngineError, match=r"org\.example:lib:1\.0: .* answers 404"):
        fetch(tmp_path, answer)
    assert len(requests) == 1


def names(folder: Path) -> set[str]:
    """Names in a folder, lock files aside."""
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


def test_a_folder_is_built_once(tmp_path: Path) -> None:
    built: list[Path] = []

    def build(folder: Path) -> None:
        built.append(folder)
        (folder / "file").write_text("x")

    for _ in range(2):
        assert (whole_folder(tmp_path, "thing-1", build) / "file").read_text() == "x"
    assert len(built) == 1
    assert names(tmp_path) == {"thing-1"}


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise EngineError("no network")

    with pytest.raises(EngineError, match="no network"):
        whole_folder(tmp_path, "thing-1", fail)
    assert names(tmp_path) == set()


def test_two_at_once_build_once(tmp_path: Path) -> None:
    built: list[Path] = []
    begun, go_on = threading.Event(), threading.Event()

    def build(folder: Path) -> None:
        built.append(folder)
        begun.set()
        assert go_on.wait(10)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(whole_folder, tmp_path, "thing-1", build)
        assert begun.wait(10)
        second = pool.submit(whole_folder, tmp_path, "thing-1", build)
        go_on.set()
        assert first.result(10) == second.result(10) == tmp_path / "thing-1"
    assert len(built) == 1


A = "a" * 64
B = "b" * 64


def locked(tmp_path: Path, text: str) -> list[Locked]:
    path = tmp_path / "x.lock"
    path.write_text(text)
    return read_lock(path)


def test_a_line_is_read_with_classifier_and_type(tmp_path: Path) -> None:
    entries = locked(
        tmp_path, f"# said\n\no.x:lib:1.0+2 {A}  # why\no.x:nat:1:linux-x86_64@so {B}\n"
    )
    assert entries == [
        Locked(Artifact("o.x", "lib", "1.0+2", None, "jar"), A),
        Locked(Artifact("o.x", "nat", "1", "linux-x86_64", "so"), B),
    ]
    assert str(entries[0].artifact.path) == "o/x/lib/1.0+2/lib-1.0+2.jar"
    assert str(entries[1].artifact.path) == "o/x/nat/1/nat-1-linux-x86_64.so"


@pytest.mark.parametrize(
    "line",
    [
        f"o.x:lib {A}",
        "o.x:lib:1",
        f"o.x:lib:1 {A[:-1]}",
        f"o.x:lib:1 {A.upper()}",
        f"o.x:../l:1 {A}",
    ],
)
def test_a_line_that_is_no_lock_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(EngineError, match=r"x\.lock line 2 is not a lock line"):
        locked(tmp_path, f"o.x:fine:1 {A}\n{line}\n")


@pytest.mark.parametrize("engine", ROOTS)
def test_the_shipped_lock_has_its_roots_and_nothing_left_out(engine: str) -> None:
    entries = read_lock(lock_path(engine))
    assert set(ROOTS[engine]) <= {entry.artifact.coordinate for entry in entries}
    present = {f"{entry.artifact.group}:{entry.artifact.artifact}" for entry in entries}
    assert not present & set(LEFT_OUT[engine])


def jar(folder: Path, name: str, *entries: str) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        for entry in entries:
            archive.writestr(entry, "")


def every_module(jars: Path) -> None:
    for module in MODULES:
        title = module.name.title().replace("-", "")
        jar(jars, f"{module.jars[0]}3.8.0.jar", f"org/opensearch/x/{title}Plugin.class")


def test_jars_go_to_lib_or_to_the_folder_of_their_module_which_is_described(
    tmp_path: Path,
) -> None:
    every_module(tmp_path / "jars")
    for name in ("opensearch-3.8.0.jar", "opensearch-geo-3.8.0.jar", "netty-common-4.jar"):
        jar(tmp_path / "jars", name)
    arrange_jars(tmp_path / "jars", tmp_path)
    assert {path.name for path in (tmp_path / "lib").iterdir()} == {
        "opensearch-3.8.0.jar",
        "opensearch-geo-3.8.0.jar",
    }
    assert (tmp_path / "modules" / "transport-netty4" / "netty-common-4.jar").exists()
    assert not (tmp_path / "jars").exists()
    text = (tmp_path / "modules/analysis-common/plugin-descriptor.properties").read_text()
    assert "classname=org.opensearch.x.AnalysisCommonPlugin\n" in text
    assert "extended.plugins=lang-painless\n" in text
    assert "opensearch.version=3.8.0\n" in text


def test_a_missing_module_is_named(tmp_path: Path) -> None:
    every_module(tmp_path / "jars")
    (tmp_path / "jars" / "geo-3.8.0.jar").unlink()
    with pytest.raises(EngineError, match=r"no jar geo-\*\.jar"):
        arrange_jars(tmp_path / "jars", tmp_path)


def test_the_module_plugin_wins_over_other_plugins() -> None:
    entries = ["org/opensearch/a/APlugin.class", "org/opensearch/z/GeoModulePlugin.class"]
    assert plugin_class(entries) == "org.opensearch.z.GeoModulePlugin"
    assert plugin_class(["org/opensearch/Plugin.txt"]) is None


def test_a_jar_belongs_to_one_module_or_to_the_server() -> None:
    assert owner("lucene-core-10.5.0.jar") is None
    for name in ("asm-9.10.1.jar", "httpcore5-h2-5.4.jar", "opensearch-netty4-3.8.0.jar"):
        assert sum(name.startswith(module.jars) for module in MODULES) == 1


def fake_go(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    command = folder / "go"
    command.write_text(f"#!/bin/sh\necho go version {version} linux/amd64\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return command


def test_an_old_go_is_passed_over_for_the_packaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_go(tmp_path, "go1.9.7", monkeypatch)
    go = find_go()
    assert go.command != old
    assert go.command == Path(go.environment["GOROOT"]) / "bin" / "go"
    command = fake_go(tmp_path, "go1.30.1", monkeypatch)
    assert find_go().command == command


def test_libeatmydata_is_preloaded_where_it_is_installed(tmp_path: Path) -> None:
    assert preload(tmp_path) == {}
    library = tmp_path / "usr/lib/x86_64-linux-gnu/libeatmydata.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    assert preload(tmp_path) == {"LD_PRELOAD": str(library)}


@pytest.mark.parametrize("key", ["", "with-hyphen", "ä"])
def test_an_access_key_that_an_engine_would_refuse_is_refused_at_once(key: str) -> None:
    with pytest.raises(ValueError, match="access_key"):
        Options(access_key=key)


# Compiles one package in each run, into the cache; after three it writes the program.
SLOW_GO = """#!/bin/sh
if [ "$1" = mod ]; then
    mkdir -p "$GOMODCACHE/versitygw"
    echo 'old' > "$GOMODCACHE/versitygw/main.go"
    echo "{\\"Sum\\": \\"%s\\", \\"Dir\\": \\"$GOMODCACHE/versitygw\\"}"
    exit
fi
mkdir -p "$GOCACHE"
echo package >> "$GOCACHE/compiled"
test "$(wc -l < "$GOCACHE/compiled")" -ge 3 || exit 1
while [ "$1" != -o ]; do shift; done
cp main.go "$2"
"""
CHANGE = "--- a/main.go\n+++ b/main.go\n@@ -1 +1 @@\n-old\n+new\n"


def test_an_interrupted_build_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, patch, own = tmp_path / "go", tmp_path / "a.patch", tmp_path / "own"
    command.write_text(SLOW_GO % VERSITYGW_SUM)
    command.chmod(0o755)
    patch.write_text(CHANGE)
    own.mkdir()
    monkeypatch.setattr(s3, "find_go", lambda: Go(command))
    monkeypatch.setattr(s3, "_PATCH", patch)
    monkeypatch.setattr(s3, "_OWN", own)
    monkeypatch.setattr(s3, "_OMITTED", ())
    tools, gateway = tmp_path / "tools", s3.VersityGateway()
    for _ in range(2):
        with pytest.raises(EngineError, match="ended with 1"):
            gateway.prepare(tools, lambda _: None)
    gateway.prepare(tools, lambda _: None)
    (program,) = tools.glob("s3-*/s3gateway")
    assert program.read_text() == "new\n"
    assert [path for path in tools.iterdir() if path.suffix != ".lock"] == [program.parent]
