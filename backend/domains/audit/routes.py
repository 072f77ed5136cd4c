"""The routes of audit entries."""

from backend.domains.audit.models import Entry
from backend.domains.audit.models.replies import (
    EntriesQuery,
    EntriesReply,
    EntryReply,
    ValuePath,
    ValueQuery,
    ValueReply,
)
from backend.domains.audit.rules import SEPARATOR
from backend.domains.audit.service.queries import AuditTrail
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(trail: AuditTrail) -> Router:
    """Bind the routes of audit entries to the service."""
    router = Router()

    @router.bind(routes.LIST_AUDIT_ENTRIES)
    def list_audit_entries(call: Call, query: EntriesQuery) -> EntriesReply:
        page = trail.list_entries(
            call.caller,
            call.page(query),
            entity=query.entity,
            user_id=query.user_id or "",
            since=query.since,
            until=query.until,
        )
        return EntriesReply(
            items=[_reply(entry) for entry in page.items], next_token=call.next_token(page.after)
        )

    @router.bind(routes.GET_AUDIT_VALUE)
    def get_audit_value(call: Call, path: ValuePath, query: ValueQuery) -> ValueReply:
        size, value = trail.get_value(
            call.caller, path.value_hash, entity=query.entity, at=query.at
        )
        return ValueReply(sha256=path.value_hash, bytes=size, value=value)

    return router


def _reply(entry: Entry) -> EntryReply:
    values = entry.model_dump()
    return EntryReply.model_validate({**values, "at": entry.at.partition(SEPARATOR)[0]})
