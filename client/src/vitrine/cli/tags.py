"""Commands for tags and tag types."""

from typing import Annotated

import typer

from vitrine.cli.session import Session, YesOption, command
from vitrine.errors import ConflictError
from vitrine.models import GLOBAL, Created

TagArgument = Annotated[str, typer.Argument(metavar="TAG")]
TagTypeArgument = Annotated[str, typer.Argument(metavar="TYPE")]
RequiredOption = Annotated[
    bool, typer.Option("--required", help="Require every asset to have a tag of this type.")
]
ScopeOption = Annotated[
    str, typer.Option("--database", "-d", help="Database that has it; default: all databases.")
]
OnlyOption = Annotated[
    str | None, typer.Option("--database", "-d", help="Only those of this database, or GLOBAL.")
]


@command("tags list")
def list_tags(session: Session, database: OnlyOption = None) -> None:
    """List tags."""
    session.output.items(
        session.client.tags.list(database_id=database),
        ["tag", "type", "description", "database"],
        lambda tag: [tag.tag_name, tag.tag_type_name, tag.description, tag.database_id],
    )


@command("tags create")
def create_tag(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="TAG")],
    tag_type: Annotated[
        str, typer.Option("--type", help="Tag type; created if it does not exist.")
    ] = "general",
    description: Annotated[str | None, typer.Option(help="Description of the tag.")] = None,
    database: ScopeOption = GLOBAL,
) -> None:
    """Create a tag, and its type if it does not exist."""
    about = f"Tags of type {tag_type}"
    try:
        session.client.tag_types.create(tag_type, description=about, database_id=database)
    except ConflictError:
        session.output.say(f"the tag type {tag_type} already exists")
    answer = session.client.tags.create(
        name,
        description=description or f"Tag {name}",
        tag_type_name=tag_type,
        database_id=database,
    )
    _warn(session, answer)
    session.output.reply(answer, tag=name)


@command("tags delete")
def delete_tag(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="TAG")],
    database: ScopeOption = GLOBAL,
    yes: YesOption = False,
) -> None:
    """Delete a tag; the printed job removes it from the assets that have it."""
    assets = "all assets" if database == GLOBAL else f"all assets of {database}"
    session.confirm(f"Delete the tag {name} and remove it from {assets}?", yes=yes)
    answer = session.client.tags.delete(name, database_id=database)
    session.output.reply(answer, deleted=name, job=answer.job_id)


@command("tags update")
def update_tag(
    session: Session,
    tag: TagArgument,
    tag_type: Annotated[str, typer.Option("--type", help="New tag type.")],
    description: Annotated[str, typer.Option(help="Description of the tag.")],
    database: ScopeOption = GLOBAL,
) -> None:
    """Change a tag."""
    answer = session.client.tags.update(
        tag, description=description, tag_type_name=tag_type, database_id=database
    )
    session.output.reply(answer, tag=tag)


@command("tag-types list")
def list_tag_types(session: Session, database: OnlyOption = None) -> None:
    """List the tag types."""
    session.output.items(
        session.client.tag_types.list(database_id=database),
        ["type", "required", "tags", "description", "database"],
        lambda tag_type: [
            tag_type.tag_type_name,
            tag_type.required,
            " ".join(map(str, tag_type.tags or ())),
            tag_type.description,
            tag_type.database_id,
        ],
    )


@command("tag-types create")
def create_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    description: Annotated[str | None, typer.Option(help="Description of the tag type.")] = None,
    required: RequiredOption = False,
    database: ScopeOption = GLOBAL,
) -> None:
    """Create a tag type."""
    about = description or f"Tags of type {tag_type}"
    answer = session.client.tag_types.create(
        tag_type, description=about, required=required, database_id=database
    )
    _warn(session, answer)
    session.output.reply(answer, type=tag_type)


@command("tag-types update")
def update_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    description: Annotated[str, typer.Option(help="Description of the tag type.")],
    required: RequiredOption = False,
    database: ScopeOption = GLOBAL,
) -> None:
    """Change a tag type."""
    answer = session.client.tag_types.update(
        tag_type, description=description, required=required, database_id=database
    )
    session.output.reply(answer, type=tag_type)


@command("tag-types delete")
def delete_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    database: ScopeOption = GLOBAL,
    yes: YesOption = False,
) -> None:
    """Delete a tag type that no tag uses."""
    session.confirm(f"Delete the tag type {tag_type}?", yes=yes)
    answer = session.client.tag_types.delete(tag_type, database_id=database)
    session.output.reply(answer, deleted=tag_type)


def _warn(session: Session, answer: Created) -> None:
    for warning in answer.warnings or ():
        session.output.say(warning)
