"""Commands for facts of files: dependencies, dependents, similar shapes, GLBs, renewals."""

from itertools import islice
from typing import Annotated

import typer
from pydantic import JsonValue

from vitrine.cli.indexes import TimeoutOption, WaitOption, check_all_or_part, print_work
from vitrine.cli.options import AssetArgument, DatabaseArgument
from vitrine.cli.output import size_text
from vitrine.cli.session import Session, command
from vitrine.errors import ApiError, PermissionDeniedError
from vitrine.metadata_filters import FACT
from vitrine.models import AssetIds
from vitrine.resources.metadata import MetadataOwner

_NAMED = 5
"""Files that a prompt lists."""
# More are shown as "or more": a prompt waits for it.
_COUNTED = 1000
REFUSED = "refused"
"""The fact with the reason why a file was not read."""
_WITH_COMMANDS = frozenset({"fact_references", "fact_shape"})

FileArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="A path in the asset, such as /parts/1.glb.")
]


@command("files dependencies")
def dependencies(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    file: Annotated[
        str | None, typer.Option("--file", help="Only references of this file.")
    ] = None,
    broken: Annotated[
        bool, typer.Option("--broken", help="Only references to missing files, or in a cycle.")
    ] = False,
) -> None:
    """List the references in an asset's files and the files they resolve to."""
    files = list(session.client.facts.dependencies(session.asset_ids(database, asset), file))
    session.output.document({"items": [user.wire() for user in files]})
    session.output.rows(
        ["file", "refers to", "kind", "state", "leads to"],
        [
            [
                user.file_path,
                reference.path,
                reference.kind,
                f"{reference.state}, circular" if reference.circular else reference.state,
                reference.file_path or "",
            ]
            for user in files
            for reference in user.references
            if not broken or reference.circular or reference.state not in {"found", "embedded"}
        ],
    )


@command("files used-by")
def dependents(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: FileArgument,
    folder: Annotated[bool, typer.Option("--folder", help="The path is a folder.")] = False,
) -> None:
    """List the files of an asset that refer to a file, or to any file in a folder."""
    ids = session.asset_ids(database, asset)
    session.output.items(
        session.client.facts.dependents(ids, path, folder=folder),
        ["file"],
        lambda dependent: [dependent.file_path],
    )


@command("files similar")
def similar(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: FileArgument,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of results.")] = 10,
) -> None:
    """List files with a similar shape; size, material and purpose are not compared."""
    reply = session.client.facts.similar(session.asset_ids(database, asset), path, size=limit)
    session.output.document(reply.wire())
    session.output.rows(
        ["similarity of shape", "database", "asset", "file"],
        [
            [
                f"{file.similarity:.3f}",
                file.database_id,
                file.asset_name,
                file.file_path,
            ]
            for file in reply.items
        ],
    )


@command("files glb")
def glb(
    session: Session, database: DatabaseArgument, asset: AssetArgument, path: FileArgument
) -> None:
    """Show the URL of the newest GLB of a file, or the reason why there is none."""
    glb_reply = session.client.facts.glb(session.asset_ids(database, asset), path)
    session.output.document(glb_reply.wire())
    made = glb_reply.glb
    if made is not None:
        session.output.rows(
            ["url", "size", "of version", "until"],
            [[made.url, size_text(made.size), made.version_id, made.expires_at]],
        )
    if glb_reply.glb_missing is not None:
        session.output.say(f"no GLB of the current version: {glb_reply.glb_missing.message}")


@command("facts renew")
def renew(
    session: Session,
    database: Annotated[str | None, typer.Option(help="Only files of this database.")] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", help="Only files of this format, such as dae; repeatable."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="The files of all databases.")] = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 3600.0,
) -> None:
    """Inspect files again whose facts were stored by an older version of the readers.

    The job ends when all inspections are requested; `runs` shows their progress.
    """
    check_all_or_part(everything, {"--database": database, "--format": formats})
    work = session.client.facts.renew(database_id=database, formats=formats or ())
    print_work(session, work, timeout=timeout if wait else None)


def facts_of(session: Session, ids: AssetIds, path: str) -> dict[str, JsonValue] | None:
    """Return the facts of a file by name; None if the caller may not read its attributes.

    Left out are references and the shape, which have commands of their own.
    """
    owner = MetadataOwner(database_id=ids[0], asset_id=ids[1], file_path=path, kind="attribute")
    try:
        records = [*session.client.metadata.list(owner)]
    except PermissionDeniedError:
        return None
    return {
        record.metadata_key.removeprefix(FACT): record.metadata_value
        for record in records
        if record.metadata_key.startswith(FACT) and record.metadata_key not in _WITH_COMMANDS
    }


def users_of(session: Session, ids: AssetIds, path: str, *, folder: bool = False) -> str:
    """Return a sentence on the files that refer to a file or folder; empty if there are none.

    Also empty without the permission to list them, or without a reply.
    """
    try:
        users = session.client.facts.dependents(ids, path, folder=folder)
        paths = [user.file_path for user in islice(users, _COUNTED)]
    except ApiError:
        return ""
    if not paths:
        return ""
    named = ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")
    count = f"{len(paths)} or more" if len(paths) == _COUNTED else str(len(paths))
    return f"Files that refer to it: {count} ({named}). "
