"""The command `vitrine`: what it prints where, its exit codes, and the demo."""

import json
import stat
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest
from vitrine.cli.output import plain, size_text
from vitrine.config import read_login

from tests.unit.client.fake_server import API, KEY, FakeServer
from tests.unit.client.shell import Shell


@pytest.fixture
def garage(tmp_path: Path) -> Path:
    root = tmp_path / "garage"
    for name in ("car/body.glb", "car/wheel.obj", "bike/frame.stl"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return root


def test_login_checks_and_keeps_the_key(shell: Shell) -> None:
    shell.environment = {}
    for arguments, code, reason in (
        (["login", "--api", API, "--key", "vams_wrong"], 4, ""),
        (["login", "--api", API], 2, "no API key"),
        (["ls"], 2, "vitrine login"),
    ):
        assert shell.run(*arguments) == ""
        assert (shell.code, reason in shell.err) == (code, True)
        assert read_login(shell.login) is None
    shell.run("login", "--api", API, "--key", KEY)
    assert shell.code == 0
    assert stat.S_IMODE(shell.login.stat().st_mode) == 0o600
    shell.run("ls")
    assert shell.code == 0
    shell.environment = {"VITRINE_API": API}  # without a key
    assert shell.run("version") == "2.5.1\t0.1.0\n"


@pytest.mark.parametrize(
    "line",
    ["search {}", "suggest {}", "get {} a", "ls {}", "tags create {}", "api POST /search -f q={}"],
)
def test_an_argument_that_is_not_utf8_is_wrong_usage(shell: Shell, line: str) -> None:
    assert shell.run(*line.format("caf\udce9").split()) == ""
    fact = r"error: '\udce9' in an argument is not valid Unicode"
    assert (shell.code, fact in shell.err.replace("\n", " ")) == (2, True)


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, 3), (401, 4), (403, 4), (400, 1), (500, 1), (503, 5), (429, 5), (None, 5)],
)
def test_each_kind_of_error_has_its_exit_code(shell: Shell, status: int | None, code: int) -> None:
    answer = httpx.Response(status, json={"message": "no"}) if status else httpx.ConnectError("no")
    shell.server.fail("GET", "/database$", answer, answer)
    assert shell.run("ls") == ""
    assert shell.code == code
    assert "error: " in shell.err


@pytest.mark.parametrize(
    ("arguments", "message", "printed"),
    [
        (
            ["versions", "archive", "museum", "x1", "1", "--yes"],
            "confirm this with confirmArchiveAsset, not for 'databaseId' in metadata.0.metadataKey",
            "confirm this with --yes, not for 'databaseId' in metadata.0.metadataKey",
        ),
        (["import-bucket", "scans"], "databaseId: is not valid", "--database: is not valid"),
        (["ls", "a"], "databaseId: is not valid", "DATABASE: is not valid"),
        (["import-bucket", "scans"], "assetId: is not valid", "assetId: is not valid"),
        (["api", "GET", "/database/a"], "databaseId: is wrong", "databaseId: is wrong"),
    ],
)
def test_a_message_names_the_options_of_its_command(
    shell: Shell, arguments: list[str], message: str, printed: str
) -> None:
    refusal = httpx.Response(400, json={"message": message})
    for method in ("GET", "POST"):
        shell.server.fail(method, "", *[refusal] * 3)
    shell.run(*arguments)
    assert (shell.code, shell.err) == (1, f"error: {printed}\n")


def test_import_prints_each_asset_and_succeeds(shell: Shell, garage: Path) -> None:
    shell.run("import", str(garage))
    assert shell.code == 0
    rows = [line.split("\t")[1:] for line in shell.out.splitlines()]
    assert rows == [["bike", "1", "14 B"], ["car", "2", "25 B"]]
    assert "garage: 3 uploaded in" in shell.err
    shell.run("import", str(garage))
    assert "garage: 3 skipped in" in shell.err


def test_an_import_and_a_download_of_which_a_file_fails_end_badly(
    shell: Shell, garage: Path
) -> None:
    shell.server.file_results["/frame.stl"] = "it is an executable"
    shell.run("import", str(garage))
    assert shell.code == 1
    assert "frame.stl: it is an executable" in shell.err
    denied = httpx.Response(400, json={"message": "not distributable"})
    shell.server.fail("POST", "/download$", denied, denied, denied)
    shell.run("download", "garage", "car", "-o", str(shell.folder / "out"))
    assert shell.code == 1
    for name in ("body.glb", "wheel.obj"):
        assert f"{name}: not distributable" in shell.err


def test_download_returns_the_imported_files(shell: Shell, garage: Path) -> None:
    shell.run("import", str(garage))
    out = shell.folder / "out"
    shell.run("download", "garage", "car", "-o", str(out))
    assert shell.code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {
        "body.glb": b"car/body.glb",
        "wheel.obj": b"car/wheel.obj",
    }
    shell.run("download", "garage", "car", "/none", "-o", str(out))
    assert shell.code == 3


def test_the_version_of_the_package_is_printed_without_a_deployment(shell: Shell) -> None:
    shell.environment = {}
    assert shell.run("--version") == f"vitrine-client {version('vitrine-client')}\n"
    assert shell.code == 0


