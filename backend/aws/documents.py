"""Documents of identity providers behind the port `core.documents.Documents`, over HTTPS.

Where they are, settings and the provider's own document say: neither may lead this function into
the deployment's own network (see `core.fetching`).
"""

from backend.core.errors import UnavailableError
from backend.core.fetching import Fetcher, ForbiddenUrlError, Limits
from backend.core.wired import wired

MAX_BYTES = 256 * 1024
SECONDS = 3.0
"""For one document. Two are needed at the most, and the authorizer has ten seconds."""


@wired
class HttpDocuments:
    """Reads what is there at once: no redirects, no second attempts.

    `loopback` is for a provider that the settings place on this machine.
    """

    loopback: bool = False

    def read(self, url: str) -> bytes:
        fetcher = Fetcher(loopback=self.loopback, limits=Limits(SECONDS, MAX_BYTES))
        try:
            return fetcher.fetch(url)
        except ForbiddenUrlError as error:
            raise UnavailableError(f"{url} is not asked: {error.message}") from error
