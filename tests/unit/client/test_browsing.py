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


def address(shell: Shell, *arguments: str) -> str:
    shell.run("open", *arguments, "--print")
    assert shell.code == 0, shell.err
    return shell.out.strip()


def test_the_address_is_that_of_what_is_named(shell: Shell) -> None:
    [asset] = [one for _, one in shell.server.assets]
    assert address(shell) == PAGE
    assert address(shell, "--search", "gear wheel") == f"{PAGE}?q=gear%20wheel"
    chosen = "facets=%7B%22str_databaseid%22%3A%5B%22garage%22%5D%7D"
    assert address(shell, "garage") == f"{PAGE}?{chosen}"
    assert address(shell, "garage", "--search", "x") == f"{PAGE}?q=x&{chosen}"
    place = f"{PAGE}databases/garage/assets/{asset}"
    assert address(shell, "garage", "car") == place
    assert address(shell, "garage", asset) == place
    for path in ("a b&c.glb", "/a b&c.glb"):
        assert address(shell, "garage", "car", path) == f"{place}?file=%2Fa%20b%26c.glb"


def test_a_search_for_a_text_that_is_json_remains_a_text(shell: Shell) -> None:
    for text, written in (("12", "%2212%22"), ("true", "%22true%22"), ("null", "%22null%22")):
        assert address(shell, "--search", text) == f"{PAGE}?q={written}"


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


@pytest.mark.parametrize(
    "arguments", [["nowhere"], ["nowhere", "car"], ["garage", "bus"], ["garage", "car", "no.glb"]]
)
def test_what_does_not_exist_is_not_opened(shell: Shell, arguments: list[str]) -> None:
    opened: list[str] = []
    shell.browse = lambda url: not opened.append(url)
    shell.run("open", *arguments)
    assert (shell.code, opened, shell.out) == (3, [], "")


def test_a_search_within_an_asset_is_wrong_usage(shell: Shell) -> None:
    shell.run("open", "garage", "car", "--search", "x")
    assert shell.code == 2
    assert "--search" in shell.err


def test_a_deployment_without_a_page_is_reported(server: FakeServer, tmp_path: Path) -> None:
    shell = Shell(server, tmp_path)
    server.fail("GET", "^/ui/$", httpx.Response(404), httpx.ConnectError("gone"))
    shell.run("open")
    assert (shell.code, shell.out) == (2, "")
    assert f"this deployment serves no page at {PAGE}" in shell.err
    shell.run("open")
    assert (shell.code, shell.out) == (5, "")
