"""Queues for administrators: list their depths, redrive dead letters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.core.authorization import Authorization, Secured, require
from backend.core.dead_letters import DeadLetters, QueueDepth, Redrive
from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.parallel import in_parallel
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditNotes
from backend.spec.queues import QUEUES, Queue
from backend.spec.routes import REDRIVE_QUEUE
from backend.values import frozen


class QueueNotFoundError(NotFoundError):
    code = "QueueNotFound"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"There is no queue {name}; the queues are {', '.join(sorted(known))}")


@frozen
class QueueState:
    queue: Queue
    depth: QueueDepth
    redrive: Redrive | None


@dataclass(eq=False, repr=False)
class QueueService:
    dead_letters: DeadLetters
    authorization: Authorization
    notes: AuditNotes
    queues: Sequence[Queue] = QUEUES

    def list_queues(self, caller: Identity) -> list[QueueState]:
        """List the queues of the deployment."""
        require(self.authorization, caller, "GET", Secured("queue"))
        return in_parallel(self._state, self.queues)

    def redrive_queue(self, caller: Identity, name: str) -> QueueDepth:
        """Start to move the dead letters of a queue back; return the state before.

        Nothing is moved if there are none.

        Raises:
            QueueNotFoundError: no queue has this name.
            RedriveRunningError: an earlier redrive is still running.
        """
        require(self.authorization, caller, "POST", Secured("queue"))
        by_name = {queue.name: queue for queue in self.queues}
        queue = by_name.get(name)
        if queue is None:
            raise QueueNotFoundError(name, by_name)
        depth = self.dead_letters.depth(queue)
        if depth.dead_letters:
            request = {"deadLetters": depth.dead_letters}
            self.notes.record(
                caller, REDRIVE_QUEUE.name, audit_entity("queue", name), request=request
            )
            self.dead_letters.redrive(queue)
        return depth

    def _state(self, queue: Queue) -> QueueState:
        return QueueState(
            queue, self.dead_letters.depth(queue), self.dead_letters.last_redrive(queue)
        )
