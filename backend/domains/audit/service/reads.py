"""Sends reads to a queue, from the functions that serve them."""

from backend.core.clock import Clock, iso
from backend.core.identity import Identity
from backend.core.queues import Queues
from backend.core.reads import Read, ReadAsset
from backend.domains.audit.rules import reads
from backend.spec.queues import READS

# Reads of one hour that a process remembers: a viewer reads a file in thousands of ranges, which
# are one entry. Older ones are reported again (decision 15).
REMEMBERED = 10_000


class QueuedReads:
    """Sends the reads of one process; an hourly read is sent once in its hour."""

    def __init__(self, queues: Queues, clock: Clock) -> None:
        self._queues = queues
        self._clock = clock
        self._hour = ""
        self._sent: set[tuple[str, str, ReadAsset]] = set()

    def record(self, caller: Identity, operation: str, request_id: str, read: Read) -> None:
        """Send the read (see the port)."""
        at = self._clock()
        hour = iso(reads.hour_of(at))
        if hour != self._hour or len(self._sent) >= REMEMBERED:
            self._hour, self._sent = hour, set()
        by = caller.user_id, operation
        if read.hourly:
            new = tuple(asset for asset in read.assets if (*by, asset) not in self._sent)
            if not new:
                return
            read = read._replace(assets=new)
        messages = reads.read_messages(caller.user_id, operation, request_id, read, at)
        self._queues.send(
            READS, [message.model_dump(mode="json", by_alias=True) for message in messages]
        )
        if read.hourly:
            self._sent |= {(*by, asset) for asset in read.assets}
