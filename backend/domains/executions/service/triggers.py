"""Starts the workflows that new versions of files trigger.

Uploads, and objects that other programs write into the bucket, are reported by S3's events, which
the bucket sync passes on once an asset has the object. A message only names a file: the current
version is processed once, whichever messages arrive. While a run of the workflow on the file is
active, the file is recorded at its reservation, and processed again when the run ends.

Messages with a renewal start only the shipped workflows, for the product itself: they read the file
again. Messages about an inspection that failed start nothing: its reason becomes the file's facts.
"""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, Secured
from backend.core.clock import Clock, iso
from backend.core.deliveries import (
    CountMetric,
    Event,
    Message,
    Reply,
    StoreFailure,
    parse_messages,
    process_batch,
)
from backend.core.errors import NotFoundError, UnavailableError
from backend.core.identity import SYSTEM, Identity
from backend.core.ids import ordered_uuid
from backend.core.objects import ObjectHead, ObjectRef, Objects, VersionRef
from backend.core.queues import Queues
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.queries import secured as secured_asset
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.buckets.models import BucketKey
from backend.domains.buckets.service import BucketRegistry
from backend.domains.executions import rules
from backend.domains.executions.errors import (
    ExecutionActiveError,
    ExecutionChangedError,
    ExecutionExistsError,
)
from backend.domains.executions.models import Execution
from backend.domains.executions.models.events import UploadedObject
from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.executions.repository.rows import ExecutionRepository
from backend.domains.executions.rules import events, new_executions, triggers
from backend.domains.facts.models import FailedInspection
from backend.domains.pipelines.service.queries import PipelineQueries
from backend.domains.pipelines.service.queries import secured as secured_pipeline
from backend.domains.quarantine.service.queries import Quarantine
from backend.domains.uploads.service.context import Uploaders
from backend.domains.workflows.models import Workflow
from backend.domains.workflows.service.queries import WorkflowQueries
from backend.domains.workflows.service.queries import secured as secured_workflow
from backend.domains.workflows.service.triggers import WorkflowTriggers
from backend.spec.buckets import UPLOAD_METADATA
from backend.spec.formats import AMBIGUOUS_EXTENSIONS, START_BYTES, may_be_model
from backend.spec.queues import EXECUTION_STARTS, UPLOAD_TRIGGERS
from backend.spec.routes import Action

_ATTEMPTS = 4  # of a run that starts at the moment when another ends
_log = logging.getLogger(__name__)


def _busy(_: object, execution: Execution, *_others: object) -> UnavailableError:
    return UnavailableError(
        f"Executions on {execution.input_asset_file_key} keep starting and ending; try again"
    )


