"""The page that the runtime builds and serves, its links, and requests of foreign pages."""

import asyncio
import gzip
import json
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

import web_page
from local.errors import LocalError
from local.foreign import Guard, refusal
from local.links import SECONDS, Links, new_link
from local.servers import HttpServer, bind_any
from local.site import Site, Surroundings
from local.state import StateFolder
from web_page import Page, build_page, built_page

OWN = "http://127.0.0.1:8080"
BUCKETS = "http://127.0.0.1:9000"
CONFIG: dict[str, object] = {
    "externalOAuthIdpURL": "https://login.example.org/realm",
    "externalOAuthIdpTokenEndpoint": "https://tokens.example.org/token",
    "externalOAuthIdpAuthorizationEndpoint": "https://evil.example.org; script-src *",
    "externalOAuthIdpDiscoveryEndpoint": None,
}


class SiteSetup:
    """A site with a page of three files, and an API that says its name."""

    def __init__(self, folder: Path, page: Page | None = None, config: bytes | None = None) -> None:
        dist = folder / "dist"
        (dist / "assets").mkdir(parents=True)
        (dist / "index.html").write_text("<title>page</title>")
        (dist / "assets" / "main-abc.js").write_text("let x = 1; " * 100)
        (folder / "secret.txt").write_text("outside")
        self.links = Links(StateFolder(folder))
        sent = json.dumps(CONFIG).encode() if config is None else config

        async def configuration() -> bytes:
            return sent

        around = Surroundings(OWN, (BUCKETS,), lambda: "vams_admin", configuration)
        self.site = Site(PlainTextResponse("the API"), page or Page(dist), self.links, around)

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        host: str = OWN,
    ) -> httpx.Response:
        async def sent() -> httpx.Response:
            transport = httpx.ASGITransport(self.site)
            async with httpx.AsyncClient(transport=transport, base_url=host) as client:
                return await client.request(method, path, headers=headers, content=content)

        return asyncio.run(sent())


@pytest.fixture
def site(tmp_path: Path) -> SiteSetup:
    return SiteSetup(tmp_path)


def test_the_page_is_served_below_ui_and_everything_else_is_the_api(site: SiteSetup) -> None:
    pages = ["/ui/", "/ui/databases/a/assets/b", "/ui/upload?asset=x", "/ui/index.html"]
    texts = {path: site.send("GET", path).text for path in pages}
    assert set(texts.values()) == {"<title>page</title>"}

    others = ["/database", "/uix", "/api/ui/", "/UI/", "/"]
    assert {site.send("GET", path).text for path in others} == {"the API"}
    assert site.send("POST", "/").text == "the API"


def test_no_path_leads_out_of_the_page(site: SiteSetup) -> None:
    paths = [
        "/ui/../secret.txt",
        "/ui/%2e%2e/secret.txt",
        "/ui/assets/%2e%2e/%2e%2e/secret.txt",
        "/ui/..%2fsecret.txt",
        "/ui//etc/passwd",
        "/ui/%00",
    ]
    result = {path: site.send("GET", path).text for path in paths}
    assert [path for path, text in result.items() if "outside" in text or "root:" in text] == []


def test_a_missing_script_is_not_the_page(site: SiteSetup) -> None:
    paths = [
        *("/ui/assets/old-123.js", "/ui/nope.js", "/ui/favicon.png", "/ui/a/b.map", "/ui/.env"),
        *("/ui/upload/x.css", "/ui/nope.js?v=1", "/ui/robots.txt", "/ui/databases.json"),
    ]
    result = {path: site.send("GET", path) for path in paths}
    assert {path: item.status_code for path, item in result.items()} == dict.fromkeys(paths, 404)
    assert not [path for path, item in result.items() if "<title>" in item.text]
    asset = site.send("GET", "/ui/databases/museum/assets/robot.v2.js")
    assert (asset.status_code, asset.text) == (200, "<title>page</title>")


def test_scripts_are_compressed_and_kept_and_the_document_is_not(site: SiteSetup) -> None:
    script = site.send("GET", "/ui/assets/main-abc.js", {"accept-encoding": "gzip"})
    document = site.send("GET", "/ui/", {"accept-encoding": "identity"})

    assert script.headers["content-encoding"] == "gzip"
    assert int(script.headers["content-length"]) == len(gzip.compress(script.content, 9, mtime=0))
    assert script.headers["content-type"].startswith("text/javascript")
    assert "immutable" in script.headers["cache-control"]
    assert document.headers["cache-control"] == "no-cache"
    assert "content-encoding" not in document.headers


