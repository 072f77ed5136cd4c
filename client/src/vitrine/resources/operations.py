"""For administrators: replay of failures, and queues with their dead letters."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from vitrine import api_models as api
from vitrine.api_models import Failure as Failure
from vitrine.api_models import FailureDocument as FailureDocument
from vitrine.api_models import Queue as Queue
from vitrine.api_models import Redrive as Redrive
from vitrine.api_models import Redriven as Redriven
from vitrine.api_models import Replayed as Replayed
from vitrine.api_models import ReplayedPage as ReplayedPage
from vitrine.models import Wire
from vitrine.resources.resource import Resource
from vitrine.transport import path_of

# The API's limit; a request replays for some seconds and returns what is left.
KEYS_A_REQUEST = 50


class QueueList(Wire):
    items: tuple[Queue, ...] = Field(default=(), alias="Items")


class Failures(Resource):
    def list(
        self, *, consumer: str | None = None, page_size: int | None = None
    ) -> Iterator[Failure]:
        """List all failures, or those of one consumer."""
        return self._transport.pages(
            Failure,
            path_of("admin", "failures"),
            query={"consumer": consumer},
            page_size=page_size,
        )

    def get(self, key: str) -> FailureDocument:
        """Return one failure with its message. Raises NotFoundError if it does not exist."""
        path = path_of("admin", "failures", "entry")
        return self._transport.read(FailureDocument, path, query={"key": key})

    def replay(self, keys: Sequence[str]) -> Iterator[Replayed]:
        """Replay failures by their keys, with as many requests as necessary."""
        left: tuple[str, ...] = tuple(dict.fromkeys(keys))
        while left:
            page = self._replay(api.ReplayBody(keys=left[:KEYS_A_REQUEST]))
            if not page.items:
                return
            yield from page.items
            done = {outcome.key for outcome in page.items}
            left = tuple(key for key in left if key not in done)

    def replay_all(self, *, consumer: str | None = None) -> Iterator[Replayed]:
        """Replay all failures, or all of a consumer, once, with as many requests as necessary."""
        after: str | None = None
        while True:
            everything = True if consumer is None else None
            page = self._replay(api.ReplayBody(all=everything, consumer=consumer, after=after))
            yield from page.items
            if page.next_key is None or page.next_key == after:
                return
            after = page.next_key

    def _replay(self, body: api.ReplayBody) -> ReplayedPage:
        path = path_of("admin", "failures", "replay")
        return self._transport.write(ReplayedPage, "POST", path, body=body)


class Queues(Resource):
    def list(self) -> Sequence[Queue]:
        return self._transport.read(QueueList, path_of("admin", "queues")).items

    def redrive(self, queue_name: str) -> Redriven:
        """Start to move dead letters back.

        Raises ConflictError while an earlier redrive is running.
        """
        path = path_of("admin", "queues", queue_name, "redrive")
        return self._transport.write(Redriven, "POST", path, body={})
