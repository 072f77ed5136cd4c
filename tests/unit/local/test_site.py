"""The page that the runtime builds and serves, its links, and its cookie."""

import asyncio
import gzip
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

import web_page
from backend.spec.page import (
    PROOF_HEADER,
    SESSION_COOKIE,
    SESSION_HEADER,
    SESSION_PATH,
    VIEWER_HEADER,
)
from local.edge import Edge
from local.errors import LocalError
from local.links import SECONDS, Links, new_link
from local.site import Site, Surroundings
from local.state import StateFolder
from tests.factories.edge_cases import ANN, ANNS, BOBS, CASES, REFUSED
from web_page import Page, build_page, built_page

OWN = "http://127.0.0.1:8080"
COOKIE = f"{SESSION_COOKIE}-8080"
BEGUN = f"{SESSION_COOKIE}={ANNS}; Path=/; HttpOnly; Secure; SameSite=Strict"
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

        around = Surroundings(Edge(OWN, "edge"), (BUCKETS,), lambda: "vams_admin", configuration)
        self.received: list[Headers] = []
        self.site = Site(self.api, page or Page(dist), self.links, around)

    async def api(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An API that begins a session for every request to sign in, and says its name."""
        self.received.append(Headers(scope=scope))
        response: Response = PlainTextResponse("the API")
        if scope["path"] == SESSION_PATH:
            response = JSONResponse({"sessionId": ANN}, headers={"set-cookie": BEGUN})
        await response(scope, receive, send)

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | list[tuple[str, str]] | None = None,
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


def test_a_link_begins_one_session_of_the_administrator(site: SiteSetup) -> None:
    body = json.dumps({"secret": site.links.create()}).encode()
    sent = {"origin": OWN, "cookie": f"{COOKIE}-trial=1; {COOKIE}={BOBS}"}
    first = site.send("POST", "/ui/once", sent, body)
    second = site.send("POST", "/ui/once", sent, body)

    assert (first.status_code, first.json()) == (200, {"sessionId": ANN})
    assert first.headers["set-cookie"] == BEGUN.replace(SESSION_COOKIE, COOKIE)
    assert second.status_code == 403
    (received,) = site.received
    assert received["authorization"] == "vams_admin"
    assert received[PROOF_HEADER] == "edge"


@pytest.mark.parametrize("name", CASES)
def test_the_cookie_becomes_a_credential_for_requests_of_the_page_only(
    site: SiteSetup, name: str
) -> None:
    case = CASES[name]
    cookies = "; ".join(f"{COOKIE}={value}" for value in case.cookies)
    headers = {**case.headers, VIEWER_HEADER: "203.0.113.9", PROOF_HEADER: "forged"}
    headers |= {"cookie": f"a=1; {cookies}"} if cookies else {}
    reply = site.send(case.method, case.path, [*headers.items(), *case.again])
    if case.result == REFUSED:
        assert (reply.status_code, reply.json(), site.received) == (
            401,
            {"message": "Unauthorized"},
            [],
        )
        return
    (received,) = site.received
    assert received.get("authorization") == case.result
    assert received.get("cookie") == ("a=1" if cookies else None)
    assert (received.getlist(PROOF_HEADER), received.getlist(VIEWER_HEADER)) == (
        ["edge"],
        ["127.0.0.1"],
    )


def test_only_the_page_of_this_port_uses_its_cookie(site: SiteSetup) -> None:
    cookies: list[tuple[str, dict[str, str], str]] = [
        (f"__Host-vitrine-8081={ANNS}", {}, OWN),  # of another runtime
        (f"{SESSION_COOKIE}={ANNS}", {}, OWN),  # of a deployment
        (f"{COOKIE}={ANNS}", {"origin": "http://127.0.0.1:8081"}, OWN),
        (f"{COOKIE}={ANNS}", {}, "http://localhost:8080"),
    ]
    for cookie, headers, host in cookies:
        site.send("GET", "/database", {SESSION_HEADER: ANN, "cookie": cookie, **headers}, host=host)
    assert [headers.get("authorization") for headers in site.received] == [None] * len(cookies)


def test_a_browser_that_refuses_the_prefix_gets_a_plain_cookie(site: SiteSetup) -> None:
    assert site.send("GET", "/ui/upload").headers["set-cookie"] == (
        f"{COOKIE}-trial=1; Path=/; HttpOnly; Secure; SameSite=Strict"
    )
    sign_in = {"authorization": "vams_key"}
    plain = site.send("POST", SESSION_PATH, sign_in).headers["set-cookie"]
    assert plain == f"vitrine-8080={ANNS}; Path=/; HttpOnly; SameSite=Strict"
    site.send("GET", "/database", {SESSION_HEADER: ANN, "cookie": f"vitrine-8080={ANNS}"})
    assert site.received[-1]["authorization"] == f"Bearer {ANNS}"

    # Servers of other ports can set the plain one, too.
    both = f"vitrine-8080={BOBS}; {COOKIE}={ANNS}"
    site.send("GET", "/database", {SESSION_HEADER: ANN, "cookie": both})
    assert site.received[-1]["authorization"] == f"Bearer {ANNS}"


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


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (
            "npm warn x\nnpm error request to https://ann:s3cret@npm.test/a failed, reason: b\nc",
            "npm could not reach https://npm.test (b); it is built once, with packages from there",
        ),
        (
            "npm error code E404\n404 GET https://ann:s3cret@npm.test/a\nA complete log of x",
            "npm error code E404 404 GET https://npm.test/a",
        ),
    ],
)
def test_a_machine_without_the_network_serves_without_the_page_and_prints_why(
    output: str, reason: str, npm: Npm, sources: Path, tmp_path: Path
) -> None:
    npm.fails = output
    page = build_page(tmp_path / "tools", _say, sources)
    assert page == Page(None, f"The page is not built: {reason}")

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
