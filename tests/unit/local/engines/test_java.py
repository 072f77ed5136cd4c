"""Which Java is chosen on made-up machines, and its download from a fictitious archive."""

import functools
import hashlib
import re
import sys
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cjdk
import pytest

from local.engines import EngineError, free_port
from local.engines import java as java_module
from local.engines.java import PLATFORM, find_java, prepare_java
from local.engines.versions import JDKS, Jdk


def install(home: Path, version: str | None, *, modules: str = "java.base jdk.localedata") -> Path:
    """Make a folder that looks like the home of a JDK; without a version, no release file."""
    (home / "bin").mkdir(parents=True)
    for program in (home / "bin" / "java", home / "bin" / "javac"):
        program.write_text("#!/bin/sh\necho 'openjdk version \"23.0.1\" 2024-10-15' >&2\n")
        program.chmod(0o755)
    if version is not None:
        (home / "release").write_text(
            f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\nMODULES="{modules}"\n'
        )
    return home


def found(machine: Path, environment: dict[str, str] | None = None) -> Path | None:
    return find_java(
        machine / "tools",
        environment=environment or {},
        root=machine,
        home=machine / "home" / "me",
    )


def test_java_home_comes_before_the_path_and_the_usual_folders(tmp_path: Path) -> None:
    chosen = install(tmp_path / "chosen", "21.0.2")
    on_path = install(tmp_path / "other", "22")
    install(tmp_path / "usr/lib/jvm/temurin-25", "25.0.3")
    environment = {"JAVA_HOME": str(chosen), "PATH": str(on_path / "bin")}
    assert found(tmp_path, environment) == chosen


def test_an_old_default_java_is_passed_over_for_a_newer_one_beside_it(tmp_path: Path) -> None:
    old = install(tmp_path / "usr/lib/jvm/java-17-openjdk-amd64", "17.0.15")
    newer = install(tmp_path / "usr/lib/jvm/temurin-25-jdk-amd64", "25.0.3")
    environment = {"JAVA_HOME": str(old), "PATH": str(old / "bin")}
    assert found(tmp_path, environment) == newer


@pytest.mark.parametrize(
    "place",
    [
        "usr/lib/jvm/x",
        "opt/java/x",
        "Library/Java/JavaVirtualMachines/temurin-25.jdk/Contents/Home",
        "opt/homebrew/opt/openjdk@25/libexec/openjdk.jdk/Contents/Home",
        "home/me/.sdkman/candidates/java/25-tem",
        "tools/java",
    ],
)
def test_a_java_in_a_usual_folder_is_found(tmp_path: Path, place: str) -> None:
    home = install(tmp_path / place, "25")
    assert found(tmp_path) == home


def test_a_java_without_a_release_file_is_run_to_read_its_version(tmp_path: Path) -> None:
    home = install(tmp_path / "usr/lib/jvm/plain", None)
    assert found(tmp_path) == home


def test_a_trimmed_java_without_locale_data_does_not_count(tmp_path: Path) -> None:
    install(tmp_path / "usr/lib/jvm/trimmed", "25", modules="java.base java.sql")
    assert found(tmp_path) is None


CPUS = ("x86_64", "aarch64")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address of a server of `tmp_path/www`."""
    (tmp_path / "www").mkdir()
    handler = partial(_Quiet, directory=str(tmp_path / "www"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def a_machine_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Java; cjdk may use http, which it otherwise refuses."""
    nowhere = functools.partial(
        find_java, environment={}, root=tmp_path / "root", home=tmp_path / "home"
    )
    monkeypatch.setattr(java_module, "find_java", nowhere)
    insecure = functools.partial(cjdk.cache_package, _allow_insecure_for_testing=True)
    monkeypatch.setattr(cjdk, "cache_package", insecure)


@pytest.fixture
def published(tmp_path: Path, site: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The archive of a JDK, which the lock pins for this platform."""
    home = (
        tmp_path / "content" / "jdk-25.0.9" / ("Contents/Home" if sys.platform == "darwin" else "")
    )
    (home / "bin").mkdir(parents=True)
    for program in ("java", "javac"):
        (home / "bin" / program).write_text("#!/bin/sh\n")
        (home / "bin" / program).chmod(0o755)
    (home / "release").write_text('JAVA_VERSION="25.0.9"\nMODULES="java.base jdk.localedata"\n')
    path = tmp_path / "www" / "jdk.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(tmp_path / "content" / "jdk-25.0.9", arcname="jdk-25.0.9")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(java_module, "JDKS", {PLATFORM: Jdk(f"{site}/jdk.tar.gz", digest)})
    return path


def test_a_fetched_java_is_found_from_then_on_without_a_network(
    tmp_path: Path, published: Path
) -> None:
    tools = tmp_path / "tools"
    home = prepare_java(tools, lambda _: None)
    assert (home / "release").read_text().startswith('JAVA_VERSION="25.0.9"')
    published.unlink()
    assert prepare_java(tools, lambda _: None) == home.resolve()


def test_an_archive_with_another_checksum_is_not_unpacked(tmp_path: Path, published: Path) -> None:
    published.write_bytes(published.read_bytes() + b"\0")
    with pytest.raises(EngineError, match=r"none can be fetched \(Hash does not match"):
        prepare_java(tmp_path / "tools", lambda _: None)
    assert list((tmp_path / "tools").rglob("javac")) == []


def test_no_network_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = Jdk(f"http://127.0.0.1:{free_port()}/jdk.tar.gz", "0" * 64)
    monkeypatch.setattr(java_module, "JDKS", {PLATFORM: away})
    fact = r"^no JDK 21\+ found and none can be fetched.*JAVA_HOME"
    with pytest.raises(EngineError, match=fact) as caught:
        prepare_java(tmp_path / "tools", lambda _: None)
    assert "\n" not in str(caught.value)


def test_a_platform_without_a_pinned_archive_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java_module, "JDKS", {})
    with pytest.raises(EngineError, match=rf"no archive is pinned for {PLATFORM}.*JAVA_HOME"):
        prepare_java(tmp_path / "tools", lambda _: None)


def test_the_pinned_archives_are_of_one_release_each_with_its_own_checksum() -> None:
    assert set(JDKS) == {f"{kind}-{cpu}" for kind in ("linux", "darwin") for cpu in CPUS}
    for platform, jdk in JDKS.items():
        assert jdk.url.startswith("https://github.com/adoptium/temurin25-binaries/releases/")
        assert re.search(r"_(x64|aarch64)_(linux|mac)_hotspot_25\.0\.4\.1_1\.tar\.gz$", jdk.url)
        assert ("mac" in jdk.url) == platform.startswith("darwin")
        assert ("aarch64" in jdk.url) == platform.endswith("aarch64")
    assert len({jdk.sha256 for jdk in JDKS.values()}) == len(JDKS)
