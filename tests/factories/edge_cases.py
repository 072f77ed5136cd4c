"""Requests with the page's cookie, and what of them reaches the API, at both edges."""

from typing import NamedTuple
from uuid import UUID

from backend.spec.page import SESSION_HEADER

ANN, BOB = str(UUID(int=1)), str(UUID(int=2))
ANNS, BOBS = f"vams_{ANN}{'a' * 64}", f"vams_{BOB}{'b' * 64}"
KEY = "vams_" + "k" * 64
AS_ANN = f"Bearer {ANNS}"
REFUSED = "401"


class EdgeCase(NamedTuple):
    """A request with cookies of sessions; `result` is its `Authorization` at the API."""

    result: str | None
    cookies: tuple[str, ...]
    headers: dict[str, str]
    method: str = "GET"
    path: str = "/database"
    again: tuple[tuple[str, str], ...] = ()
    """Headers that are sent after those of the same names."""


PAGE = {SESSION_HEADER: ANN}
CASES = {
    "the page": EdgeCase(AS_ANN, (ANNS,), PAGE),
    "the page in a browser that names the site": EdgeCase(
        AS_ANN, (ANNS,), {**PAGE, "sec-fetch-site": "same-origin"}
    ),
    "a write of the page": EdgeCase(AS_ANN, (ANNS,), PAGE, "DELETE", "/auth/session"),
    "below the prefix": EdgeCase(AS_ANN, (ANNS,), PAGE, "GET", "/api/database"),
    "an API key": EdgeCase(KEY, (), {"authorization": KEY}),
    "no cookie": EdgeCase(None, (), PAGE),
    "no header of the page": EdgeCase(None, (ANNS,), {}),
    "a form of a foreign site": EdgeCase(None, (ANNS,), {}, "POST", "/auth/session"),
    "a foreign site": EdgeCase(None, (ANNS,), {**PAGE, "sec-fetch-site": "cross-site"}),
    "another port": EdgeCase(None, (ANNS,), {**PAGE, "sec-fetch-site": "same-site"}),
    "two sites": EdgeCase(
        None,
        (ANNS,),
        {**PAGE, "sec-fetch-site": "same-origin"},
        again=(("sec-fetch-site", "cross-site"),),
    ),
    "the own site twice": EdgeCase(
        AS_ANN,
        (ANNS,),
        {**PAGE, "sec-fetch-site": "same-origin"},
        again=(("sec-fetch-site", "same-origin"),),
    ),
    "two headers of the page": EdgeCase(REFUSED, (ANNS,), PAGE, again=((SESSION_HEADER, ANN),)),
    "an address that was typed": EdgeCase(None, (ANNS,), {**PAGE, "sec-fetch-site": "none"}),
    "a user who signed in in another tab": EdgeCase(REFUSED, (BOBS,), PAGE),
    "an empty header": EdgeCase(REFUSED, (ANNS,), {SESSION_HEADER: ""}),
    "an empty cookie": EdgeCase(REFUSED, ("",), PAGE),
    "a cookie that is a key": EdgeCase(REFUSED, (KEY,), PAGE),
    "two cookies": EdgeCase(REFUSED, (ANNS, BOBS), PAGE),
    "200 cookies": EdgeCase(REFUSED, (ANNS,) * 200, PAGE),
    "cookie and header of different users": EdgeCase(
        REFUSED, (ANNS,), {**PAGE, "authorization": KEY}
    ),
    "cookie and header without that of the page": EdgeCase(
        REFUSED, (ANNS,), {"authorization": KEY}
    ),
    "cookie and an empty header": EdgeCase(REFUSED, (ANNS,), {**PAGE, "authorization": ""}),
    "a sign-in replaces an earlier one": EdgeCase(
        KEY, (ANNS,), {"authorization": KEY}, "POST", "/auth/session"
    ),
    "a sign-in below the prefix": EdgeCase(
        KEY, (ANNS,), {"authorization": KEY}, "POST", "/api/auth/session"
    ),
    "a session does not renew itself": EdgeCase(None, (ANNS,), PAGE, "POST", "/auth/session"),
}
