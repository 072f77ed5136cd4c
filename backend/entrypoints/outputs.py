"""Wires the storage of executions' outputs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aws_lambda_powertools import Logger

from backend.core.authorization import Authorization, SystemOr
from backend.core.part_copies import PartCopies
from backend.domains.executions.repository import ExecutionRepository
from backend.domains.executions.service import ExecutionRecords
from backend.domains.facts.service import FactCommands
from backend.domains.outputs.repository import ProgressRepository
from backend.domains.outputs.service import (
    GeneratedPreviews,
    Inspections,
    OutputCommands,
    Stored,
)
from backend.domains.uploads.service import Deposits
from backend.entrypoints.wiring import Wiring
from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.settings import LARGE_FILE_BYTES

_logger = Logger()


@dataclass(eq=False, repr=False)
class OutputWiring(Wiring):
    """Creates the services of the function, which acts for the users who started executions."""

    @cached_property
    def authorization(self) -> Authorization:
        return SystemOr(self.rules)

    @cached_property
    def outputs(self) -> OutputCommands:
        auxiliary = self.settings.bucket(AUXILIARY_BUCKET)
        parts = PartCopies(self.objects, self.settings.number(LARGE_FILE_BYTES), self.clock)
        return OutputCommands(
            executions=ExecutionRecords(ExecutionRepository(self.tables)),
            progress=ProgressRepository(self.tables, self.clock),
            assets=self.assets,
            files=self.files,
            deposits=Deposits(self.assets, self.databases, self.objects, parts),
            metadata=self.metadata,
            inspections=Inspections(
                assets=self.assets,
                files=self.files,
                facts=FactCommands(self.assets, self.records, self.objects),
                previews=GeneratedPreviews(self.assets, self.objects),
                objects=self.objects,
                auxiliary=auxiliary,
            ),
            objects=self.objects,
            authorization=self.authorization,
            audit=self.audit,
            auxiliary=auxiliary,
            clock=self.clock,
        )


def outputs_handler(wiring: OutputWiring) -> Callable[[dict[str, Any], Any], dict[str, str]]:
    """Return the Lambda handler.

    Of its input only the execution's id is used: the owner and the permissions are read from the
    execution's row.
    """

    @_logger.inject_lambda_context(clear_state=True)
    def handle(event: dict[str, Any], context: Any) -> dict[str, str]:  # noqa: ARG001 - Lambda's signature
        stored: Stored = wiring.outputs.store_outputs(str(event["body"]["executionId"]))
        if stored.state == "refused":
            _logger.info("outputs were refused", extra={"execution": event["body"]["executionId"]})
        return {"state": stored.state, "error": stored.error, "cause": stored.cause}

    return handle