def test_the_policy_names_buckets_and_provider_and_nothing_that_changes_it(
    site: SiteSetup,
) -> None:
    headers = site.send("GET", "/ui/").headers
    rules = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'self' 'wasm-unsafe-eval'"
    assert BUCKETS in rules["img-src"]
    assert rules["connect-src"] == (
        f"'self' blob: data: {BUCKETS} https://login.example.org https://tokens.example.org"
    )
    assert "evil" not in headers["content-security-policy"]
    assert rules["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_another_name_of_this_machine_is_sent_to_the_pages_own(site: SiteSetup) -> None:
    response = site.send("GET", "/ui/upload?asset=x", host="http://localhost:8080")

    assert response.status_code == 307
    assert response.headers["location"] == f"{OWN}/ui/upload?asset=x"


def test_without_a_page_the_api_serves_and_the_address_explains_why(tmp_path: Path) -> None:
    site = SiteSetup(tmp_path, Page(None, "The page is not built: Node was not found"))
    response = site.send("GET", "/ui/")

    assert response.status_code == 503
    assert "Node was not found" in response.text
    assert site.send("GET", "/database").text == "the API"


def test_a_link_is_exchanged_once_for_the_key(site: SiteSetup) -> None:
    body = json.dumps({"secret": site.links.create()}).encode()
    first = site.send("POST", "/ui/once", {"origin": OWN}, body)
    second = site.send("POST", "/ui/once", {"origin": OWN}, body)

    assert (first.status_code, first.json()) == (200, {"key": "vams_admin"})
    assert first.headers["cache-control"] == "no-store"
    assert (second.status_code, "key" in second.json()) == (403, False)


def test_a_foreign_page_uses_no_link(site: SiteSetup) -> None:
    secret = site.links.create()
    body = json.dumps({"secret": secret}).encode()
    foreign = [
        site.send("POST", "/ui/once", {"origin": "http://evil.example.org"}, body),
        site.send("POST", "/ui/once", {"origin": "null"}, body),
        site.send("POST", "/ui/once", {}, body),
        site.send("POST", "/ui/once", {"origin": OWN}, body, host="http://evil.example.org:8080"),
        site.send("GET", "/ui/once", {"origin": OWN}),
    ]

    assert [item.status_code for item in foreign] == [403, 403, 403, 403, 405]
    assert site.links.use(secret)


def test_a_body_that_is_no_secret_is_refused(site: SiteSetup) -> None:
    bodies = [b"", b"{", b"[]", b'{"secret": 7}', b"{}", b'"x"', b"[" * 900, b" " * 5000]
    codes = [site.send("POST", "/ui/once", {"origin": OWN}, body).status_code for body in bodies]

    assert codes == [400] * len(bodies)


class Npm:
    """Stands in for npm: builds a page of one file, or fails."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.fails = ""

    def run(self, command: list[str], *, cwd: Path, **_: object) -> object:
        self.calls.append(command)
        if self.fails:
            return subprocess.CompletedProcess(command, 1, "", self.fails)
        (cwd / "dist").mkdir(exist_ok=True)
        (cwd / "dist" / "index.html").write_text((cwd / "src.ts").read_text())
        return subprocess.CompletedProcess(command, 0, "", "")


@pytest.fixture
def npm(monkeypatch: pytest.MonkeyPatch) -> Npm:
    fake = Npm()
    monkeypatch.setattr(web_page.subprocess, "run", fake.run)
    monkeypatch.setattr(web_page, "_npm", lambda: ["/nowhere/npm"])
    return fake


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    (folder / "src.ts").write_text("one")
    return folder


def _say(_text: str) -> None:
    pass


def test_the_page_is_built_once_for_its_sources(npm: Npm, sources: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    first, again = (build_page(tools, _say, sources) for _ in range(2))
    assert first == again == built_page(tools, sources)
    assert len(npm.calls) == 2  # install and build, the first time only

    (sources / "src.ts").write_text("two")
    assert built_page(tools, sources).folder is None
    changed = build_page(tools, _say, sources)
    assert changed.folder is not None
    assert (changed.folder / "index.html").read_text() == "two"
    assert first.folder is not None
    assert not first.folder.exists()


def test_what_is_not_part_of_the_page_does_not_build_it_again(
    npm: Npm, sources: Path, tmp_path: Path
) -> None:
    built = build_page(tmp_path / "tools", _say, sources)
    for name in ("node_modules", "dist", "e2e", "checks", "testing"):
        (sources / name).mkdir()
        (sources / name / "x.js").write_text("x")
    for name in ("src.test.ts", "src.component.test.tsx"):
        (sources / name).write_text("x")

    assert build_page(tmp_path / "tools", _say, sources) == built
    assert len(npm.calls) == 2


def test_a_machine_without_the_network_serves_without_the_page_and_prints_why(
    npm: Npm, sources: Path, tmp_path: Path
) -> None:
    npm.fails = "npm error code ENOTFOUND\nnpm error network request failed\nA complete log of x"
    page = build_page(tmp_path / "tools", _say, sources)
    assert page.folder is None
    assert "ENOTFOUND" in page.missing
    assert "complete log" not in page.missing

    npm.fails = ""
    assert build_page(tmp_path / "tools", _say, sources).folder is not None


class Clock:
    def __init__(self, file_of: StateFolder) -> None:
        self._folder = file_of.root / "links"
        self.later = 0.0

    def __call__(self) -> float:
        newest = max((path.stat().st_mtime for path in self._folder.iterdir()), default=0.0)
        return newest + self.later


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path)


def test_a_link_works_once(state: StateFolder) -> None:
    links = Links(state)
    first, second = links.create(), links.create()

    assert links.use(first)
    assert not links.use(first)
    assert links.use(second)


def test_a_link_ends_after_ten_minutes_and_is_removed(state: StateFolder) -> None:
    clock = Clock(state)
    links = Links(state, clock)
    old = links.create()
    clock.later = SECONDS - 1
    assert links.use(old)

    old = links.create()
    clock.later = SECONDS
    assert not links.use(old)
    assert list((state.root / "links").iterdir()) == []


def test_no_other_text_is_a_link(state: StateFolder) -> None:
    links = Links(state)
    secret = links.create()
    name = next((state.root / "links").iterdir()).name
    wrong = ["", name, f"../links/{name}", secret + "x", "x" * 10_000, "\0", "\ud800"]

    assert [item for item in wrong if links.use(item)] == []
    assert links.use(secret)


def test_the_folder_of_links_holds_no_secret_and_is_the_owners(state: StateFolder) -> None:
    secret = Links(state).create()
    folder = state.root / "links"

    assert folder.stat().st_mode & 0o077 == 0
    assert all(secret not in path.name and not path.read_bytes() for path in folder.iterdir())


def test_there_is_no_link_without_a_runtime(state: StateFolder) -> None:
    with pytest.raises(LocalError, match="no runtime is running"):
        new_link(state, "")
    assert new_link(state, "http://127.0.0.1:8080").startswith("http://127.0.0.1:8080/ui/#once=")


HOST = "127.0.0.1:8080"

OWN_HOSTS = (
    *("127.0.0.1", "127.0.0.1:8080", "127.0.0.1.", "127.8.9.10:1", "[::1]", "[::1]:8080"),
    *("localhost", "localhost:8080", "LocalHost:8080", "localhost.", "localhost.:8080"),
)
FOREIGN_HOSTS = (
    *("", " ", "evil.example", "evil.example:8080", "localhost.evil.example", "evil.localhost"),
    *("127.0.0.1.evil.example", "evil.example.:8080", "127.0.0.1@evil.example", "user@127.0.0.1"),
    *("user:pass@localhost:8080", "127.0.0.1:8080@evil.example", "127.0.0.1:", "127.0.0.1:80a"),
    *("0.0.0.0", "10.0.0.1", "192.168.1.2:8080", "169.254.169.254", "[::]", "[fe80::1]", "::1"),
    *("127.0.0.256", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "128.0.0.1"),
    *(
        "127.0.0.1, evil.example",
        "127.0.0.1\tevil.example",
        "127.0.0.1/",
        "localhost#",
        "127.0.0.1\n",
    ),
    *("localhost..", "١٢٧.0.0.1", "ⓛocalhost", "localhost%00", "http://127.0.0.1"),
)
FOREIGN_ORIGINS = (
    *("null", "", "http://evil.example", "https://127.0.0.1:8080", "http://127.0.0.1:3000"),
    *("http://127.0.0.1", "http://localhost:3000", "http://127.0.0.1:8080.evil.example"),
    *("http://127.0.0.1:8080@evil.example", "http://127.0.0.1:8080/", "file://", "ws://" + HOST),
    *("http://[::1]:8080", "http://127.0.0.1:8080, http://evil.example", "chrome-extension://abc"),
)


def _refused(
    host: str = HOST, origins: Collection[str] = (), own: Collection[str] = (), **more: str
) -> bool:
    headers = [("host", host), *(("origin", origin) for origin in origins)]
    headers += [(name.replace("_", "-"), value) for name, value in more.items() if name != "target"]
    return refusal("GET", more.get("target", "/"), headers, Guard(lambda: own)) is not None


def test_only_names_of_this_machine_are_hosts() -> None:
    assert [host for host in OWN_HOSTS if _refused(host)] == []
    assert [host for host in FOREIGN_HOSTS if not _refused(host)] == []


def test_a_request_without_one_host_is_refused() -> None:
    assert refusal("GET", "/", [], Guard()) is not None
    assert refusal("GET", "/", [("Host", HOST), ("host", "evil.example")], Guard()) is not None
    assert refusal("GET", "/", [("host", HOST), ("host", HOST)], Guard()) is not None


def test_only_the_ports_own_origin_is_allowed() -> None:
    assert [origin for origin in FOREIGN_ORIGINS if not _refused(origins=[origin])] == []
    assert not _refused(origins=["http://" + HOST])
    assert not _refused("LOCALHOST:8080", origins=["http://localhost:8080"])
    assert not _refused("[::1]:8080", origins=["http://[::1]:8080"])
    assert _refused("evil.example", origins=["http://evil.example"])  # a rebound name
    assert _refused(origins=["http://" + HOST, "http://evil.example"])


def test_an_origin_of_the_web_application_is_own() -> None:
    web = "https://web.example"

    assert not _refused(origins=[web], own=[web], sec_fetch_site="cross-site")
    assert _refused(origins=[web + ".evil.example"], own=[web])
    assert _refused(origins=["null"], own=[web])
    assert _refused("evil.example", origins=[web], own=[web])


def test_a_page_that_sends_no_origin_is_recognised_by_its_site() -> None:
    sites = ("cross-site", "same-site", "Cross-Site", "", "other")

    assert [site for site in sites if not _refused(sec_fetch_site=site)] == []
    assert [site for site in ("none", "same-origin") if _refused(sec_fetch_site=site)] == []


def test_a_port_with_credentials_of_its_own_can_be_linked() -> None:
    headers = [("host", HOST), ("sec-fetch-site", "cross-site")]

    assert refusal("GET", "/", headers, Guard(linked=True)) is None
    assert refusal("GET", "/", [*headers, ("origin", "null")], Guard(linked=True)) is not None


def test_pages_of_every_origin_may_send_what_a_port_is_open_to() -> None:
    guard = Guard(open_to=lambda method, target: (method, target) == ("GET", "/signed"))
    foreign = ("origin", "null")

    assert refusal("GET", "/signed", [("host", HOST), foreign], guard) is None
    assert refusal("PUT", "/signed", [("host", HOST), foreign], guard) is not None
    assert refusal("GET", "/signed", [("host", "evil.example"), foreign], guard) is not None


def test_the_host_of_an_absolute_target_counts_too() -> None:
    own = (
        "/",
        "//evil.example/",
        "*",
        "http://127.0.0.1:8080/health",
        "http://localhost",
        "/a?http://b",
    )
    foreign = (
        *("http://evil.example/", "http://evil.example:8080/health", "https://127.0.0.1/", "evil"),
        *("http://127.0.0.1@evil.example/", "http://evil.example@127.0.0.1/", "ftp://localhost/"),
        *("evil.example:8080", "http://", "HTTP://EVIL.example/", "http:/evil.example"),
    )

    assert [target for target in own if _refused(target=target)] == []
    assert [target for target in foreign if not _refused(target=target)] == []


@pytest.mark.parametrize("upgrade", [{}, {"Connection": "Upgrade", "Upgrade": "websocket"}])
def test_every_server_of_the_runner_refuses_them(upgrade: dict[str, str]) -> None:
    async def statuses() -> list[int]:
        server = HttpServer(bind_any())
        await server.start(PlainTextResponse("served"), Guard(lambda: ["https://web.example"]))
        foreign = (
            *({"Host": "evil.example"}, {"Origin": "null"}, {"Origin": "http://evil.example"}),
            {"Sec-Fetch-Site": "cross-site"},
        )
        async with httpx.AsyncClient() as http:
            answers = [
                await http.post(server.url, headers={**upgrade, **item})
                for item in ({}, {"Origin": "https://web.example"}, *foreign)
            ]
        await server.stop()
        assert not any("access-control-allow-origin" in answer.headers for answer in answers)
        return [answer.status_code for answer in answers]

    assert asyncio.run(statuses()) == [200, 200, 403, 403, 403, 403]
