"""Sessions of browsers: no cookie that is stolen, forged or of someone else changes anything."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from tests.journeys.attacks.test_users import new_key, path_of, user_with_role
from tests.journeys.runtime import Api, Runtime, wait_until

PAGE = "x-vitrine-session"
WHO = "/auth/loginProfile/{}"
MOST = 20


class Browser(NamedTuple):
    """The credential of a browser that signed in, and what its page knows."""

    name: str
    text: str
    session_id: str
    user_id: str

    def headers(self, **more: str) -> dict[str, str]:
        return {"cookie": f"{self.name}={self.text}", PAGE: self.session_id, **more}


@contextmanager
def without_credentials(runtime: Runtime) -> Generator[httpx.Client]:
    with httpx.Client(base_url=runtime.endpoint["api"], timeout=60) as http:
        yield http


def sign_in(runtime: Runtime, key: str) -> Browser:
    name = f"__Host-vitrine-{urlsplit(runtime.endpoint['api']).port}"
    with without_credentials(runtime) as http:
        headers = {"authorization": key, "cookie": f"{name}-trial=1"}
        reply = http.post("/auth/session", headers=headers)
    assert reply.status_code == 200, reply.text
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly; Secure; SameSite=Strict" in cookie
    text = cookie.split(";")[0].removeprefix(f"{name}=")
    body = reply.json()
    assert text not in reply.text
    return Browser(name, text, body["sessionId"], body["userId"])


def status(runtime: Runtime, headers: dict[str, str], path: str) -> int:
    with without_credentials(runtime) as http:
        return http.get(path, headers=headers).status_code


def is_accepted(runtime: Runtime, browser: Browser) -> bool:
    path = WHO.format(browser.user_id)
    return status(runtime, browser.headers(), path) == 200


@pytest.fixture
def ann(runtime: Runtime, api: Api) -> Browser:
    return sign_in(runtime, new_key(api, user_with_role(api))["apiKey"])


@pytest.fixture
def bob(runtime: Runtime, api: Api) -> Browser:
    return sign_in(runtime, new_key(api, user_with_role(api))["apiKey"])


def test_a_session_is_its_users_only(runtime: Runtime, ann: Browser, bob: Browser) -> None:
    assert is_accepted(runtime, ann)
    assert status(runtime, ann.headers(), WHO.format(bob.user_id)) == 403


def test_forged_and_foreign_cookies_are_refused(
    runtime: Runtime, ann: Browser, bob: Browser
) -> None:
    path = WHO.format(ann.user_id)
    forged = {
        "another secret": ann._replace(text=f"vams_{ann.session_id}{'x' * 64}"),
        "the id of another session": ann._replace(
            text=ann.text.replace(ann.session_id, bob.session_id), session_id=bob.session_id
        ),
        "a deployment that does not know it": ann._replace(
            text=f"vams_{(other := str(uuid4()))}{'y' * 64}", session_id=other
        ),
        "cut off": ann._replace(text=ann.text[:-1]),
        "longer": ann._replace(text=ann.text + "x"),
        "empty": ann._replace(text=""),
        "the session of another tab": ann._replace(session_id=bob.session_id),
        "another port": ann._replace(name="__Host-vitrine-1"),
    }
    statuses = {name: status(runtime, browser.headers(), path) for name, browser in forged.items()}
    assert {name for name, code in statuses.items() if code not in {401, 403}} == set()
    assert is_accepted(runtime, ann)


def test_a_cookie_alone_or_beside_another_credential_is_refused(
    runtime: Runtime, api: Api, ann: Browser
) -> None:
    key = new_key(api, user_with_role(api))["apiKey"]
    path, cookie = WHO.format(ann.user_id), {"cookie": ann.headers()["cookie"]}
    requests = [
        cookie,
        ann.headers(authorization=key),
        {**cookie, "authorization": key},
        ann.headers(**{"sec-fetch-site": "cross-site"}),
        ann.headers(**{"sec-fetch-site": "same-site"}),
        ann.headers(origin="http://evil.example"),
        {**ann.headers(), "cookie": "; ".join([cookie["cookie"]] * 200)},
    ]
    assert {status(runtime, headers, path) for headers in requests} <= {401, 403}
    with without_credentials(runtime) as http:
        form = {"content-type": "application/x-www-form-urlencoded", **cookie}
        for method in ("POST", "DELETE"):
            reply = http.request(method, "/auth/session", headers=form, content=b"a=b")
            assert reply.status_code == 401
            assert "set-cookie" not in reply.headers
    assert is_accepted(runtime, ann)


def test_a_session_cannot_be_replayed_after_signing_out(runtime: Runtime, ann: Browser) -> None:
    with without_credentials(runtime) as http:
        again = http.post("/auth/session", headers=ann.headers())
        assert again.status_code == 401
        direct = http.post("/auth/session", headers={"authorization": ann.text})
        assert (direct.status_code, direct.json()["code"]) == (403, "SignInRefused")
        reply = http.delete("/auth/session", headers=ann.headers())
        assert reply.status_code == 200
        assert "Max-Age=0" in reply.headers["set-cookie"]
    wait_until(lambda: not is_accepted(runtime, ann))
    assert status(runtime, {"authorization": ann.text}, WHO.format(ann.user_id)) == 403


def test_a_session_ends_with_its_key_and_its_users_rights_are_those_of_now(
    runtime: Runtime, api: Api
) -> None:
    user = user_with_role(api)
    key = new_key(api, user)
    browser = sign_in(runtime, key["apiKey"])
    assert status(runtime, browser.headers(), "/auth/api-keys") == 403
    api.ok("DELETE", path_of(key))
    wait_until(lambda: not is_accepted(runtime, browser))


def test_many_sign_ins_end_the_oldest(runtime: Runtime, api: Api) -> None:
    key = new_key(api, user_with_role(api))["apiKey"]
    browsers = [sign_in(runtime, key) for _ in range(MOST + 2)]
    wait_until(lambda: not is_accepted(runtime, browsers[1]))
    assert not is_accepted(runtime, browsers[0])
    assert is_accepted(runtime, browsers[2])
    assert is_accepted(runtime, browsers[-1])
    listed = api.ok("GET", "/auth/api-keys")["Items"]
    assert all("kind" not in item for item in listed)
