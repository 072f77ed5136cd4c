"""Starts the workflows that new versions of files trigger.

Uploads, and objects that other programs write into the bucket, are reported by S3's events, which
the bucket sync passes on once an asset has the object. A message only names a file: the current
version is processed once, whichever messages arrive. While a run of the workflow on the file is
active, the file is recorded at its reservation, and processed again when the run ends.
"""

import json
import logging
from collections.abc import Sequence

from backend.core.authorization import Authorization, Secured
from backend.core.clock import Clock, iso
from backend.core.deliveries import Event, Message, Reply, Ring, failed, given_back_after
from backend.core.errors import NotFoundError, UnavailableError
from backend.core.identity import SYSTEM, Identity
from backend.core.ids import ordered_uuid
from backend.core.objects import ObjectHead, Objects
from backend.core.queues import Queues
from backend.core.wired import wired
from backend.domains.assets.models import Asset
from backend.domains.assets.service import AssetService
from backend.domains.assets.service import secured as secured_asset
from backend.domains.audit.models import execution_entity
from backend.domains.audit.service import AuditService
from backend.domains.buckets.service import BucketRegistry
from backend.domains.executions import rules
from backend.domains.executions.models import Execution
from backend.domains.executions.models.events import UploadedObject
from backend.domains.executions.repository import (
    ActiveRepository,
    ExecutionActiveError,
    ExecutionChangedError,
    ExecutionExistsError,
    ExecutionRepository,
)
from backend.domains.executions.rules import events, new_executions, triggers
from backend.domains.executions.service.consumers import Keep
from backend.domains.pipelines.service import PipelineQueries
from backend.domains.pipelines.service import secured as secured_pipeline
from backend.domains.quarantine.service import Quarantine
from backend.domains.uploads.service.uploaders import Uploaders
from backend.domains.workflows.models import Workflow
from backend.domains.workflows.service import WorkflowQueries, WorkflowTriggers
from backend.spec.buckets import UPLOAD_METADATA
from backend.spec.formats import AMBIGUOUS_EXTENSIONS, START_BYTES, may_be_model
from backend.spec.queues import EXECUTION_STARTS, UPLOAD_TRIGGERS
from backend.spec.routes import Action

_ATTEMPTS = 4  # of a run that starts at the moment when another ends
_log = logging.getLogger(__name__)


