"""The routes of operations."""

from backend.core.clock import iso
from backend.domains.jobs.models import Job
from backend.http.call import Call
from backend.http.router import Router
from backend.operations.failures import FailureService
from backend.operations.models import (
    MAX_DOCUMENT_CHARS,
    FailureDocumentReply,
    FailureQuery,
    FailureReply,
    FailuresQuery,
    FailuresReply,
    QueuePath,
    QueueReply,
    QueuesReply,
    RedriveReply,
    RedriveState,
    ReplayBody,
    ReplayedReply,
    ReplayReply,
)
from backend.operations.queues import QueueService, QueueState
from backend.operations.search_indexes import SearchIndexService
from backend.operations.search_models import ConsistencyReply, RepairBody, WorkReply
from backend.search.failure_entries import FailureSummary
from backend.spec import routes

DEFAULT_PAGE = 100


def build_router(
    failures: FailureService, queues: QueueService, indexes: SearchIndexService
) -> Router:
    """Bind the routes of operations to the services."""
    router = Router()
    _bind_failures(router, failures)
    _bind_queues(router, queues)
    _bind_indexes(router, indexes)
    return router


def _bind_failures(router: Router, service: FailureService) -> None:
    @router.bind(routes.LIST_FAILURES)
    def list_failures(call: Call, query: FailuresQuery) -> FailuresReply:
        request = call.page(query, default=DEFAULT_PAGE)
        page = service.list_failures(call.caller, request, consumer=query.consumer)
        return FailuresReply(
            items=[_failure(found) for found in page.items],
            next_token=call.next_token(page.after),
        )

    @router.bind(routes.GET_FAILURE)
    def get_failure(call: Call, query: FailureQuery) -> FailureDocumentReply:
        found, stored = service.get_failure(call.caller, query.key)
        return FailureDocumentReply(
            **_failure(found).model_dump(),
            document=stored.text[:MAX_DOCUMENT_CHARS],
            is_truncated=len(stored.text) > MAX_DOCUMENT_CHARS,
        )

    @router.bind(routes.REPLAY_FAILURES)
    def replay_failures(call: Call, body: ReplayBody) -> ReplayReply:
        done, next_key = service.replay_failures(call.caller, body)
        items = [
            ReplayedReply(key=one.key, outcome=one.outcome, reason=one.reason or None)
            for one in done
        ]
        return ReplayReply(items=items, next_key=next_key)


def _bind_queues(router: Router, service: QueueService) -> None:
    @router.bind(routes.LIST_QUEUES)
    def list_queues(call: Call) -> QueuesReply:
        return QueuesReply(items=[_queue(state) for state in service.list_queues(call.caller)])

    @router.bind(routes.REDRIVE_QUEUE)
    def redrive_queue(call: Call, path: QueuePath) -> RedriveReply:
        before = service.redrive_queue(call.caller, path.queue_name).dead_letters
        message = f"Moving {before} dead letters back" if before else "There are no dead letters"
        return RedriveReply(
            queue_name=path.queue_name, dead_letters=before, started=before > 0, message=message
        )


def _bind_indexes(router: Router, service: SearchIndexService) -> None:
    @router.bind(routes.GET_SEARCH_CONSISTENCY)
    def get_consistency(call: Call) -> ConsistencyReply:
        return service.get_consistency(call.caller)

    @router.bind(routes.CHECK_SEARCH_CONSISTENCY)
    def check_consistency(call: Call) -> WorkReply:
        return _work(*service.check_consistency(call.caller))

    @router.bind(routes.REPAIR_SEARCH)
    def repair(call: Call, body: RepairBody) -> WorkReply:
        return _work(*service.repair(call.caller, body))

    @router.bind(routes.REINDEX_SEARCH)
    def reindex(call: Call) -> WorkReply:
        return _work(*service.reindex(call.caller))


def _work(job: Job, started: bool) -> WorkReply:
    fact = "has begun" if started else "is at work already"
    message = f"The job {fact}: it tells how far it is"
    return WorkReply(job_id=job.job_id, started=started, message=message)


def _failure(found: FailureSummary) -> FailureReply:
    return FailureReply(
        key=found.key,
        kind=found.kind,
        size=found.size,
        consumer=found.consumer,
        name=found.name,
        reason=found.reason,
        failed_at=found.failed_at,
        attempts=found.replays.attempts,
        last_attempt_at=found.replays.last_at,
        next_attempt_at=found.replays.next_at,
    )


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
