"""Commands for comments on versions of assets."""

from typing import Annotated

import typer

from vitrine.cli.options import AssetArgument, DatabaseArgument
from vitrine.cli.session import Session, YesOption, command
from vitrine.lookup import find_asset

KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="Comment id, as shown by `comments list`.")
]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT")]


@command("comments list")
def list_comments(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    version: Annotated[str | None, typer.Option(help="Only comments on this version.")] = None,
    deleted: Annotated[bool, typer.Option("--deleted", help="Show deleted ones instead.")] = False,
) -> None:
    """List the comments on an asset."""
    asset_id = find_asset(session.client, database, asset).asset_id
    comments = session.client.comments.list(
        asset_id, version_id=version, show_deleted=deleted or None
    )
    rows = sorted(comments, key=lambda comment: comment.date_created or "")
    session.output.items(
        rows,
        ["key", "by", "at", "text"],
        lambda comment: [
            comment.key,
            comment.comment_owner_id,
            comment.date_edited or comment.date_created,
            comment.comment_body,
        ],
    )


@command("comments add")
def add_comment(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    text: TextArgument,
    version: Annotated[
        str | None, typer.Option(help="Version to comment on; default: the current one.")
    ] = None,
) -> None:
    """Comment on a version of an asset."""
    asset_reply = find_asset(session.client, database, asset)
    current = (
        asset_reply.current_version.version if asset_reply.current_version is not None else "0"
    )
    key = session.client.comments.add(
        asset_reply.asset_id, text, version_id=version or current or "0"
    )
    session.output.reply({"key": key}, key=key)


@command("comments edit")
def edit_comment(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    comment: KeyArgument,
    text: TextArgument,
) -> None:
    """Change one of your comments."""
    asset_id = find_asset(session.client, database, asset).asset_id
    session.output.reply(session.client.comments.edit(asset_id, comment, text), key=comment)


@command("comments delete")
def delete_comment(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    comment: KeyArgument,
    yes: YesOption = False,
) -> None:
    """Delete one of your comments."""
    asset_id = find_asset(session.client, database, asset).asset_id
    session.confirm(f"Delete the comment {comment}?", yes=yes)
    session.output.reply(session.client.comments.delete(asset_id, comment), deleted=comment)


@command("comments show")
def show_comment(
    session: Session, database: DatabaseArgument, asset: AssetArgument, comment: KeyArgument
) -> None:
    """Show one comment."""
    asset_id = find_asset(session.client, database, asset).asset_id
    comment_reply = session.client.comments.get(asset_id, comment)
    session.output.reply(
        comment_reply,
        key=comment_reply.key,
        by=comment_reply.comment_owner_id,
        at=comment_reply.date_edited or comment_reply.date_created,
        text=comment_reply.comment_body,
    )
