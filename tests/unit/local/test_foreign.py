"""Requests of foreign pages and hosts, which every port of the runtime refuses."""

import asyncio
from collections.abc import Collection

import httpx
import pytest
from starlette.responses import PlainTextResponse

from local.foreign import Guard, refusal
from local.servers import HttpServer, bind_any

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
