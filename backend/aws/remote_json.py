"""Implements the port `core.remote_json.RemoteJson` over HTTPS.

The URLs come from settings and from the provider's discovery document. Neither may make this
function send requests into the deployment's own network (see `core.fetching`).
"""

from backend.core.errors import UnavailableError
from backend.core.fetcher import Fetcher, ForbiddenUrlError, Limits
from backend.core.wired import wired

MAX_BYTES = 256 * 1024
SECONDS = 3.0
"""Time limit for one document. The authorizer needs at most two, and has ten seconds."""


@wired
class HttpRemoteJson:
    """Fetches documents without redirects and retries.

    `loopback` allows a provider on this machine, if the settings name one.
    """

    loopback: bool = False

    def read(self, url: str) -> bytes:
        fetcher = Fetcher(loopback=self.loopback, limits=Limits(SECONDS, MAX_BYTES))
        try:
            return fetcher.fetch(url)
        except ForbiddenUrlError as error:
            raise UnavailableError(f"{url} is not requested: {error.message}") from error
