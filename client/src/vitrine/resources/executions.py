"""Executions of workflows on assets."""

import time
from collections.abc import Callable, Iterator, Sequence

from vitrine.errors import VitrineError
from vitrine.execution_models import Execution, ExecutionSummary, Started
from vitrine.models import Message, Wire
from vitrine.resources.registry import given
from vitrine.transport import Transport, parse, path_of

PAUSE = 1.0


class ExecutionTimeoutError(VitrineError):
    """The execution had not ended when the time was over."""


class _Found(Wire):
    message: Execution


class Executions:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, database_id: str, asset_id: str, *, page_size: int | None = None
    ) -> Iterator[ExecutionSummary]:
        """The executions on an asset, the newest first."""
        path = path_of("database", database_id, "assets", asset_id, "workflows", "executions")
        return self._transport.pages(ExecutionSummary, path, within="message", page_size=page_size)

    def list_of_workflow(
        self,
        database_id: str,
        asset_id: str,
        workflow_id: str,
        *,
        workflow_database_id: str | None = None,
        page_size: int | None = None,
    ) -> Iterator[ExecutionSummary]:
        """The executions of one workflow on an asset, the newest first."""
        of = ("database", database_id, "assets", asset_id, "workflows", "executions")
        return self._transport.pages(
            ExecutionSummary,
            path_of(*of, workflow_id),
            within="message",
            query={"workflowDatabaseId": workflow_database_id or database_id},
            page_size=page_size,
        )

    def start(
        self,
        database_id: str,
        asset_id: str,
        workflow_id: str,
        *,
        workflow_database_id: str | None = None,
        file: str | None = None,
        files: Sequence[str] | None = None,
    ) -> Started:
        """Runs a workflow on a file, on each of several files (at most 50), or on the asset."""
        body = given(
            workflowDatabaseId=workflow_database_id or database_id,
            fileKey=file,
            fileKeys=None if files is None else [*files],
        )
        path = path_of("database", database_id, "assets", asset_id, "workflows", workflow_id)
        return self._transport.write(Started, "POST", path, body=body)

    def get(self, database_id: str, asset_id: str, execution_id: str) -> Execution:
        """One execution. Raises NotFoundError where it is absent or hidden."""
        response = self._transport.send("GET", _path(database_id, asset_id, execution_id))
        return parse(_Found, response).message

    def stop(self, database_id: str, asset_id: str, execution_id: str) -> Message:
        """Stops an execution; one that has ended remains as it is."""
        path = _path(database_id, asset_id, execution_id)
        return parse(Message, self._transport.send("DELETE", path))

    def rerun(self, database_id: str, asset_id: str, execution_id: str) -> Started:
        """Runs the workflow of an execution on the same file again, as both are now."""
        path = f"{_path(database_id, asset_id, execution_id)}/rerun"
        return self._transport.write(Started, "POST", path, body={})

    def wait(
        self,
        database_id: str,
        asset_id: str,
        execution_id: str,
        *,
        timeout: float = 3600.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> Execution:
        """Waits until an execution has ended, however it ends.

        Raises:
            ExecutionTimeoutError: it has not within the time.
        """
        stop = clock() + timeout
        while True:
            found = self.get(database_id, asset_id, execution_id)
            if found.has_ended:
                return found
            if clock() >= stop:
                raise ExecutionTimeoutError(
                    f"execution {execution_id} is {found.execution_status} after {timeout:.0f} s"
                )
            sleep(PAUSE)


def _path(database_id: str, asset_id: str, execution_id: str) -> str:
    return path_of("database", database_id, "assets", asset_id, "executions", execution_id)
