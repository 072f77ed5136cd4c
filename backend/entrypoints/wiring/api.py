"""Wires the functions of the API to their routes, and to the audit logs of refusals and of reads.

Most invocations neither refuse nor return data: the logs are loaded when they are needed.
"""
# ruff: noqa: PLC0415

from collections.abc import Callable
from functools import partial

from backend.aws import clients
from backend.aws.tables import DynamoTables
from backend.core.denials import Denials, LateDenials
from backend.core.reads import LateReads, Reads, UnrecordedReads
from backend.entrypoints import ready
from backend.entrypoints.wiring.context import Context
from backend.http.app import Handler, HttpApp
from backend.http.router import Router
from backend.spec.functions import Function
from backend.spec.settings import API_ONLY_THROUGH_PAGE, AUDIT_DAYS, AUDIT_READS


def serve(function: Function, router: Callable[[Context], Router]) -> Handler:
    """Return the Lambda handler of a function of the API."""
    context = Context(function)
    return ready(http_app(context).handler(router(context)))


def http_app(context: Context) -> HttpApp:
    """Return the application that serves the routes of one function."""
    is_proven = None
    if context.settings.number(API_ONLY_THROUGH_PAGE) == 1:
        from backend.entrypoints.wiring.authentication import viewers

        is_proven = viewers(context).is_proven
    return HttpApp(
        context.authorization,
        context.page_tokens,
        watch=context.watch,
        denials=LateDenials(partial(refusals, context)),
        request=context.request,
        reads=LateReads(partial(reads, context)),
        deadline=clients.deadline,
        is_proven=is_proven,
    )


def refusals(context: Context) -> Denials:
    """Return the log of refused requests, which appends to the table of entries."""
    from backend.core.ids import new_suffix
    from backend.domains.audit.repository import AuditRepository
    from backend.domains.audit.service.refusals import RefusalTrail
    from backend.http.metrics import DenialCounter

    return RefusalTrail(
        AuditRepository(DynamoTables(clients.short_timeout_dynamodb(), context.settings)),
        DenialCounter(),
        days=partial(context.settings.number, AUDIT_DAYS),
        clock=context.clock,
        suffix=new_suffix,
    )


def reads(context: Context) -> Reads:
    """Return what records reads, if the setting is on."""
    from backend.aws.queues import SqsQueues
    from backend.domains.audit.service.reads import QueuedReads

    if context.settings.number(AUDIT_READS) != 1:
        return UnrecordedReads()
    queues = SqsQueues(clients.at_first_use(clients.short_timeout_sqs), context.settings)
    return QueuedReads(queues, context.clock)
