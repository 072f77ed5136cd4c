"""Wires the functions that start, end, reconcile and trigger executions."""

from functools import partial
from typing import Any

from backend.core.deliveries import Event
from backend.domains.buckets.service import BucketRegistry
from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.executions.repository.rows import ExecutionRepository
from backend.domains.executions.service.admission import Admission
from backend.domains.executions.service.consumers import StartConsumer, StatusConsumer
from backend.domains.executions.service.payload import Payloads
from backend.domains.executions.service.reconciliation import Reconciliation
from backend.domains.executions.service.triggers import UploadTriggers
from backend.domains.facts.service.commands import FactCommands
from backend.domains.uploads.repository import UploadRepository
from backend.domains.uploads.service.context import Uploaders
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.executions import progress
from backend.entrypoints.wiring.failures import count_metric, failures
from backend.entrypoints.wiring.files import files
from backend.entrypoints.wiring.metadata import records
from backend.entrypoints.wiring.pipelines import pipelines
from backend.entrypoints.wiring.workflows import workflow_triggers, workflows
from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.settings import EXECUTION_SILENCE_SECONDS, EXECUTIONS_AT_ONCE


def admission(context: Context) -> Admission:
    auxiliary = partial(context.settings.bucket, AUXILIARY_BUCKET)
    return Admission(
        executions=ExecutionRepository(context.tables),
        active=ActiveRepository(context.tables),
        progress=progress(context),
        payloads=Payloads(assets(context), records(context), context.objects, auxiliary),
        runs=context.runs,
        clock=context.clock,
        limit=partial(context.settings.number, EXECUTIONS_AT_ONCE),
    )


def starts(context: Context) -> Run:
    return StartConsumer(admission(context), context.queues, count_metric(context)).consume


def status(context: Context) -> Run:
    store_failure = failures(context).store
    return StatusConsumer(
        progress(context), context.queues, store_failure, count_metric(context)
    ).consume


def triggers(context: Context) -> Run:
    facts = FactCommands(assets(context), records(context), context.objects)
    return UploadTriggers(
        executions=ExecutionRepository(context.tables),
        active=ActiveRepository(context.tables),
        workflows=workflows(context),
        workflow_triggers=workflow_triggers(context),
        pipelines=pipelines(context),
        rights=context.rules,  # of users only: the product itself runs only its own workflows
        assets=assets(context),
        registry=BucketRegistry(context.tables),
        uploaders=Uploaders(UploadRepository(context.tables)),
        quarantine=files(context).quarantine,
        objects=context.objects,
        queues=context.queues,
        audit=context.audit,
        clock=context.clock,
        store_failure=failures(context).store,
        count_metric=count_metric(context),
        record_failure=facts.record_failure,
    ).consume


def reconciliation_run(context: Context) -> Run:
    def run(_event: Event) -> dict[str, Any]:
        reconciliation(context).run()
        return {}

    return run


def reconciliation(context: Context) -> Reconciliation:
    return Reconciliation(
        ActiveRepository(context.tables),
        progress(context),
        context.runs,
        context.clock,
        partial(context.settings.number, EXECUTION_SILENCE_SECONDS),
    )