@dataclass(eq=False, repr=False)
class UploadTriggers:
    executions: ExecutionRepository
    active: ActiveRepository
    workflows: WorkflowQueries
    workflow_triggers: WorkflowTriggers
    pipelines: PipelineQueries
    rights: Authorization
    assets: AssetService
    registry: BucketRegistry
    uploaders: Uploaders
    quarantine: Quarantine
    objects: Objects
    queues: Queues
    audit: AuditService
    clock: Clock
    store_failure: StoreFailure
    count_metric: CountMetric
    record_failure: Callable[[FailedInspection], None]
    """Stores the reason of a failed inspection as the facts of its file."""

    def consume(self, event: Event) -> Reply:
        """Process the batch; after an outage, return all of its messages to the queue."""
        return process_batch(
            event, self._process, self.queues, UPLOAD_TRIGGERS, count_metric=self.count_metric
        )

    def _process(self, messages: Sequence[Message]) -> None:
        uploads: list[UploadedObject] = []
        for message in parse_messages(messages, events.upload_or_failure, self.store_failure):
            if isinstance(message, UploadedObject):
                uploads.append(message)
            else:
                self.record_failure(message)
        # Assets and workflows are read once for a batch, which is often one upload.
        paths: dict[str, list[str]] = {}
        starting = [pair for pair in self._find_owned(uploads) if triggers.may_start(*pair)]
        for asset, upload in starting:
            paths.setdefault(asset.database_id, []).append(triggers.path_of(asset, upload))
        known = {
            database: self.workflows.triggered_by(database, some)
            for database, some in paths.items()
        }
        for asset, upload in starting:
            workflows = known[asset.database_id][triggers.path_of(asset, upload)]
            self._start_all(asset, upload, workflows)

    def _find_owned(self, uploads: Sequence[UploadedObject]) -> list[tuple[Asset, UploadedObject]]:
        """Return the objects that belong to active assets, with these."""
        buckets = self.registry.for_objects(
            [ObjectRef(upload.bucket, upload.key) for upload in uploads]
        )
        places = [
            (BucketKey(bucket.bucket_id, upload.key), upload)
            for upload in uploads
            if (bucket := triggers.bucket_of(upload, buckets)) is not None
        ]
        owners = self.assets.owners([place for place, _ in places])
        assets = {ref: self.assets.find_asset(*ref.ids) for ref in dict.fromkeys(owners.values())}
        pairs = [(assets[owners[place]], upload) for place, upload in places if place in owners]
        return [
            (asset, upload)
            for asset, upload in pairs
            if asset is not None and not asset.is_archived
        ]

    def _start_all(self, asset: Asset, upload: UploadedObject, wanted: list[Workflow]) -> None:
        # Not the event's version: events are late, and the current version is processed.
        head = self.objects.head(upload.bucket, upload.key) if wanted else None
        if not isinstance(head, ObjectHead) or head.needs_restore:
            return
        if self.quarantine.among(upload.bucket, [head.version.ref]):
            return
        if upload.renewal is not None:
            wanted = [workflow for workflow in wanted if workflow.is_shipped]
        chain = triggers.chain_of(head.metadata)
        # What a workflow wrote starts neither itself nor one before it.
        wanted = [workflow for workflow in wanted if triggers.may_continue(chain, workflow.key)]
        wanted = self._of_content(upload, wanted)
        stopped = self.workflow_triggers.stop_reasons(wanted)
        ready = [
            workflow
            for workflow in wanted
            if self._is_ready(workflow, asset, stopped.get(workflow.key))
        ]
        if not ready:
            return
        # Renewals share the places of the product, so they do not delay the uploads of users.
        caller = SYSTEM if upload.renewal is not None else self._caller(head)
        trigger = "upload" if upload.renewal is None else "renewal"
        for workflow in ready:
            version_id = head.version.version_id
            name = triggers.run_name(workflow.key, upload, version_id)
            renewal = upload.renewal
            # A time that every delivery of the event has, so that its id is the same.
            since = head.version.last_modified if renewal is None else renewal.created_at
            execution = new_executions.new_execution(
                caller,
                workflow,
                asset.ref,
                VersionRef(upload.key, version_id),
                execution_id=ordered_uuid(since, name),
                created_at=iso(self.clock()),
            )
            named = {"trigger": trigger, "chain": [*chain, workflow.key]}
            self._start(execution.model_copy(update=named), caller, upload)
        self.queues.send(EXECUTION_STARTS, [{}])

    def _of_content(self, upload: UploadedObject, wanted: list[Workflow]) -> list[Workflow]:
        """Leave out the shipped workflows if the content does not match the extension."""
        extension = upload.key.rpartition(".")[2].lower()
        own = [workflow for workflow in wanted if not workflow.is_shipped]
        if len(own) == len(wanted) or extension not in AMBIGUOUS_EXTENSIONS:
            return wanted
        try:
            start = self.objects.read_start(upload.bucket, upload.key, length=START_BYTES)
        except NotFoundError:  # deleted meanwhile, which is an event of its own
            return []
        return wanted if may_be_model(extension, start) else own

    def _is_ready(self, workflow: Workflow, asset: Asset, stopped: str | None) -> bool:
        """Return whether its pipelines are enabled, and its author may run it on the asset."""
        if stopped is not None:
            _log.info("%s: %s", workflow.key, stopped)
            return False
        author = Identity(workflow.stored_by or "")
        own = not workflow.is_shipped
        # The rights that starting it by hand requires.
        for target in (secured_asset(asset), secured_workflow(workflow)) if own else ():
            if not self._may_all(author, ("GET", "POST"), target):
                _log.info(
                    "%s is not started: %s lacks GET or POST on the %s",
                    *(workflow.key, author.user_id, target.object_type),
                )
                return False
        known = self.pipelines.find_pipelines(
            [function.pipeline for function in workflow.functions]
        )
        for function in workflow.functions:
            pipeline = known.get(function.pipeline)
            if pipeline is None or not pipeline.enabled:
                _log.info("%s is not started: pipeline %s cannot run", workflow.key, function.name)
                return False
            if own and not self._may_all(author, ("GET", "POST"), secured_pipeline(pipeline)):
                _log.info("%s is not started: %s may not run it", workflow.key, author.user_id)
                return False
        return True

    def _may_all(self, author: Identity, actions: Sequence[Action], target: Secured) -> bool:
        """Return whether the author's current permissions allow all of the actions."""
        # The author's second factor is not stored, so roles that require one do not count.
        return all(self.rights.may(author, action, target) for action in actions)

    def _caller(self, head: ObjectHead) -> Identity:
        """Return who uploaded the version, or the product itself."""
        upload_id = head.metadata.get(UPLOAD_METADATA)
        uploader = self.uploaders.uploader(upload_id) if upload_id else None
        return uploader or SYSTEM

    @attempts(_ATTEMPTS, ExecutionActiveError, refusal=_busy)
    def _start(self, execution: Execution, caller: Identity, upload: UploadedObject) -> None:
        entry = self.audit.entry(
            caller,
            "trigger_execution",
            audit_entity("execution", execution.execution_id),
            after=rules.facts_of(execution),
        )
        try:
            self.executions.create(execution, self.active.waiting_write(execution), entry)
        except ExecutionExistsError:  # the event was delivered before
            return
        except ExecutionActiveError as error:
            if not self._kept(execution, error.execution_id, upload):
                raise

    def _kept(self, execution: Execution, active_id: str, upload: UploadedObject) -> bool:
        """Record an upload at the active run of its file; return False if that run has ended.

        A renewal is not recorded: the active run reads the file already.
        """
        if upload.renewal is not None:
            return True
        reservation = rules.reservation_key(rules.target_of(execution))
        try:
            self.executions.store_upload(
                reservation, active_id, json.dumps(events.upload_message(upload))
            )
        except ExecutionChangedError:
            return False
        return True
