"""Commands for databases."""

from typing import Annotated

import typer

from vitrine.cli.options import (
    DatabaseArgument,
    ProcessingOption,
    ReasonOption,
    TextOption,
    TimeoutOption,
)
from vitrine.cli.session import Session, YesOption, command
from vitrine.errors import ConfigurationError
from vitrine.transfer.targets import TargetError


@command("databases create")
def create_database(
    session: Session,
    database: DatabaseArgument,
    description: Annotated[
        str | None, typer.Option(help="Description; 4 to 256 characters.")
    ] = None,
    bucket: Annotated[
        str | None,
        typer.Option(help="Id of the bucket for new assets; default: the deployment's."),
    ] = None,
    processing: ProcessingOption = None,
) -> None:
    """Create a database."""
    if bucket is None:
        first = session.client.buckets.usual()
        if first is None:
            raise TargetError("the deployment has no bucket for a new database")
        bucket = first.bucket_id
    made = session.client.databases.create(
        database,
        description=description or f"Database {database}",
        default_bucket_id=bucket,
        processing=processing,
    )
    session.output.reply(made, database=made.database_id)


@command("databases list")
def list_databases(
    session: Session,
    deleted: Annotated[bool, typer.Option("--deleted", help="Show deleted ones instead.")] = False,
) -> None:
    """List databases."""
    session.output.items(
        session.client.databases.list(show_deleted=deleted or None),
        ["database", "assets", "deleted", "description"],
        lambda database: [
            database.database_id,
            database.asset_count,
            database.deleted_at,
            database.description,
        ],
    )


@command("databases delete")
def delete_database(
    session: Session,
    database: DatabaseArgument,
    yes: YesOption = False,
) -> None:
    """Delete a database without active assets."""
    session.confirm(f"Delete the database {database}?", yes=yes)
    session.output.reply(session.client.databases.delete(database), deleted=database)


@command("databases purge")
def purge_database(
    session: Session,
    database: DatabaseArgument,
    reason: ReasonOption = None,
    yes: YesOption = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the purge has ended.")] = False,
    timeout: TimeoutOption = 3600.0,
) -> None:
    """Permanently remove a deleted database's archived assets, versions, metadata, schemas."""
    session.confirm(
        f"Permanently remove everything of the database {database}, including archived assets?",
        yes=yes,
    )
    purge = session.client.databases.purge(database, reason=reason)
    state = purge.job_state
    if wait:
        jobs = session.client.jobs
        state = jobs.wait(purge.job_id, timeout=timeout, sleep=session.wiring.sleep).state
    session.output.reply(
        {**purge.wire(), "jobState": state}, database=database, job=purge.job_id, state=state
    )


@command("databases update")
def update_database(
    session: Session,
    database: DatabaseArgument,
    description: TextOption = None,
    bucket: Annotated[str | None, typer.Option(help="Id of the bucket for new assets.")] = None,
    extensions: Annotated[
        str | None, typer.Option(help="Allowed file extensions: .pdf,.glb or .all.")
    ] = None,
    restrict: Annotated[
        bool | None,
        typer.Option(
            "--only-schemas/--any-metadata",
            help="Allow only metadata keys that a schema defines.",
        ),
    ] = None,
    processing: ProcessingOption = None,
) -> None:
    """Change a database."""
    if all(item is None for item in (description, bucket, extensions, restrict, processing)):
        raise ConfigurationError("nothing to change: see --help")
    session.output.reply(
        session.client.databases.update(
            database,
            description=description,
            default_bucket_id=bucket,
            restrict_file_uploads_to_extensions=extensions,
            restrict_metadata_outside_schemas=restrict,
            processing=processing,
        ),
        database=database,
    )
