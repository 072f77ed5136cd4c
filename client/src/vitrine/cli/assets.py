"""Commands for assets: list, show, create, update, history, archive, restore, delete."""

from collections.abc import Callable
from itertools import islice
from typing import Annotated

import typer

from vitrine.cli.options import (
    AssetArgument,
    DatabaseArgument,
    ReasonOption,
    TextOption,
    TimeoutOption,
    WaitOption,
)
from vitrine.cli.output import size_text
from vitrine.cli.session import Session, YesOption, command
from vitrine.errors import ConfigurationError
from vitrine.lookup import find_asset
from vitrine.models import Asset
from vitrine.quoting import quote_text
from vitrine.resources.lifecycle import Changed


@command("ls")
def ls(
    session: Session,
    database: Annotated[str | None, typer.Argument(metavar="DATABASE")] = None,
    asset: Annotated[str | None, typer.Argument(metavar="ASSET")] = None,
) -> None:
    """List databases, assets in one, or files of an asset."""
    client, output = session.client, session.output
    if database is None:
        output.items(
            client.databases.list(),
            ["database", "assets", "description"],
            lambda row: [row.database_id, row.asset_count, row.description],
        )
    elif asset is None:
        client.databases.get(database)
        output.items(
            client.assets.list(database),
            ["asset", "name", "type", "tags"],
            lambda row: [row.asset_id, row.asset_name, row.asset_type, " ".join(row.tags or ())],
        )
    else:
        asset_id = find_asset(client, database, asset).asset_id
        output.items(
            client.files.list(database, asset_id, basic=True, page_size=1_500),
            ["path", "size", "changed"],
            lambda row: [row.relative_path, size_text(row.size), row.date_created_current_version],
        )


@command("get")
def get(session: Session, database: DatabaseArgument, asset: AssetArgument) -> None:
    """Show one asset."""
    fields = find_asset(session.client, database, asset).wire()
    session.output.document(fields)
    session.output.rows(["field", "value"], [[name, value] for name, value in fields.items()])


@command("assets create")
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


@command("assets update")
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
    asset_reply = find_asset(session.client, database, asset)
    session.output.reply(
        session.client.assets.update(
            database,
            asset_reply.asset_id,
            asset_name=name,
            description=description,
            tags=tags,
            is_distributable=distributable,
            revision=asset_reply.revision,
        ),
        asset=asset_reply.asset_id,
    )


@command("assets history")
def history(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of changes.")] = 100,
) -> None:
    """List the changes of an asset, newest first; also of deleted ones that had its id."""
    asset_id = find_asset(session.client, database, asset, archived=True).asset_id
    listed = session.client.assets.history(database, asset_id, page_size=min(limit, 1_000))
    session.output.items(
        list(islice(listed, limit)),
        ["at", "user", "change", "name", "tags"],
        lambda change: [
            change.record_date,
            change.change_user_id,
            change.change_source,
            change.asset_snapshot.asset_name,
            " ".join(change.asset_snapshot.tags),
        ],
    )


@command("archive")
def archive(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    reason: ReasonOption = None,
    yes: YesOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Archive an asset, which hides it until it is restored.

    Lists and searches leave archived assets out.
    """
    asset_reply = find_asset(session.client, database, asset, archived=True)
    session.confirm(f"Archive {_describe_asset(asset_reply)}?", yes=yes)
    _change(
        session,
        lambda: session.client.assets.archive(database, asset_reply.asset_id, reason=reason),
        wait=wait,
        timeout=timeout,
    )


@command("unarchive")
def unarchive(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    reason: ReasonOption = None,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Restore files archived with it.")
    ] = True,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Restore an archived asset and files archived with it."""
    asset_reply = find_asset(session.client, database, asset, archived=True)
    _change(
        session,
        lambda: session.client.assets.unarchive(
            database, asset_reply.asset_id, reason=reason, unarchive_files=files
        ),
        wait=wait,
        timeout=timeout,
    )


@command("delete")
def delete(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    reason: ReasonOption = None,
    yes: YesOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Permanently delete an asset.

    All versions of its files, its metadata, links and comments are deleted with it.
    """
    asset_reply = find_asset(session.client, database, asset, archived=True)
    session.confirm(
        f"Permanently delete {_describe_asset(asset_reply)} with all versions of its files?",
        yes=yes,
    )
    _change(
        session,
        lambda: session.client.assets.delete(database, asset_reply.asset_id, reason=reason),
        wait=wait,
        timeout=timeout,
    )


def _describe_asset(asset: Asset) -> str:
    return f"the asset {quote_text(asset.asset_name)} ({asset.asset_id})"


def _change(session: Session, change: Callable[[], Changed], *, wait: bool, timeout: float) -> None:
    changed = change()
    state = changed.job_state
    if wait and state != "done":
        jobs = session.client.jobs
        state = jobs.wait(changed.job_id, timeout=timeout, sleep=session.wiring.sleep).state
    session.output.reply(
        {**changed.wire(), "jobState": state},
        asset=changed.asset_id,
        operation=changed.operation,
        job=changed.job_id,
        state=state,
    )
