"""Executions: workflows that run on assets and files."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from vitrine import api_models as api
from vitrine.execution_models import (
    SUCCEEDED,
    Execution,
    ExecutionFailedError,
    StartedExecution,
)
from vitrine.models import Message, Wire
from vitrine.resources.resource import Resource
from vitrine.transport import path_of
from vitrine.workflow_models import GLOBAL

# Short runs end within seconds, longer ones take minutes: the pauses grow between the two.
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 5.0


class _Found(Wire):
    message: Execution


class Executions(Resource):
    def start(
        self,
        database_id: str,
        asset_id: str,
        workflow_id: str,
        workflow_database_id: str,
        *,
        file_key: str | None = None,
        file_keys: Sequence[str] | None = None,
    ) -> StartedExecution:
        """Run a workflow on an asset, on one file of it, or on each of up to 50 files.

        Raises ConflictError if it is running on the file, InvalidInputError if a pipeline is
        disabled. With several files, the reply lists those that were refused.
        """
        path = path_of("database", database_id, "assets", asset_id, "workflows", workflow_id)
        body = api.StartBody(
            workflow_database_id=workflow_database_id, file_key=file_key, file_keys=file_keys
        )
        return self._transport.write(StartedExecution, "POST", path, body=body)

    def list(
        self,
        database_id: str,
        asset_id: str,
        workflow_id: str | None = None,
        *,
        workflow_database_id: str = GLOBAL,
        page_size: int | None = None,
    ) -> Iterator[Execution]:
        """List the executions on an asset, or those of one workflow on it."""
        of = () if workflow_id is None else (workflow_id,)
        return self._transport.pages(
            Execution,
            path_of("database", database_id, "assets", asset_id, "workflows", "executions", *of),
            within="message",
            query={"workflowDatabaseId": workflow_database_id} if of else None,
            page_size=page_size,
        )

    def get(self, database_id: str, asset_id: str, execution_id: str) -> Execution:
        """Return one execution with its pipelines, outputs and error."""
        path = path_of("database", database_id, "assets", asset_id, "executions", execution_id)
        return self._transport.read(_Found, path).message

    def stop(self, database_id: str, asset_id: str, execution_id: str) -> Message:
        """Stop an execution; no effect if it has ended."""
        path = path_of("database", database_id, "assets", asset_id, "executions", execution_id)
        return self._transport.write(Message, "DELETE", path)

    def rerun(self, database_id: str, asset_id: str, execution_id: str) -> StartedExecution:
        """Run the workflow again on the same input."""
        of = ("database", database_id, "assets", asset_id, "executions", execution_id)
        return self._transport.write(StartedExecution, "POST", path_of(*of, "rerun"), body={})

    def wait(
        self,
        database_id: str,
        asset_id: str,
        execution_id: str,
        *,
        timeout: float = 600.0,
        seen: Callable[[Execution], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> Execution:
        """Wait until the execution succeeds, and return it; `seen` is called with each state.

        Raises:
            ExecutionFailedError: it did not succeed, or has not ended within the time.
        """
        started, pause = clock(), _FIRST_PAUSE
        while True:
            execution = self.get(database_id, asset_id, execution_id)
            if seen is not None:
                seen(execution)
            if execution.execution_status == SUCCEEDED:
                return execution
            if execution.has_ended:
                raise ExecutionFailedError(execution, f"is {execution.execution_status}")
            if clock() - started >= timeout:
                state = execution.execution_status
                raise ExecutionFailedError(execution, f"is still {state} after {timeout:g} s")
            sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 1.5)
