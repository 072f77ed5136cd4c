"""Wires scheduled maintenance: replays of failures and sweeps of tombstones."""

from functools import partial

from backend.aws import clients
from backend.aws.guarded_objects import S3GuardedObjects
from backend.aws.items import from_wire
from backend.aws.search_engine import connect
from backend.domains.jobs.service.consumers import JobStarter
from backend.domains.subscriptions.service.consumers import OutdatedNotifications
from backend.entrypoints.wiring.audit import audit_notes
from backend.entrypoints.wiring.audit_streams import creations, expired_entries
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.events import Run, scheduled
from backend.entrypoints.wiring.failures import failures_of
from backend.entrypoints.wiring.indexing import changes_consumer, rebuilder
from backend.entrypoints.wiring.outgoing_events import outgoing_events
from backend.operations.failures import FailureService
from backend.search.indexing.state import SearchState
from backend.search.indexing.tombstones import TombstoneSweep
from backend.search.maintenance.failure_entries import FailureEntries
from backend.search.maintenance.replay import LeftoverReplays, Replayer, StreamConsumers
from backend.spec.buckets import FAILURE_BUCKET
from backend.spec.functions.workers import (
    AUDIT_ARCHIVER,
    AUDIT_CREATIONS,
    INDEX_CHANGES,
    JOB_STARTER,
    NOTIFIER,
)


@once
def entries(context: Context) -> FailureEntries:
    guarded = S3GuardedObjects(clients.at_first_use(clients.s3))
    return FailureEntries(context.objects, guarded, context.settings.bucket(FAILURE_BUCKET))


def stream_consumers(context: Context) -> StreamConsumers:
    """Return each consumer of streams, as a replay uses it."""
    return {
        AUDIT_ARCHIVER.name: lambda poison: expired_entries(context, poison.store),
        AUDIT_CREATIONS.name: lambda poison: creations(context, poison.store),
        INDEX_CHANGES.name: lambda poison: changes_consumer(context, poison).consume,
        NOTIFIER.name: lambda poison: (
            OutdatedNotifications(from_wire, poison.store, outgoing_events(context)).consume
        ),
        JOB_STARTER.name: lambda _: JobStarter(context.queues).consume,
    }


def failure_service(context: Context) -> FailureService:
    return FailureService(
        entries(context),
        _replayer(context),
        context.authorization,
        audit_notes(context),
        context.clock,
    )


def replays(context: Context) -> Run:
    leftovers = LeftoverReplays(entries(context), _replayer(context), context.clock)
    return scheduled(context, lambda until: leftovers.run(until=until))


def tombstones(context: Context) -> Run:
    state = SearchState(context.tables, context.clock)
    sweep = TombstoneSweep(connect(context.settings), state, context.clock)
    return scheduled(context, lambda until: {"removed": sweep.run(until=until)})


def _replayer(context: Context) -> Replayer:
    return Replayer(
        entries=entries(context),
        rebuilder=rebuilder(context),
        streams=stream_consumers(context),
        store_of=partial(failures_of, context),
        queues=context.queues,
        clock=context.clock,
    )
