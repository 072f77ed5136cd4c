"""Downloads of Java by cjdk, from a fictitious index and archive on the loopback address."""

import functools
import json
import platform
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
from local.engines.java import find_java, prepare_java
from local.engines.versions import JAVA_FETCHED


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
    insecure = functools.partial(cjdk.java_home, _allow_insecure_for_testing=True)
    monkeypatch.setattr(cjdk, "java_home", insecure)


def publish(www: Path, address: str) -> str:
    """Write an index with one Temurin beside its archive; return the index's address."""
    home = www / "content" / "jdk-25.0.9"
    (home / "bin").mkdir(parents=True)
    for program in ("java", "javac"):
        (home / "bin" / program).write_text("#!/bin/sh\n")
        (home / "bin" / program).chmod(0o755)
    (home / "release").write_text('JAVA_VERSION="25.0.9"\nMODULES="java.base jdk.localedata"\n')
    with tarfile.open(www / "jdk.tar.gz", "w:gz") as archive:
        archive.add(home, arcname=home.name)
    archives = {"jdk@temurin": {f"{JAVA_FETCHED}.0.9": f"tgz+{address}/jdk.tar.gz"}}
    names = {"x86_64": "amd64", "aarch64": "arm64"}
    machine = platform.machine().lower()
    (www / "index.json").write_text(
        json.dumps({sys.platform: {names.get(machine, machine): archives}})
    )
    return f"{address}/index.json"


def test_a_fetched_java_is_found_from_then_on_without_a_network(tmp_path: Path, site: str) -> None:
    index = publish(tmp_path / "www", site)
    tools = tmp_path / "tools"
    home = prepare_java(tools, lambda _: None, index_url=index)
    assert (home / "release").read_text().startswith('JAVA_VERSION="25.0.9"')
    (tmp_path / "www" / "index.json").unlink()
    (tmp_path / "www" / "jdk.tar.gz").unlink()
    assert prepare_java(tools, lambda _: None, index_url=index) == home.resolve()


def test_no_network_is_one_clear_line(tmp_path: Path) -> None:
    index = f"http://127.0.0.1:{free_port()}/index.json"
    with pytest.raises(EngineError, match=r"^no JDK 21\+ found and none can be fetched"):
        prepare_java(tmp_path / "tools", lambda _: None, index_url=index)
