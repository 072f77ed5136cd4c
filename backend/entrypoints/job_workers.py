"""Wires the functions that start and run jobs.

Slices are imported where they are wired, as in `wiring`.
"""
# ruff: noqa: PLC0415

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from backend.core.deliveries import Event, Reply
from backend.core.ids import new_uuid
from backend.domains.jobs.models import Job, Progress, Step
from backend.domains.jobs.service import JobConsumer, JobStarter
from backend.entrypoints.wiring import Wiring
from backend.spec.buckets import FAILURE_BUCKET
from backend.spec.metrics import Metric
from backend.spec.queues import Queue
from backend.spec.settings import SETTLE_DELAY_SECONDS

if TYPE_CHECKING:
    from backend.domains.access.service.role_withdrawal import RoleWithdrawal
    from backend.domains.assets.service import TagWithdrawal
    from backend.search.indexing.failures import FailureStore

Handler = Callable[[dict[str, Any], Any], Reply]
_logger = Logger()


@dataclass(eq=False, repr=False)
class WorkerWiring(Wiring):
    """Creates the services of the functions that start and run jobs."""

    @cached_property
    def failures(self) -> "FailureStore":
        from backend.search.indexing.failures import FailureStore

        bucket = self.settings.bucket(FAILURE_BUCKET)
        return FailureStore(self.objects, bucket, self.function.name, self.clock)

    @cached_property
    def tag_withdrawal(self) -> "TagWithdrawal":
        from backend.domains.assets.repository import AssetRepository
        from backend.domains.assets.service import TagWithdrawal

        return TagWithdrawal(
            assets=AssetRepository(self.tables),
            databases=self.databases,
            tags=self.tags,
            audit=self.audit,
            clock=self.clock,
            settle_delay_seconds=self.settings.number(SETTLE_DELAY_SECONDS),
        )

    def role_withdrawal(self, job: Job) -> Progress:
        """Return the step of the job that removes a deleted role from its users."""
        done = self._role_withdrawal.step(
            str(job.parameters["roleName"]),
            job_id=job.job_id,
            created_by=job.created_by,
            cursor=job.cursor,
        )
        return Progress(cursor=done.cursor, items=done.users, finished=done.finished)

    @cached_property
    def _role_withdrawal(self) -> "RoleWithdrawal":
        from backend.domains.access.repository.constraints import ConstraintRepository
        from backend.domains.access.repository.roles import GrantRepository, RoleRepository
        from backend.domains.access.service.role_withdrawal import RoleWithdrawal

        return RoleWithdrawal(
            roles=RoleRepository(self.tables),
            grants=GrantRepository(self.tables),
            constraints=ConstraintRepository(self.tables),
            audit=self.audit,
            clock=self.clock,
            new_id=new_uuid,
        )

    def ring(self, metric: Metric) -> None:
        """Count one event of a metric, for this function."""
        from backend.search.indexing.failures import ring

        ring(metric, self.function.name)

    @property
    def starter_handler(self) -> Handler:
        return handler_of(JobStarter(self.queues).consume)

    def consumer_handler(self, queue: Queue, steps: Mapping[str, Step]) -> Handler:
        """Return the handler of a queue of jobs, with these steps for their kinds."""
        consumer = JobConsumer(
            queue=queue,
            queues=self.queues,
            jobs=self.jobs,
            runner=self.runner,
            steps=steps,
            keep=self.failures.keep,
            ring=self.ring,
            clock=self.clock,
        )
        return handler_of(consumer.consume)


def handler_of(consume: Callable[[Event], Reply]) -> Handler:
    """Return the Lambda handler of a consumer."""

    @_logger.inject_lambda_context(clear_state=True)
    def handle(event: dict[str, Any], context: Any) -> Reply:  # noqa: ARG001 - Lambda's signature
        return consume(event)

    return handle
