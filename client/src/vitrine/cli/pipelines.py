"""Commands for pipelines."""

from pathlib import Path
from typing import Annotated

import typer

from vitrine.cli.session import Session, YesOption, command
from vitrine.cli.standard_streams import read_json
from vitrine.workflow_models import Pipeline, PipelineSettings

DatabaseArgument = Annotated[
    str, typer.Argument(metavar="DATABASE", help="Database id, or GLOBAL.")
]
PipelineArgument = Annotated[str, typer.Argument(metavar="PIPELINE")]
DatabaseOption = Annotated[str | None, typer.Option(help="Only those of this database, or GLOBAL.")]
DeletedOption = Annotated[bool, typer.Option("--deleted", help="Show deleted ones instead.")]
UpdateOption = Annotated[
    bool,
    typer.Option("--update-workflows", help="Also update the workflows that use the pipeline."),
]
SettingsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="JSON file with the fields of `PUT /pipelines`; - reads standard input.",
    ),
]


@command("pipelines list")
def list_pipelines(
    session: Session, database: DatabaseOption = None, deleted: DeletedOption = False
) -> None:
    """List pipelines."""
    session.output.items(
        session.client.pipelines.list(database, show_deleted=deleted or None),
        ["database", "pipeline", "calls", "resource", "enabled", "description"],
        _row,
    )


@command("pipelines show")
def show_pipeline(session: Session, database: DatabaseArgument, pipeline: PipelineArgument) -> None:
    """Show the settings of a pipeline."""
    pipeline_reply = session.client.pipelines.get(database, pipeline)
    session.output.document(pipeline_reply.wire())
    fields = [[*field] for field in pipeline_reply.wire().items() if field[1] not in (None, "")]
    session.output.rows(["field", "value"], fields)


@command("pipelines put")
def put_pipeline(
    session: Session, settings: SettingsArgument, update_workflows: UpdateOption = False
) -> None:
    """Create or change a pipeline from a file."""
    _put(session, read_json(settings, PipelineSettings), update_workflows=update_workflows)


@command("pipelines enable")
def enable_pipeline(
    session: Session, database: DatabaseArgument, pipeline: PipelineArgument
) -> None:
    """Enable a pipeline."""
    _enable(session, database, pipeline, enabled=True)


@command("pipelines disable")
def disable_pipeline(
    session: Session, database: DatabaseArgument, pipeline: PipelineArgument
) -> None:
    """Disable a pipeline: workflows that use it cannot be run."""
    _enable(session, database, pipeline, enabled=False)


@command("pipelines delete")
def delete_pipeline(
    session: Session,
    database: DatabaseArgument,
    pipeline: PipelineArgument,
    yes: YesOption = False,
) -> None:
    """Delete a pipeline that no workflow uses."""
    session.confirm(f"Delete the pipeline {pipeline} of {database}?", yes=yes)
    session.output.reply(session.client.pipelines.delete(database, pipeline), deleted=pipeline)


def _enable(session: Session, database: str, pipeline: str, *, enabled: bool) -> None:
    settings = session.client.pipelines.get(database, pipeline).settings()
    _put(session, settings.model_copy(update={"enabled": enabled}))


def _put(session: Session, settings: PipelineSettings, *, update_workflows: bool = False) -> None:
    if update_workflows:
        settings = settings.model_copy(update={"update_associated_workflows": True})
    done = session.client.pipelines.put(settings)
    session.output.reply(done, pipeline=settings.pipeline_id)
    if not session.output.as_json and done.message is not None:
        session.output.say(done.message)


def _row(pipeline: Pipeline) -> list[object]:
    return [
        pipeline.database_id,
        pipeline.pipeline_id,
        pipeline.pipeline_execution_type,
        pipeline.resource,
        "no" if pipeline.enabled is False else "yes",
        pipeline.description,
    ]
