"""Documents of identity providers behind the port `core.documents.Documents`, over HTTPS.

Not for addresses that users name.
"""

from collections.abc import Callable
from time import monotonic
from typing import cast

import urllib3
from urllib3.exceptions import HTTPError

from backend.core.errors import UnavailableError
from backend.core.wired import wired

MAX_BYTES = 256 * 1024
SECONDS = 3.0
"""For one document. Two are needed at the most, and the authorizer has ten seconds."""

_CHUNK = 16 * 1024


@wired
class HttpDocuments:
    """Reads what is there at once: no redirects, no second attempts."""

    clock: Callable[[], float] = monotonic

    def read(self, url: str) -> bytes:
        deadline = self.clock() + SECONDS
        timeout = urllib3.Timeout(total=SECONDS)
        try:
            with urllib3.PoolManager(retries=False, timeout=timeout) as pool:
                reply = pool.request("GET", url, redirect=False, preload_content=False)
                try:
                    if reply.status != 200:
                        raise UnavailableError(f"{url} answers with status {reply.status}")
                    return self._content(cast("urllib3.HTTPResponse", reply), url, deadline)
                finally:
                    reply.close()
        except HTTPError as error:
            raise UnavailableError(f"{url} does not answer: {type(error).__name__}") from error

    def _content(self, reply: urllib3.HTTPResponse, url: str, deadline: float) -> bytes:
        content = bytearray()
        # What has arrived, and not so much at a time: a slow one would hold us far longer.
        while chunk := reply.read1(_CHUNK, decode_content=False):
            content += chunk
            if len(content) > MAX_BYTES:
                raise UnavailableError(f"{url} has more than {MAX_BYTES} bytes")
            if self.clock() > deadline:
                raise UnavailableError(f"{url} takes longer than {SECONDS} s")
        return bytes(content)
