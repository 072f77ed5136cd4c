import asyncio
import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from local.links import Links
from local.site import Site, Surroundings
from local.state import StateFolder
from web_page import Page

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
    found = {path: site.send("GET", path).text for path in paths}
    assert [path for path, text in found.items() if "outside" in text or "root:" in text] == []


def test_a_missing_script_is_not_the_page(site: SiteSetup) -> None:
    paths = [
        *("/ui/assets/old-123.js", "/ui/nope.js", "/ui/favicon.png", "/ui/a/b.map", "/ui/.env"),
        *("/ui/upload/x.css", "/ui/nope.js?v=1", "/ui/robots.txt", "/ui/databases.json"),
    ]
    found = {path: site.send("GET", path) for path in paths}
    assert {path: one.status_code for path, one in found.items()} == dict.fromkeys(paths, 404)
    assert not [path for path, one in found.items() if "<title>" in one.text]
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
        each.strip().split(" ", 1) for each in headers["content-security-policy"].split(";")
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

    assert [each.status_code for each in foreign] == [403, 403, 403, 403, 405]
    assert site.links.use(secret)


def test_a_body_that_is_no_secret_is_refused(site: SiteSetup) -> None:
    bodies = [b"", b"{", b"[]", b'{"secret": 7}', b"{}", b'"x"', b"[" * 900, b" " * 5000]
    found = [site.send("POST", "/ui/once", {"origin": OWN}, body).status_code for body in bodies]

    assert found == [400] * len(bodies)
