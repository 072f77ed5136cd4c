"""The routes of queues."""

from backend.core.clock import iso
from backend.http.call import Call
from backend.http.router import Router
from backend.operations.models import (
    QueuePath,
    QueueReply,
    QueuesReply,
    RedriveReply,
    RedriveState,
)
from backend.operations.queues import QueueService, QueueState
from backend.spec import routes


def build_router(service: QueueService) -> Router:
    """Bind the routes to the service."""
    router = Router()

    @router.bind(routes.LIST_QUEUES)
    def list_queues(call: Call) -> QueuesReply:
        return QueuesReply(items=[_queue(state) for state in service.list_queues(call.caller)])

    @router.bind(routes.REDRIVE_QUEUE)
    def redrive_queue(call: Call, path: QueuePath) -> RedriveReply:
        before = service.redrive_queue(call.caller, path.queue_name).dead_letters
        message = (
            f"Moving {before} dead letters back to the queue"
            if before
            else ("The queue has no dead letters")
        )
        return RedriveReply(
            queue_name=path.queue_name, dead_letters=before, started=before > 0, message=message
        )

    return router


def _queue(state: QueueState) -> QueueReply:
    depth, last = state.depth, state.redrive
    redrive = None
    if last is not None:
        redrive = RedriveState(state=last.state, moved=last.moved, started_at=iso(last.started_at))
    return QueueReply(
        queue_name=state.queue.name,
        description=state.queue.description,
        waiting=depth.waiting,
        in_flight=depth.in_flight,
        delayed=depth.delayed,
        dead_letters=depth.dead_letters,
        redrive=redrive,
    )
