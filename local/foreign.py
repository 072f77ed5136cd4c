"""Refuses requests that a web page of another origin causes, or that use another host name.

A browser sends requests of any page to any port of this machine, and a page can let its own host
name resolve to this machine's address (DNS rebinding). `Loopback.java` has the same rules for
engines on a JVM.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_AUTHORITY = rf"(?:localhost\.?|127(?:\.{_OCTET}){{3}}\.?|\[::1\])(?::[0-9]{{1,5}})?"
_HOST = re.compile(_AUTHORITY, re.IGNORECASE)
_TARGET = re.compile(rf"/.*|\*|http://{_AUTHORITY}(?:[/?].*)?", re.IGNORECASE | re.DOTALL)
_OWN_SITES = frozenset({"none", "same-origin"})


def _none(_method: str, _target: str) -> bool:
    return False


@dataclass(frozen=True)
class Guard:
    """The requests that a port allows: those of its own origin, and of `own`, which may change.

    `open_to`: requests, by method and target, that pages of every origin may send. `linked`: pages
    of other sites may link to the port or embed it, because each request needs credentials that a
    page cannot add. Otherwise a request that names another site is refused.
    """

    own: Callable[[], Collection[str]] = tuple
    open_to: Callable[[str, str], bool] = _none
    linked: bool = False


def refusal(
    method: str, target: str, headers: Iterable[tuple[str, str]], guard: Guard
) -> str | None:
    """Return why a request is refused; None if it is allowed."""
    values: dict[str, list[str]] = {"host": [], "origin": [], "sec-fetch-site": []}
    for name, value in headers:
        values.get(name.lower(), []).append(value)
    hosts, origins, sites = values.values()
    if len(hosts) != 1 or _HOST.fullmatch(hosts[0]) is None:
        return "Host: not an address of this machine"
    if _TARGET.fullmatch(target) is None:
        return "request target: not an address of this machine"
    if guard.open_to(method, target):
        return None
    if origins:
        own = {"http://" + hosts[0].lower(), *guard.own()}
        return None if len(origins) == 1 and origins[0] in own else "Origin: not allowed here"
    # Browsers send no Origin with images, scripts and links, but the header Sec-Fetch-Site.
    if not guard.linked and not _OWN_SITES.issuperset(sites):
        return "Sec-Fetch-Site: pages of other sites are not allowed here"
    return None
