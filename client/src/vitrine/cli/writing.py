"""Commands for login, databases, tags and metadata."""

from typing import Annotated

import typer

from vitrine.cli.lifecycle import ReasonOption, TimeoutOption
from vitrine.cli.reading import AssetArgument, DatabaseArgument, ProcessingOption
from vitrine.cli.session import FAILED, Session, YesOption, with_session
from vitrine.config import write_login
from vitrine.errors import ConfigurationError, ConflictError
from vitrine.lookup import find_asset
from vitrine.models import Metadata, MetadataType
from vitrine.resources.metadata import MetadataOwner
from vitrine.transfer.targets import TargetError

FileOption = Annotated[str | None, typer.Option("--file", help="Path of a file in the asset.")]


@with_session
def login(session: Session) -> None:
    """Check an address and a key, and save them for this user."""
    connection = session.connection
    if connection.key is None:
        if not session.output.err.is_terminal:
            raise ConfigurationError("no API key: give --key, or set VITRINE_API_KEY")
        key = typer.prompt("API key", hide_input=True, err=True)
        connection = connection.model_copy(update={"key": str(key).strip()})
    with session.connect(connection) as client:
        answer = client.version.get()
        next(client.databases.list(page_size=1), None)
    path = session.wiring.login_path
    write_login(path, connection)
    session.output.document({"api": connection.api, "version": answer.version, "file": str(path)})
    if not session.output.as_json:
        session.output.line(f"logged in to {connection.api}; saved in {path}")


@with_session
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


@with_session
def list_databases(
    session: Session,
    deleted: Annotated[bool, typer.Option("--deleted", help="Show deleted ones instead.")] = False,
) -> None:
    """List databases."""
    session.output.items(
        session.client.databases.list(show_deleted=deleted or None),
        ["database", "assets", "deleted", "description"],
        lambda one: [one.database_id, one.asset_count, one.deleted_at, one.description],
    )


@with_session
def delete_database(
    session: Session,
    database: DatabaseArgument,
    yes: YesOption = False,
) -> None:
    """Delete a database without active assets."""
    session.confirm(f"Delete the database {database}?", yes=yes)
    session.output.reply(session.client.databases.delete(database), deleted=database)


@with_session
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


@with_session
def list_tags(session: Session) -> None:
    """List tags."""
    session.output.items(
        session.client.tags.list(),
        ["tag", "type", "description"],
        lambda one: [one.tag_name, one.tag_type_name, one.description],
    )


@with_session
def create_tag(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="TAG")],
    tag_type: Annotated[
        str, typer.Option("--type", help="Tag type; created if it does not exist.")
    ] = "general",
    description: Annotated[str | None, typer.Option(help="Description of the tag.")] = None,
) -> None:
    """Create a tag, and its type if it does not exist."""
    try:
        session.client.tag_types.create(tag_type, description=f"Tags of type {tag_type}")
    except ConflictError:
        session.output.say(f"the tag type {tag_type} already exists")
    session.output.reply(
        session.client.tags.create(
            name, description=description or f"Tag {name}", tag_type_name=tag_type
        ),
        tag=name,
    )


@with_session
def delete_tag(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="TAG")],
    yes: YesOption = False,
) -> None:
    """Delete a tag; the printed job removes it from the assets that have it."""
    session.confirm(f"Delete the tag {name} and remove it from all assets?", yes=yes)
    answer = session.client.tags.delete(name)
    session.output.reply(answer, deleted=name, job=answer.job_id)


@with_session
def get_metadata(
    session: Session, database: DatabaseArgument, asset: AssetArgument, file: FileOption = None
) -> None:
    """Show the metadata of an asset, or of one of its files."""
    owner = _owner(session, database, asset, file)
    session.output.items(
        session.client.metadata.list(owner),
        ["key", "value", "type"],
        lambda one: [one.metadata_key, one.metadata_value, one.metadata_value_type],
    )


@with_session
def set_metadata(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    metadata_key: Annotated[str, typer.Argument(metavar="KEY")],
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    kind: Annotated[MetadataType, typer.Option("--type")] = MetadataType.STRING,
    file: FileOption = None,
) -> None:
    """Add or change one metadata value of an asset, or of one of its files."""
    owner = _owner(session, database, asset, file)
    record = Metadata(metadata_key=metadata_key, metadata_value=value, metadata_value_type=kind)
    result = session.client.metadata.set(owner, [record])
    session.output.document(result.wire())
    for failed in result.failed_items:
        session.output.say(f"error: {failed.key}: {failed.error}")
    if result.failed_items:
        raise typer.Exit(FAILED)
    session.output.rows(["key", "value"], [[metadata_key, value]])


def _owner(session: Session, database: str, asset: str, file: str | None) -> MetadataOwner:
    asset_id = find_asset(session.client, database, asset).asset_id
    path = None if file is None else "/" + file.lstrip("/")
    return MetadataOwner(database_id=database, asset_id=asset_id, file_path=path)
