"""Downloads of Java by cjdk, from a fictitious archive on the loopback address."""

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
    with pytest.raises(EngineError, match=r"^no JDK 21\+ found and none can be fetched"):
        prepare_java(tmp_path / "tools", lambda _: None)


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
