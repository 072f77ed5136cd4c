"""Commands that change databases, assets without their files, tags and tag types."""

from typing import Annotated

import typer

from vitrine.cli.reading import AssetArgument, DatabaseArgument, ProcessingOption
from vitrine.cli.session import Session, YesOption, with_session
from vitrine.errors import ConfigurationError
from vitrine.lookup import find_asset

TextOption = Annotated[
    str | None, typer.Option("--description", help="Description; 4 to 256 characters.")
]
TagArgument = Annotated[str, typer.Argument(metavar="TAG")]
TagTypeArgument = Annotated[str, typer.Argument(metavar="TYPE")]
RequiredOption = Annotated[
    bool, typer.Option("--required", help="Require every asset to have a tag of this type.")
]


@with_session
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
    if all(each is None for each in (description, bucket, extensions, restrict, processing)):
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


@with_session
def create_asset(
    session: Session,
    database: DatabaseArgument,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    description: TextOption = None,
    asset_id: Annotated[
        str | None, typer.Option("--id", help="Id of the asset; default: generated.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Tag of the asset; may be repeated.")
    ] = None,
    folder: Annotated[
        str | None, typer.Option(help="Folder of the bucket that already contains the files.")
    ] = None,
    keep_here: Annotated[
        bool, typer.Option("--not-distributable", help="Forbid downloads.")
    ] = False,
) -> None:
    """Create an asset without files; `import` creates assets from folders."""
    made = session.client.assets.create(
        database,
        name,
        description=description or f"Asset {name}",
        is_distributable=not keep_here,
        tags=tag or (),
        asset_id=asset_id,
        bucket_existing_key=folder,
    )
    session.output.reply(made, asset=made.asset_id)


@with_session
def update_asset(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    description: TextOption = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Replaces all tags; may be repeated.")
    ] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove all tags.")] = False,
    distributable: Annotated[
        bool | None,
        typer.Option("--distributable/--not-distributable", help="Allow or forbid downloads."),
    ] = None,
) -> None:
    """Change an asset; fails if someone else changes it at the same time."""
    if tag and no_tags:
        raise ConfigurationError("--tag and --no-tags cannot be used together")
    tags = [] if no_tags else tag
    if name is None and description is None and tags is None and distributable is None:
        raise ConfigurationError("nothing to change: see --help")
    found = find_asset(session.client, database, asset)
    session.output.reply(
        session.client.assets.update(
            database,
            found.asset_id,
            asset_name=name,
            description=description,
            tags=tags,
            is_distributable=distributable,
            revision=found.revision,
        ),
        asset=found.asset_id,
    )


@with_session
def update_tag(
    session: Session,
    tag: TagArgument,
    tag_type: Annotated[str, typer.Option("--type", help="New tag type.")],
    description: Annotated[str, typer.Option(help="Description of the tag.")],
) -> None:
    """Change a tag."""
    session.output.reply(
        session.client.tags.update(tag, description=description, tag_type_name=tag_type), tag=tag
    )


@with_session
def list_tag_types(session: Session) -> None:
    """List the tag types."""
    session.output.items(
        session.client.tag_types.list(),
        ["type", "required", "tags", "description"],
        lambda one: [
            one.tag_type_name,
            one.required,
            " ".join(map(str, one.tags or ())),
            one.description,
        ],
    )


@with_session
def create_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    description: Annotated[str | None, typer.Option(help="Description of the tag type.")] = None,
    required: RequiredOption = False,
) -> None:
    """Create a tag type."""
    session.output.reply(
        session.client.tag_types.create(
            tag_type, description=description or f"Tags of type {tag_type}", required=required
        ),
        type=tag_type,
    )


@with_session
def update_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    description: Annotated[str, typer.Option(help="Description of the tag type.")],
    required: RequiredOption = False,
) -> None:
    """Change a tag type."""
    session.output.reply(
        session.client.tag_types.update(tag_type, description=description, required=required),
        type=tag_type,
    )


@with_session
def delete_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    yes: YesOption = False,
) -> None:
    """Delete a tag type that no tag uses."""
    session.confirm(f"Delete the tag type {tag_type}?", yes=yes)
    session.output.reply(session.client.tag_types.delete(tag_type), deleted=tag_type)
