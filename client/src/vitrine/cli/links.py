"""Commands for links between assets."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated

import typer

from vitrine.cli.options import AssetArgument, DatabaseArgument
from vitrine.cli.session import FAILED, Session, YesOption, command
from vitrine.errors import ConfigurationError
from vitrine.lookup import find_asset
from vitrine.models import Metadata, MetadataType
from vitrine.resources.links import LinkedAsset, LinkMetadataOwner

LinkArgument = Annotated[
    str, typer.Argument(metavar="LINK", help="Link id, as shown by `links list`.")
]
TagOption = Annotated[list[str] | None, typer.Option("--tag", help="May be repeated.")]


class LinkKind(StrEnum):
    CHILD = "child"
    RELATED = "related"


@command("links list")
def list_links(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show the whole tree instead of direct children only.")
    ] = (False),
) -> None:
    """List the assets linked to an asset."""
    asset_id = find_asset(session.client, database, asset).asset_id
    links = session.client.links.of(database, asset_id, tree=tree)
    session.output.document(links.wire())
    rows = [
        *_rows("parent", links.parents),
        *_rows("child", links.children),
        *_rows("related", links.related),
    ]
    session.output.rows(["kind", "name", "database", "asset", "alias", "link"], rows)
    unseen = links.unauthorized_counts
    if hidden := unseen.parents + unseen.children + unseen.related:
        session.output.say(f"{hidden} more without permission to see them")
    if links.truncated:
        session.output.say(links.message or "The tree has more assets than shown")


@command("links show")
def show_link(session: Session, link: LinkArgument) -> None:
    """Show one link."""
    link_reply = session.client.links.get(link)
    session.output.document(link_reply.wire())
    source = f"{link_reply.from_asset_database_id}/{link_reply.from_asset_id}"
    target = f"{link_reply.to_asset_database_id}/{link_reply.to_asset_id}"
    session.output.rows(
        ["from", "to", "type", "alias", "tags"],
        [
            [
                source,
                target,
                link_reply.relationship_type,
                link_reply.asset_link_alias_id,
                ", ".join(link_reply.tags),
            ]
        ],
    )


@command("links create")
def create_link(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="Id or name of the other asset.")],
    kind: Annotated[LinkKind, typer.Option(help="Relation of the other asset.")] = LinkKind.CHILD,
    other_database: Annotated[
        str | None, typer.Option(help="Database of the other asset; default: the same.")
    ] = None,
    alias: Annotated[
        str | None,
        typer.Option(help="Alias that distinguishes several links between the same assets."),
    ] = None,
    tag: TagOption = None,
) -> None:
    """Link two assets: as parent and child, or as related."""
    beside = other_database or database
    source = find_asset(session.client, database, asset)
    target = find_asset(session.client, beside, other)
    created = session.client.links.create(
        (database, source.asset_id),
        (beside, target.asset_id),
        "parentChild" if kind is LinkKind.CHILD else "related",
        alias=alias,
        tags=tag or (),
    )
    session.output.reply(created, link=created.asset_link_id)


@command("links edit")
def edit_link(
    session: Session,
    link: LinkArgument,
    alias: Annotated[str | None, typer.Option(help="New alias; empty to remove it.")] = None,
    tag: TagOption = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove all tags.")] = False,
) -> None:
    """Change the alias of a link, or its tags."""
    if tag and no_tags:
        raise ConfigurationError("give --tag or --no-tags")
    tags = [] if no_tags else tag
    if alias is None and tags is None:
        raise ConfigurationError("give --alias, --tag or --no-tags")
    session.output.reply(session.client.links.update(link, alias=alias, tags=tags), link=link)


@command("links delete")
def delete_link(
    session: Session,
    link: LinkArgument,
    yes: YesOption = False,
) -> None:
    """Delete a link with its metadata; the assets are kept."""
    session.confirm(f"Delete the link {link} with its metadata?", yes=yes)
    session.output.reply(session.client.links.delete(link), link=link)


@command("links get-metadata")
def get_metadata(session: Session, link: LinkArgument) -> None:
    """Show the metadata of a link."""
    session.output.items(
        session.client.metadata.list(LinkMetadataOwner(link)),
        ["key", "value", "type"],
        lambda record: [record.metadata_key, record.metadata_value, record.metadata_value_type],
    )


@command("links set-metadata")
def set_metadata(
    session: Session,
    link: LinkArgument,
    metadata_key: Annotated[str, typer.Argument(metavar="KEY")],
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    kind: Annotated[MetadataType, typer.Option("--type")] = MetadataType.STRING,
) -> None:
    """Add or change one metadata value of a link."""
    record = Metadata(metadata_key=metadata_key, metadata_value=value, metadata_value_type=kind)
    result = session.client.metadata.set(LinkMetadataOwner(link), [record])
    session.output.document(result.wire())
    for failed in result.failed_items:
        session.output.say(f"error: {failed.key}: {failed.error}")
    if result.failed_items:
        raise typer.Exit(FAILED)
    session.output.rows(["key", "value"], [[metadata_key, value]])


def _rows(
    kind: str, assets: Iterable[LinkedAsset], *, level: int = 0
) -> Iterator[tuple[str | None, ...]]:
    """Yield rows with one asset each; children of children are indented."""
    for asset in assets:
        name = "  " * level + asset.asset_name
        ids = (asset.database_id, asset.asset_id, asset.asset_link_alias_id, asset.asset_link_id)
        yield kind, name, *ids
        yield from _rows(kind, asset.children, level=level + 1)
