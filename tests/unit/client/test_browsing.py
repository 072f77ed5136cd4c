"""The command `vitrine open`: the address of an object, and the browser that opens it."""

from pathlib import Path

import httpx
import pytest

from tests.unit.client.fake_server import API, FakeServer
from tests.unit.client.shell import Shell

PAGE = f"{API}/ui/"


@pytest.fixture
def shell(server: FakeServer, tmp_path: Path) -> Shell:
    """A shell whose server has a page and the asset car with one file."""
    root = tmp_path / "garage" / "car"
    root.mkdir(parents=True)
    (root / "a b&c.glb").write_bytes(b"glTF")
    made = Shell(server, tmp_path)
    made.run("import", str(root.parent))
    server.fail("GET", "^/ui/$", *[httpx.Response(200, html="<!doctype html>")] * 9)
    return made


def test_the_browser_opens_the_address_unless_it_is_only_printed(shell: Shell) -> None:
    opened: list[str] = []
    shell.browse = lambda url: not opened.append(url)
    assert shell.run("open", "--search", "car").strip() == f"{PAGE}?q=car"
    assert (opened, shell.err) == ([f"{PAGE}?q=car"], "")
    assert shell.json("open", "--print") == {"url": PAGE}
    assert len(opened) == 1


def test_without_a_browser_the_address_is_printed_and_the_reason(shell: Shell) -> None:
    shell.browse = lambda _: False
    assert shell.run("open").strip() == PAGE
    assert "no browser was found" in shell.err
    assert shell.code == 0
