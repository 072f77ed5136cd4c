"""Commands that run workflows, and show, stop and repeat executions."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import typer
from pydantic import JsonValue

from vitrine.cli.options import AssetArgument, DatabaseArgument
from vitrine.cli.session import FAILED, Session, command
from vitrine.errors import NotFoundError
from vitrine.execution_models import Execution, RefusedFile
from vitrine.lookup import find_asset
from vitrine.workflow_models import GLOBAL

# Files that one request accepts (the API's limit).
AT_ONCE = 50

WorkflowArgument = Annotated[str, typer.Argument(metavar="WORKFLOW")]
ExecutionArgument = Annotated[str, typer.Argument(metavar="EXECUTION")]
OfOption = Annotated[
    str | None,
    typer.Option(
        "--workflow-database",
        help="Database of the workflow, or GLOBAL; default: the asset's database, then GLOBAL.",
    ),
]
FilesOption = Annotated[
    list[str] | None,
    typer.Option("--file", help="Path of a file in the asset; may be repeated."),
]
WatchOption = Annotated[
    bool, typer.Option("--watch", help="Wait until the executions end, and show them.")
]
TimeoutOption = Annotated[float, typer.Option(min=0, help="Maximum seconds to watch.")]


@command("run")
def run(
    session: Session,
    workflow: WorkflowArgument,
    asset: AssetArgument,
    database: Annotated[str, typer.Option("--database", "-d", help="Database of the asset.")],
    file: FilesOption = None,
    workflow_database: OfOption = None,
    watch: WatchOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Run a workflow on an asset or on its files.

    Each file has its own execution.
    """
    asset_reply = find_asset(session.client, database, asset)
    of = workflow_database or _database_of(session, workflow, database)
    started, refused = _start(
        session, _Input(database, asset_reply.asset_id, workflow, of), file or []
    )
    if watch:
        ended = [
            _watch_execution(session, database, asset_reply.asset_id, execution_id, timeout)
            for execution_id in started
        ]
        session.output.document({"executions": [execution.wire() for execution in ended]})
        _rows(session, ended)
    else:
        session.output.document({"executions": list[JsonValue](started)})
        session.output.rows(["execution"], [[execution_id] for execution_id in started])
    for refusal in refused:
        session.output.say(f"{refusal.file_key}: {refusal.message}")
    if refused:
        raise typer.Exit(FAILED)


@command("executions list")
def list_executions(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    workflow: Annotated[str | None, typer.Option(help="Only executions of this workflow.")] = None,
    workflow_database: OfOption = None,
) -> None:
    """List the executions on an asset, newest first."""
    asset_reply = find_asset(session.client, database, asset, archived=True)
    of = GLOBAL
    if workflow is not None:
        of = workflow_database or _database_of(session, workflow, database)
    executions = list(
        session.client.executions.list(
            database, asset_reply.asset_id, workflow, workflow_database_id=of
        )
    )
    session.output.document({"items": [execution.wire() for execution in executions]})
    _rows(session, executions)


@command("executions show")
def show_execution(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    execution: ExecutionArgument,
) -> None:
    """Show an execution: pipelines, outputs, and the error if it failed."""
    asset_id = find_asset(session.client, database, asset, archived=True).asset_id
    _show(session, session.client.executions.get(database, asset_id, execution))


@command("executions stop")
def stop_execution(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    execution: ExecutionArgument,
) -> None:
    """Stop an execution; outputs already stored are kept."""
    asset_id = find_asset(session.client, database, asset, archived=True).asset_id
    session.output.reply(
        session.client.executions.stop(database, asset_id, execution), stopped=execution
    )


@command("executions rerun")
def rerun_execution(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    execution: ExecutionArgument,
    watch: WatchOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Run a workflow again on the input of an earlier execution."""
    asset_id = find_asset(session.client, database, asset).asset_id
    started = session.client.executions.rerun(database, asset_id, execution)
    if watch:
        _show(session, _watch_execution(session, database, asset_id, started.message, timeout))
        return
    session.output.reply(started, execution=started.message)


class _Input(NamedTuple):
    """A workflow to run, and the asset to run it on."""

    database: str
    asset_id: str
    workflow: str
    workflow_database: str


def _start(
    session: Session, wanted: _Input, files: Sequence[str]
) -> tuple[list[str], list[RefusedFile]]:
    """Start an execution on the asset or on each file; return their ids, and refused files."""
    executions, of = session.client.executions, tuple(wanted)
    if len(files) < 2:
        file_key = files[0] if files else None
        return [executions.start(*of, file_key=file_key).message], []
    replies = [
        executions.start(*of, file_keys=files[first : first + AT_ONCE])
        for first in range(0, len(files), AT_ONCE)
    ]
    ids = [
        started_file.execution_id for reply in replies for started_file in reply.executions or ()
    ]
    return ids, [file for reply in replies for file in reply.refused or ()]


def _database_of(session: Session, workflow: str, database: str) -> str:
    """Return the database of a workflow: the asset's own one, or else GLOBAL."""
    try:
        return session.client.workflows.get(database, workflow).database_id
    except NotFoundError:
        return GLOBAL


def _watch_execution(
    session: Session, database: str, asset_id: str, execution: str, timeout: float
) -> Execution:
    def print_state(execution: Execution) -> None:
        if session.output.err.is_terminal:
            session.output.say(f"{execution.execution_id}: {execution.execution_status}")

    return session.client.executions.wait(
        database,
        asset_id,
        execution,
        timeout=timeout,
        seen=print_state,
        sleep=session.wiring.sleep,
    )


def _rows(session: Session, executions: list[Execution]) -> None:
    session.output.rows(
        ["execution", "workflow", "status", "started", "file", "reason"],
        [
            [
                execution.execution_id,
                execution.workflow_id,
                execution.execution_status,
                execution.started_at or execution.start_date,
                execution.input_asset_file_key,
                execution.reason,
            ]
            for execution in executions
        ],
    )


def _show(session: Session, execution: Execution) -> None:
    session.output.document(execution.wire())
    _rows(session, [execution])
    session.output.rows(
        ["step", "pipeline", "database", "state", "started", "stopped"],
        [
            [
                step.number,
                step.pipeline_id,
                step.database_id,
                step.state,
                step.started_at,
                step.stopped_at,
            ]
            for step in execution.steps
        ],
    )
    outputs = execution.outputs
    if outputs is None:
        return
    kinds = (("file", outputs.files), ("preview", outputs.previews), ("metadata", outputs.metadata))
    stored: list[list[object]] = [[kind, path, ""] for kind, paths in kinds for path in paths]
    refused: list[list[object]] = [["refused", file.path, file.reason] for file in outputs.refused]
    session.output.rows(["output", "path", "reason"], [*stored, *refused])
