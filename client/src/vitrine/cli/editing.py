"""Commands that change records: databases, assets without their files, tags and their types."""

from typing import Annotated

import typer

from vitrine.cli.reading import AssetArgument, DatabaseArgument, ProcessingOption
from vitrine.cli.session import Session, YesOption, with_session
from vitrine.errors import ConfigurationError
from vitrine.lookup import find_asset

TextOption = Annotated[str | None, typer.Option("--description", help="4 to 256 characters.")]
TagArgument = Annotated[str, typer.Argument(metavar="TAG")]
TagTypeArgument = Annotated[str, typer.Argument(metavar="TYPE")]
RequiredOption = Annotated[
    bool, typer.Option("--required", help="Every asset carries one of its tags.")
]


@with_session
def update_database(
    session: Session,
    database: DatabaseArgument,
    description: TextOption = None,
    bucket: Annotated[str | None, typer.Option(help="Id of the bucket of new assets.")] = None,
    extensions: Annotated[
        str | None, typer.Option(help="Files may have these: .pdf,.glb or .all.")
    ] = None,
    restrict: Annotated[
        bool | None,
        typer.Option("--only-schemas/--any-metadata", help="Whether metadata needs a schema."),
    ] = None,
    processing: ProcessingOption = None,
) -> None:
    """Change a database."""
    if all(each is None for each in (description, bucket, extensions, restrict, processing)):
        raise ConfigurationError("nothing to change: see --help")
    done = session.client.databases.update(
        database,
        description=description,
        default_bucket_id=bucket,
        restrict_file_uploads_to_extensions=extensions,
        restrict_metadata_outside_schemas=restrict,
        processing=processing,
    )
    session.output.document(done.wire())
    session.output.rows(["database"], [[database]])


@with_session
def create_asset(
    session: Session,
    database: DatabaseArgument,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    description: TextOption = None,
    asset_id: Annotated[str | None, typer.Option("--id", help="Else one is made.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Carried by it; again for more.")] = None,
    folder: Annotated[
        str | None, typer.Option(help="The folder of the bucket that holds its files already.")
    ] = None,
    keep_here: Annotated[bool, typer.Option("--not-distributable", help="No downloads.")] = False,
) -> None:
    """Create an asset without files; `import` makes assets of folders."""
    made = session.client.assets.create(
        database,
        name,
        description=description or f"Asset {name}",
        is_distributable=not keep_here,
        tags=tag or (),
        asset_id=asset_id,
        bucket_existing_key=folder,
    )
    session.output.document(made.wire())
    session.output.rows(["asset"], [[made.asset_id]])


@with_session
def update_asset(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    name: Annotated[str | None, typer.Option(help="Its new name.")] = None,
    description: TextOption = None,
    tag: Annotated[list[str] | None, typer.Option(help="Instead of those it carries.")] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Carries none any more.")] = False,
    distributable: Annotated[
        bool | None, typer.Option("--distributable/--not-distributable", help="Downloads or none.")
    ] = None,
) -> None:
    """Change an asset; fails where somebody else changes it at the same time."""
    if tag and no_tags:
        raise ConfigurationError("--tag and --no-tags say two things")
    tags = [] if no_tags else tag
    if name is None and description is None and tags is None and distributable is None:
        raise ConfigurationError("nothing to change: see --help")
    found = find_asset(session.client, database, asset)
    done = session.client.assets.update(
        database,
        found.asset_id,
        asset_name=name,
        description=description,
        tags=tags,
        is_distributable=distributable,
        revision=found.revision,
    )
    session.output.document(done.wire())
    session.output.rows(["asset"], [[found.asset_id]])


@with_session
def update_tag(
    session: Session,
    tag: TagArgument,
    tag_type: Annotated[str, typer.Option("--type", help="The type that it has from now on.")],
    description: Annotated[str, typer.Option(help="What it stands for.")],
) -> None:
    """Change a tag."""
    done = session.client.tags.update(tag, description=description, tag_type_name=tag_type)
    session.output.document(done.wire())
    session.output.rows(["tag"], [[tag]])


@with_session
def list_tag_types(session: Session) -> None:
    """List the types of tags."""
    found = list(session.client.tag_types.list())
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["type", "required", "tags", "description"],
        [
            [one.tag_type_name, one.required, " ".join(map(str, one.tags or ())), one.description]
            for one in found
        ],
    )


@with_session
def create_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    description: Annotated[str | None, typer.Option(help="What its tags tell.")] = None,
    required: RequiredOption = False,
) -> None:
    """Create a type of tags."""
    made = session.client.tag_types.create(
        tag_type, description=description or f"Tags of type {tag_type}", required=required
    )
    session.output.document(made.wire())
    session.output.rows(["type"], [[tag_type]])


@with_session
def update_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    description: Annotated[str, typer.Option(help="What its tags tell.")],
    required: RequiredOption = False,
) -> None:
    """Change a type of tags."""
    done = session.client.tag_types.update(tag_type, description=description, required=required)
    session.output.document(done.wire())
    session.output.rows(["type"], [[tag_type]])


@with_session
def delete_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    yes: YesOption = False,
) -> None:
    """Delete a type that no tag has."""
    session.confirm(f"Delete the tag type {tag_type}?", yes=yes)
    done = session.client.tag_types.delete(tag_type)
    session.output.document(done.wire())
    session.output.rows(["deleted"], [[tag_type]])
