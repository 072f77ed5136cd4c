"""Checks whether an engine responds."""

from collections.abc import Callable, Collection

import httpx

# A starting engine accepts connections before it replies; the probe is repeated.
_TIMEOUT_SECONDS = 2.0


def responds(path: str, *, with_status: Collection[int] = (200,)) -> Callable[[str], bool]:
    """Return a probe, which reports whether GET `path` returns one of the statuses."""

    def probe(url: str) -> bool:
        try:
            # Proxies of the environment are for the internet, not for the loopback address.
            response = httpx.get(f"{url}{path}", timeout=_TIMEOUT_SECONDS, trust_env=False)
        except httpx.HTTPError:
            return False
        return response.status_code in with_status

    return probe