@wired
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
    keep: Keep
    ring: Ring

    def consume(self, event: Event) -> Reply:
        """Process the batch; after an outage, return all of its messages to the queue."""
        messages: list[Message] = list(event["Records"])
        try:
            for message in messages:
                self._take(message)
        except UnavailableError as error:
            return given_back_after(error, self.queues, UPLOAD_TRIGGERS, messages, ring=self.ring)
        return failed(())

    def _take(self, message: Message) -> None:
        """Start the workflows that a message triggers."""
        try:
            upload = events.uploaded_object(message)
        except events.NotUnderstoodError as error:
            self.keep(str(message.get("messageId") or "message"), dict(message), str(error))
            return
        bucket = triggers.bucket_of(
            upload, self.registry.for_objects([(upload.bucket, upload.key)])
        )
        if bucket is None:
            return
        place = (bucket.bucket_id, upload.key)
        owner = self.assets.owners([place]).get(place)
        asset = None if owner is None else self.assets.find_asset(owner.database_id, owner.asset_id)
        if asset is not None and not asset.is_archived:
            self._start_all(asset, upload)

    def _start_all(self, asset: Asset, upload: UploadedObject) -> None:
        prefix = asset.asset_location.key
        if not triggers.may_start(prefix, upload.key):
            return
        path = f"/{upload.key.removeprefix(prefix)}"
        wanted = self.workflows.triggered_by(asset.database_id, path)
        head = self.objects.head(upload.bucket, upload.key) if wanted else None
        if not isinstance(head, ObjectHead) or not self._is_readable(upload, head):
            return
        chain = triggers.chain_of(head.metadata)
        wanted = [one for one in wanted if triggers.may_continue(chain, one.key)]
        wanted = self._of_content(upload, wanted)
        stopped = self.workflow_triggers.stopped(wanted)
        ready = [one for one in wanted if self._is_ready(one, asset, stopped.get(one.key))]
        if not ready:
            return
        caller = self._caller(head)
        for workflow in ready:
            execution = self._execution(caller, asset, workflow, upload, head)
            named = {"trigger": "upload", "chain": [*chain, workflow.key]}
            self._start(execution.model_copy(update=named), caller, upload)
        self.queues.send(EXECUTION_STARTS, [{}])

    def _is_readable(self, upload: UploadedObject, head: ObjectHead) -> bool:
        if head.needs_restore:
            return False
        return not self.quarantine.among(upload.bucket, [(upload.key, head.version.version_id)])

    def _of_content(self, upload: UploadedObject, wanted: list[Workflow]) -> list[Workflow]:
        """Leave out the shipped workflows if the content does not match the extension."""
        extension = upload.key.rpartition(".")[2].lower()
        own = [one for one in wanted if not one.is_shipped]
        if len(own) == len(wanted) or extension not in AMBIGUOUS_EXTENSIONS:
            return wanted
        try:
            start = self.objects.read_start(upload.bucket, upload.key, length=START_BYTES)
        except NotFoundError:  # deleted meanwhile, which is an event of its own
            return []
        return wanted if may_be_model(extension, start) else own

    def _is_ready(self, workflow: Workflow, asset: Asset, stopped: str | None) -> bool:
        """Return whether its pipelines are enabled, and its author may run them on the asset."""
        if stopped is not None:
            _log.info("%s: %s", workflow.key, stopped)
            return False
        author = Identity(workflow.stored_by or "")
        own = not workflow.is_shipped
        if own and not self._may_all(author, ("GET", "POST"), secured_asset(asset)):
            _log.info(
                "%s starts no run: %s may not run it on the asset", workflow.key, author.user_id
            )
            return False
        known = self.pipelines.find_pipelines([each.key for each in workflow.functions])
        for function in workflow.functions:
            pipeline = known.get(function.key)
            if pipeline is None or not pipeline.enabled:
                _log.info("%s starts no run: pipeline %s cannot run", workflow.key, function.name)
                return False
            if own and not self._may_all(author, ("GET", "POST"), secured_pipeline(pipeline)):
                _log.info("%s starts no run: %s may not run it", workflow.key, author.user_id)
                return False
        return True

    def _may_all(self, author: Identity, actions: Sequence[Action], target: Secured) -> bool:
        """Return whether the author's current permissions allow all of the actions.

        The author's second factor is not stored, so roles that require one do not count.
        """
        return all(self.rights.may(author, action, target) for action in actions)

    def _caller(self, head: ObjectHead) -> Identity:
        """Return who uploaded the version, or the product itself."""
        upload_id = head.metadata.get(UPLOAD_METADATA)
        found = self.uploaders.uploader(upload_id) if upload_id else None
        return found or SYSTEM

    def _execution(
        self,
        caller: Identity,
        asset: Asset,
        workflow: Workflow,
        upload: UploadedObject,
        head: ObjectHead,
    ) -> Execution:
        version_id = head.version.version_id
        name = triggers.run_name(workflow.key, upload, version_id)
        return new_executions.new_execution(
            caller,
            workflow,
            (asset.database_id, asset.asset_id),
            (upload.key, version_id),
            execution_id=ordered_uuid(head.version.last_modified, name),
            created_at=iso(self.clock()),
        )

    def _start(self, execution: Execution, caller: Identity, upload: UploadedObject) -> None:
        entry = self.audit.entry(
            caller,
            "trigger_execution",
            execution_entity(execution.execution_id),
            after=rules.facts_of(execution),
            at=self.clock(),
        )
        for _ in range(_ATTEMPTS):
            try:
                self.executions.create(execution, self.active.waiting_write(execution), entry)
            except ExecutionExistsError:  # the event was delivered before
                return
            except ExecutionActiveError as error:
                if self._kept(execution, error.execution_id, upload):
                    return
            else:
                return
        raise UnavailableError(
            f"Executions on {execution.input_asset_file_key} keep starting and ending; try again"
        )

    def _kept(self, execution: Execution, active_id: str, upload: UploadedObject) -> bool:
        """Record an upload at the active run of its file; return False if that run has ended."""
        reservation = rules.reservation_key(rules.target_of(execution))
        try:
            self.executions.keep_upload(reservation, active_id, json.dumps(events.again(upload)))
        except ExecutionChangedError:
            return False
        return True