def test_wait_waits_for_the_local_runtime(shell: Shell, server: FakeServer) -> None:
    server.drained_after = 3
    assert shell.json("wait")["drained"] is True
    server.drained_after = 10**9
    shell.run("wait", "--timeout", "0")
    assert shell.code == 1
    assert "not all changes processed after 0 s" in shell.err
    shell.environment = {"VITRINE_API": API, "VITRINE_API_KEY": KEY}
    shell.run("wait")
    assert shell.code == 2


def test_sizes_are_readable_and_texts_cannot_send_control_codes_to_the_terminal() -> None:
    assert plain("a\x1b[2Jb\u202e\n") == "a\\x1b[2Jb\\u202e\\n"
    assert plain("Möbel 漢字") == "Möbel 漢字"
    sizes = {None: "", 0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 5 * 1024**4: "5.0 TiB"}
    assert {size: size_text(size) for size in sizes} == sizes


def test_a_busy_server_is_named_on_standard_error_only(shell: Shell, server: FakeServer) -> None:
    for arguments, output in (
        ((), ["the server is busy (status 429): trying again"]),
        (("--json",), []),
    ):
        busy = httpx.Response(429, json={"message": "slow"}, headers={"Retry-After": "60"})
        server.fail("GET", "/database", busy)
        assert "busy" not in shell.run("databases", "list", *arguments)
        assert shell.code == 0
        assert [line.partition(",")[0] for line in shell.err.splitlines()] == output


def test_a_browser_opens_the_address_unless_it_is_only_printed(shell: Shell) -> None:
    shell.server.fail("GET", "^/ui/$", *[httpx.Response(200, html="<!doctype html>")] * 3)
    opened: list[str] = []
    shell.browse = lambda url: not opened.append(url)
    page = f"{API}/ui/"
    assert shell.run("open", "--search", "car").strip() == f"{page}?q=car"
    assert (opened, shell.err) == ([f"{page}?q=car"], "")
    assert shell.json("open", "--print") == {"url": page}
    assert len(opened) == 1
    shell.browse = lambda _: False
    assert shell.run("open").strip() == page
    assert (shell.code, "no browser was found" in shell.err) == (0, True)


def test_a_browser_opens_the_page_of_the_deployment(shell: Shell) -> None:
    page = "https://models.example.org/ui/"
    settings = httpx.Response(200, json={"region": "here", "api": f"{API}/", "pageUrl": page})
    shell.server.fail("GET", "^/api/amplify-config$", settings)
    shell.server.fail("GET", "^/ui/$", httpx.Response(404, json={"message": "Not Found"}))
    assert shell.json("open", "--print", "--search", "car") == {"url": f"{page}?q=car"}


def test_the_demo_finds_every_file_and_ends_with_one_line_of_json(
    shell: Shell, garage: Path
) -> None:
    shell.server.drained_after = 2
    (garage / "car" / "setup.exe").write_bytes(b"MZ")
    lines = shell.run("demo", str(garage)).splitlines()
    assert shell.code == 0
    figures = json.loads(lines[-1])
    assert " ".join(figures) == (
        "assets files bytes searchable seconds files_per_second facts thumbnails glbs refused "
        "unexplained"
    )
    assert (figures["assets"], figures["files"], figures["searchable"]) == (2, 3, 3)
    assert figures["bytes"] == len("car/body.glb" + "car/wheel.obj" + "bike/frame.stl")
    assert any(line.split()[:2] == ["car", "2"] for line in lines)
    shell.server.hidden_from_search = {"/wheel.obj"}
    figures = shell.json("demo", str(garage))
    assert shell.code == 1
    assert (figures["files"], figures["searchable"]) == (3, 2)
    shell.run("demo", str(garage))
    assert "not found: car/wheel.obj" in shell.err


@pytest.mark.parametrize(
    ("facts", "not_inspected", "counts", "reason"),
    [
        (
            {
                "/body.glb": {"fact_format": "glTF2", "fact_vertices": "8"},
                "/wheel.obj": {"fact_refused": "is truncated"},
                "/frame.stl": {"fact_format": "STL", "fact_vertices": "3"},
            },
            {},
            [2, 0, 1, 1, 0],
            "is truncated",
        ),
        (
            {"/body.glb": {"fact_format": "glTF2"}},  # no pipeline took the others
            {"/wheel.obj": "Such files are not inspected"},
            [1, 0, 0, 1, 1],
            "Such files are not inspected: 1",
        ),
    ],
)
def test_the_demo_counts_what_was_found_out_about_files(
    shell: Shell,
    garage: Path,
    facts: dict[str, dict[str, str]],
    not_inspected: dict[str, str],
    counts: list[int],
    reason: str,
) -> None:
    shell.server.facts, shell.server.not_inspected = facts, not_inspected
    shell.server.glbs = {"glb/body.glb/v1.glb"}
    figures = json.loads(shell.run("demo", str(garage)).splitlines()[-1])
    counted = ("facts", "thumbnails", "glbs", "refused", "unexplained")
    assert [figures[key] for key in counted] == counts
    assert reason in shell.err
