"""For administrators: replay of failures, and queues with their dead letters."""

from collections.abc import Iterator, Sequence

from pydantic import Field, JsonValue

from vitrine.models import Wire
from vitrine.resources.registry import given
from vitrine.transport import Transport, path_of

KEYS_A_REQUEST = 50


class Failure(Wire):
    """A change that could not be indexed (`poison`), or was given up in an outage (`batch`)."""

    key: str
    kind: str
    size: int | None = None
    consumer: str | None = None
    name: str | None = None
    reason: str | None = None
    failed_at: str | None = None
    attempts: int = 0
    last_attempt_at: str | None = None
    next_attempt_at: str | None = None


class FailureDocument(Failure):
    """A failure with its stored message, which may be truncated."""

    document: str = ""
    is_truncated: bool = False


class Replayed(Wire):
    """The result of a replay: `replayed`, `failed`, `changed` or `absent`."""

    key: str
    outcome: str
    reason: str | None = None


class ReplayedPage(Wire):
    items: tuple[Replayed, ...] = ()
    next_key: str | None = None


class Redrive(Wire):
    state: str
    moved: int = 0
    started_at: str | None = None


class Queue(Wire):
    """A queue; the counts are approximate."""

    queue_name: str
    description: str | None = None
    waiting: int = 0
    in_flight: int = 0
    delayed: int = 0
    dead_letters: int = 0
    redrive: Redrive | None = None


class QueueList(Wire):
    items: tuple[Queue, ...] = Field(default=(), alias="Items")


class Redriven(Wire):
    queue_name: str
    dead_letters: int = 0
    started: bool = False
    message: str | None = None


class Failures:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

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
            page = self._replay({"keys": [*left[:KEYS_A_REQUEST]]})
            if not page.items:
                return
            yield from page.items
            done = {one.key for one in page.items}
            left = tuple(key for key in left if key not in done)

    def replay_all(self, *, consumer: str | None = None) -> Iterator[Replayed]:
        """Replay all failures, or all of a consumer, once, with as many requests as necessary."""
        after: str | None = None
        while True:
            everything = True if consumer is None else None
            page = self._replay(given(all=everything, consumer=consumer, after=after))
            yield from page.items
            if page.next_key is None or page.next_key == after:
                return
            after = page.next_key

    def _replay(self, body: dict[str, JsonValue]) -> ReplayedPage:
        path = path_of("admin", "failures", "replay")
        return self._transport.write(ReplayedPage, "POST", path, body=body)


class Queues:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Sequence[Queue]:
        return self._transport.read(QueueList, path_of("admin", "queues")).items

    def redrive(self, queue_name: str) -> Redriven:
        """Start to move dead letters back.

        Raises ConflictError while an earlier redrive is running.
        """
        path = path_of("admin", "queues", queue_name, "redrive")
        return self._transport.write(Redriven, "POST", path, body={})
