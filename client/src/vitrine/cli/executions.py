"""Commands for executions of workflows: run, list, show, stop, run again."""

from typing import Annotated

import typer

from vitrine.cli.reading import AssetArgument, DatabaseArgument
from vitrine.cli.session import FAILED, Session, with_session
from vitrine.execution_models import Execution, Started

ExecutionArgument = Annotated[str, typer.Argument(metavar="EXECUTION")]
FilesOption = Annotated[
    list[str] | None,
    typer.Option("--file", metavar="PATH", help="A file of the asset; several: one run each."),
]
OfOption = Annotated[
    str | None,
    typer.Option("--of", metavar="DATABASE", help="The workflow's database: GLOBAL, or its own."),
]
WatchOption = Annotated[bool, typer.Option("--watch", help="Wait until it has ended.")]


@with_session
def run(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW")],
    file: FilesOption = None,
    of: OfOption = None,
    watch: WatchOption = False,
) -> None:
    """Run a workflow on files of an asset, or on the asset as a whole."""
    files = file or []
    executions = session.client.executions
    if len(files) > 1:
        started = executions.start(database, asset, workflow, workflow_database_id=of, files=files)
    else:
        one = files[0] if files else None
        started = executions.start(database, asset, workflow, workflow_database_id=of, file=one)
    _show_started(session, database, asset, started, watch=watch)


@with_session
def list_executions(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    workflow: Annotated[str | None, typer.Option(help="Those of this workflow.")] = None,
    of: OfOption = None,
) -> None:
    """List the executions on an asset, the newest first."""
    executions = session.client.executions
    if workflow is None:
        found = list(executions.list(database, asset))
    else:
        listed = executions.list_of_workflow(database, asset, workflow, workflow_database_id=of)
        found = list(listed)
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["execution", "workflow", "status", "file", "started", "by"],
        [
            [
                one.execution_id,
                f"{one.workflow_database_id}:{one.workflow_id}",
                one.execution_status,
                one.input_asset_file_key,
                one.started_at,
                one.started_by,
            ]
            for one in found
        ],
    )


@with_session
def show_execution(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    execution: ExecutionArgument,
) -> None:
    """Show an execution: its status, what it stored, why it failed."""
    _show(session, session.client.executions.get(database, asset, execution))


@with_session
def stop_execution(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    execution: ExecutionArgument,
) -> None:
    """Stop an execution."""
    done = session.client.executions.stop(database, asset, execution)
    session.output.document(done.wire())
    session.output.rows(["message"], [[done.message]])


@with_session
def rerun_execution(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    execution: ExecutionArgument,
    watch: WatchOption = False,
) -> None:
    """Run the workflow of an execution on the same file again."""
    started = session.client.executions.rerun(database, asset, execution)
    _show_started(session, database, asset, started, watch=watch)


def _show_started(
    session: Session, database: str, asset: str, started: Started, *, watch: bool
) -> None:
    ids = [one.execution_id for one in started.executions] or [started.message]
    if watch:
        wait = session.client.executions.wait
        ended = [wait(database, asset, one, sleep=session.wiring.sleep) for one in ids]
        for one in ended:
            _show(session, one)
        if any(one.execution_status != "SUCCEEDED" for one in ended):
            raise typer.Exit(FAILED)
        return
    session.output.document(started.wire())
    rows = [[one.execution_id, one.file_key, ""] for one in started.executions]
    rows += [["", one.file_key, one.message] for one in started.refused]
    session.output.rows(["execution", "file", "refused"], rows or [[started.message, "", ""]])


def _show(session: Session, found: Execution) -> None:
    session.output.document(found.wire())
    outputs = found.outputs
    stored = f"{outputs.file_count} files, {outputs.preview_count} previews"
    session.output.rows(
        ["execution", "workflow", "status", "file", "stored", "refused"],
        [
            [
                found.execution_id,
                f"{found.workflow_database_id}:{found.workflow_id}",
                found.execution_status,
                found.input_asset_file_key,
                stored,
                str(outputs.refused_count),
            ]
        ],
    )
    if found.error is not None and not session.output.as_json:
        session.output.say(f"{found.error.code}: {found.error.message}")
