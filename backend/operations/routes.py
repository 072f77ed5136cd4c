"""The routes of failures."""

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
    ReplayBody,
    ReplayedReply,
    ReplayReply,
)
from backend.search.maintenance.failure_entries import FailureSummary
from backend.spec import routes


def build_router(service: FailureService) -> Router:
    """Bind the routes of failures to the service."""
    router = Router()

    @router.bind(routes.LIST_FAILURES)
    def list_failures(call: Call, query: FailuresQuery) -> FailuresReply:
        page = service.list_failures(call.caller, call.page(query), consumer=query.consumer)
        return FailuresReply(
            items=[_failure(item) for item in page.items],
            next_token=call.next_token(page.after),
        )

    @router.bind(routes.GET_FAILURE)
    def get_failure(call: Call, query: FailureQuery) -> FailureDocumentReply:
        failure, stored = service.get_failure(call.caller, query.key)
        return FailureDocumentReply(
            **_failure(failure).model_dump(),
            document=stored.text[:MAX_DOCUMENT_CHARS],
            is_truncated=len(stored.text) > MAX_DOCUMENT_CHARS,
        )

    @router.bind(routes.REPLAY_FAILURES)
    def replay_failures(call: Call, body: ReplayBody) -> ReplayReply:
        done, next_key = service.replay_failures(call.caller, body)
        items = [
            ReplayedReply(key=replay.key, outcome=replay.outcome, reason=replay.reason or None)
            for replay in done
        ]
        return ReplayReply(items=items, next_key=next_key)

    return router


def _failure(failure: FailureSummary) -> FailureReply:
    return FailureReply(
        key=failure.key,
        kind=failure.kind,
        size=failure.size,
        consumer=failure.consumer,
        name=failure.name,
        reason=failure.reason,
        failed_at=failure.failed_at,
        attempts=failure.replays.attempts,
        last_attempt_at=failure.replays.last_at,
        next_attempt_at=failure.replays.next_at,
    )
