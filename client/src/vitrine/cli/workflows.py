"""Commands for workflows."""

from typing import Annotated

import typer

from vitrine.cli.pipelines import DatabaseArgument, DatabaseOption, DeletedOption
from vitrine.cli.session import FAILED, Session, YesOption, command
from vitrine.workflow_models import Workflow, WorkflowPipeline

WorkflowArgument = Annotated[str, typer.Argument(metavar="WORKFLOW")]
PipelineOption = Annotated[
    list[str],
    typer.Option(
        "--pipeline",
        metavar="[DATABASE:]PIPELINE",
        help="Pipeline; repeat in execution order; GLOBAL:… for one of GLOBAL.",
    ),
]
ExtensionsOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="Run automatically on uploaded files with these extensions: .glb,.obj, or .all.",
    ),
]


@command("workflows list")
def list_workflows(
    session: Session, database: DatabaseOption = None, deleted: DeletedOption = False
) -> None:
    """List workflows."""
    session.output.items(
        session.client.workflows.list(database, show_deleted=deleted or None),
        ["database", "workflow", "pipelines", "runs on", "description"],
        lambda workflow: [
            workflow.database_id,
            workflow.workflow_id,
            _pipelines(workflow),
            workflow.auto_trigger_on_file_extensions_upload,
            workflow.description,
        ],
    )


@command("workflows check")
def check_workflows(session: Session, database: DatabaseOption = None) -> None:
    """List workflows whose trigger starts nothing, with the reason; fails if there are any."""
    workflows = [
        workflow for workflow in session.client.workflows.list(database) if workflow.trigger_stopped
    ]
    session.output.items(
        workflows,
        ["database", "workflow", "stored by", "reason"],
        lambda row: [row.database_id, row.workflow_id, row.stored_by, row.trigger_stopped],
    )
    if workflows:
        raise typer.Exit(FAILED)


@command("workflows show")
def show_workflow(session: Session, database: DatabaseArgument, workflow: WorkflowArgument) -> None:
    """Show the pipelines of a workflow."""
    workflow_reply = session.client.workflows.get(database, workflow)
    session.output.document(workflow_reply.wire())
    session.output.rows(
        ["database", "pipeline", "calls", "parameters"],
        [
            [
                function.database_id,
                function.name,
                function.pipeline_execution_type,
                function.input_parameters,
            ]
            for function in workflow_reply.specified_pipelines.functions
        ],
    )


@command("workflows put")
def put_workflow(
    session: Session,
    database: DatabaseArgument,
    workflow: WorkflowArgument,
    pipeline: PipelineOption,
    description: Annotated[
        str | None, typer.Option(help="Description; 4 to 256 characters.")
    ] = None,
    extensions: ExtensionsOption = None,
) -> None:
    """Create or replace a workflow."""
    session.output.reply(
        session.client.workflows.put(
            database,
            workflow,
            description=description or f"Workflow {workflow}",
            pipelines=[WorkflowPipeline.of(text, database) for text in pipeline],
            extensions=extensions,
        ),
        workflow=workflow,
    )


@command("workflows delete")
def delete_workflow(
    session: Session,
    database: DatabaseArgument,
    workflow: WorkflowArgument,
    yes: YesOption = False,
) -> None:
    """Delete a workflow; running executions are not affected."""
    session.confirm(f"Delete the workflow {workflow} of {database}?", yes=yes)
    session.output.reply(session.client.workflows.delete(database, workflow), deleted=workflow)


def _pipelines(workflow: Workflow) -> str:
    return ", ".join(function.name for function in workflow.specified_pipelines.functions)
