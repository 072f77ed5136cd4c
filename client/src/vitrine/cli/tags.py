"""Commands for tags and tag types."""

from typing import Annotated

import typer

from vitrine.cli.session import Session, YesOption, command
from vitrine.errors import ConflictError

TagArgument = Annotated[str, typer.Argument(metavar="TAG")]
TagTypeArgument = Annotated[str, typer.Argument(metavar="TYPE")]
RequiredOption = Annotated[
    bool, typer.Option("--required", help="Require every asset to have a tag of this type.")
]


@command("tags list")
def list_tags(session: Session) -> None:
    """List tags."""
    session.output.items(
        session.client.tags.list(),
        ["tag", "type", "description"],
        lambda tag: [tag.tag_name, tag.tag_type_name, tag.description],
    )


@command("tags create")
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


@command("tags delete")
def delete_tag(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="TAG")],
    yes: YesOption = False,
) -> None:
    """Delete a tag; the printed job removes it from the assets that have it."""
    session.confirm(f"Delete the tag {name} and remove it from all assets?", yes=yes)
    answer = session.client.tags.delete(name)
    session.output.reply(answer, deleted=name, job=answer.job_id)


@command("tags update")
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


@command("tag-types list")
def list_tag_types(session: Session) -> None:
    """List the tag types."""
    session.output.items(
        session.client.tag_types.list(),
        ["type", "required", "tags", "description"],
        lambda tag_type: [
            tag_type.tag_type_name,
            tag_type.required,
            " ".join(map(str, tag_type.tags or ())),
            tag_type.description,
        ],
    )


@command("tag-types create")
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


@command("tag-types update")
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


@command("tag-types delete")
def delete_tag_type(
    session: Session,
    tag_type: TagTypeArgument,
    yes: YesOption = False,
) -> None:
    """Delete a tag type that no tag uses."""
    session.confirm(f"Delete the tag type {tag_type}?", yes=yes)
    session.output.reply(session.client.tag_types.delete(tag_type), deleted=tag_type)
