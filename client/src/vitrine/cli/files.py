"""Commands that change files of an asset."""

from typing import Annotated

import typer

from vitrine.cli.facts import REFUSED, facts_of, users_of
from vitrine.cli.options import AssetArgument, DatabaseArgument, TimeoutOption, WaitOption
from vitrine.cli.output import size_text
from vitrine.cli.session import Session, YesOption, command
from vitrine.lookup import find_asset
from vitrine.models import AssetIds, FileVersion, Job
from vitrine.resources.file_changes import FilesChanged

PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="A path in the asset, such as /parts/1.glb.")
]
SourceArgument = Annotated[str, typer.Argument(metavar="FROM", help="Path of the file.")]
TargetArgument = Annotated[str, typer.Argument(metavar="TO", help="New path.")]
FolderOption = Annotated[bool, typer.Option("--folder", help="The path is a folder.")]
SinceOption = Annotated[
    str | None, typer.Option("--since", help="With --folder: a time, ISO 8601 with its offset.")
]


@command("files mkdir")
def mkdir(
    session: Session, database: DatabaseArgument, asset: AssetArgument, path: PathArgument
) -> None:
    """Create an empty folder."""
    made = session.client.files.create_folder(session.asset_ids(database, asset), path)
    session.output.reply(made, folder=made.relative_key)


@command("files move")
def move(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    source: SourceArgument,
    target: TargetArgument,
    yes: YesOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Move a file within its asset, with its metadata and previews.

    In a terminal, requires confirmation if other files of the asset refer to it.
    """
    ids = session.asset_ids(database, asset)
    _confirm_move(session, ids, source, yes=yes)
    done = session.client.files.move(ids, source, target)
    _print(session, done, wait=wait, timeout=timeout)


@command("files move-folder")
def move_folder(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    source: Annotated[str, typer.Argument(metavar="FROM", help="Path of the folder.")],
    target: TargetArgument,
    yes: YesOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Move or rename a folder within its asset, with all files and their metadata and previews.

    Files that exist at the new path are not moved, and are named. In a terminal, requires
    confirmation if other files of the asset refer to files of the folder.
    """
    ids = session.asset_ids(database, asset)
    _confirm_move(session, ids, source, yes=yes, folder=True)
    done = session.client.files.move_folder(ids, source, target)
    _print(session, done, wait=wait, timeout=timeout, may_be_done=True)


@command("files copy")
def copy(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    source: SourceArgument,
    target: TargetArgument,
    to: Annotated[
        str | None,
        typer.Option(metavar="[DATABASE/]ASSET", help="Target asset; default: the same asset."),
    ] = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Copy a file, also to another asset, with its metadata and previews."""
    to_database, _, to_asset = (to or "").rpartition("/")
    done = session.client.files.copy(
        session.asset_ids(database, asset),
        source,
        target,
        to_asset=to_asset or None,
        to_database=to_database or None,
    )
    _print(session, done, wait=wait, timeout=timeout)


@command("files archive")
def archive(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: PathArgument,
    folder: FolderOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Archive a file or a folder: it is left out of lists, but can be restored."""
    done = session.client.files.archive(session.asset_ids(database, asset), path, folder=folder)
    _print(session, done, wait=wait, timeout=timeout)


@command("files unarchive")
def unarchive(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: PathArgument,
    folder: FolderOption = False,
    since: SinceOption = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Restore an archived file, or the archived files of a folder.

    With --folder, files that were moved out of it since --since are also restored, at their old
    paths: in S3, a moved file leaves the same marker as an archived one.
    """
    files, ids = session.client.files, session.asset_ids(database, asset)
    if folder and since is None:
        raise typer.BadParameter("not given: when the files were archived", param_hint="--since")
    done = files.unarchive_folder(ids, path, since) if folder else files.unarchive(ids, path)
    _print(session, done, wait=wait, timeout=timeout, may_be_done=folder)


@command("files delete")
def delete(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: PathArgument,
    folder: FolderOption = False,
    yes: YesOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Permanently delete a file or a folder with all versions."""
    ids = session.asset_ids(database, asset)
    used = "" if yes else users_of(session, ids, path, folder=folder)
    session.confirm(f"{used}Permanently delete {path} with all versions?", yes=yes)
    done = session.client.files.delete(ids, path, folder=folder)
    _print(session, done, wait=wait, timeout=timeout)


@command("files revert")
def revert(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: PathArgument,
    version: Annotated[str, typer.Argument(metavar="VERSION", help="S3 version id.")],
) -> None:
    """Restore an old version of a file as its newest version."""
    done = session.client.files.revert(session.asset_ids(database, asset), path, version)
    session.output.reply(
        done,
        **{
            "path": done.file_path,
            "from": done.reverted_from_version_id,
            "version": done.new_version_id,
            "job": done.job_id,
        },
    )


@command("files set-primary")
def set_primary(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: PathArgument,
    primary_type: Annotated[
        str, typer.Argument(metavar="TYPE", help="primary, lod1 to lod5, other, or '' for none.")
    ],
    other: Annotated[
        str | None, typer.Option(help="Name of the type for `other`, at most 30 characters.")
    ] = None,
) -> None:
    """Set or clear the primary type of a file."""
    ids = session.asset_ids(database, asset)
    done = session.client.files.set_primary(ids, path, primary_type, other=other)
    session.output.reply(done, path=done.file_path, type=done.primary_type)


@command("files delete-preview")
def delete_preview(
    session: Session, database: DatabaseArgument, asset: AssetArgument, yes: YesOption = False
) -> None:
    """Delete the preview of an asset."""
    ids = session.asset_ids(database, asset)
    session.confirm(f"Delete the preview of {ids[1]}?", yes=yes)
    done = session.client.files.delete_asset_preview(ids)
    session.output.reply(done, asset=done.asset_id)


@command("files delete-auxiliary")
def delete_auxiliary(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: PathArgument,
    yes: YesOption = False,
) -> None:
    """Delete files generated by viewers and pipelines for a file, or for a folder ('…/')."""
    ids = session.asset_ids(database, asset)
    session.confirm(f"Delete the generated files of {path}?", yes=yes)
    done = session.client.files.delete_auxiliary(ids, path)
    session.output.reply(done, path=path, deleted=done.deleted_count, job=done.job_id)


@command("files show")
def show_file(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Such as /parts/1.glb.")],
) -> None:
    """Show a file with its versions and facts, or the reason why it was refused."""
    asset_id = find_asset(session.client, database, asset).asset_id
    wanted = "/" + path.lstrip("/")
    file = session.client.files.info(database, asset_id, wanted, include_versions=True)
    facts = facts_of(session, (database, asset_id), wanted)
    session.output.document({**file.wire(), "facts": facts})
    session.output.rows(
        ["version", "changed", "size", "state"],
        [
            [
                version.version_id,
                version.last_modified,
                size_text(version.size),
                "archived" if version.is_archived else "latest" if version.is_latest else "",
            ]
            for version in file.versions or ()
        ],
    )
    if session.output.as_json:
        return
    refused = None if facts is None else facts.pop(REFUSED, None)
    session.output.rows(["fact", "value"], [[*fact] for fact in (facts or {}).items()])
    if facts is None:
        session.output.say("facts are not shown: you may not read the attributes of the file")
    if refused is not None:
        session.output.say(f"could not be read: {refused}")
    if file.not_inspected is not None:
        session.output.say(f"no facts, thumbnail or GLB: {file.not_inspected}")


@command("files history")
def history(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: PathArgument,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of versions.")] = 100,
) -> None:
    """List the versions of a file, newest first: who wrote them, how and from what."""
    asset_id = find_asset(session.client, database, asset, archived=True).asset_id
    wanted = "/" + path.lstrip("/")
    file = session.client.files.info(database, asset_id, wanted, include_versions=True)
    session.output.items(
        list(file.versions or ())[:limit],
        ["at", "user", "change", "version", "size", "from"],
        lambda version: [
            version.last_modified,
            version.change_user_id or "",
            version.change_source or ("archived" if version.is_archived else ""),
            version.version_id,
            size_text(version.size),
            _source_of(version),
        ],
    )


def _source_of(version: FileVersion) -> str:
    """Return the execution that wrote a version, or the file that was copied."""
    if version.change_workflow_execution_id is not None:
        return f"{version.change_workflow_id} {version.change_workflow_execution_id}"
    if version.change_asset_id_from is None:
        return ""
    asset = f"{version.change_database_id_from}/{version.change_asset_id_from}"
    return f"{asset}{version.change_asset_file_path_from}"


def _confirm_move(
    session: Session, ids: AssetIds, source: str, *, yes: bool, folder: bool = False
) -> None:
    used = "" if yes else users_of(session, ids, source, folder=folder)
    if used and session.output.err.is_terminal:
        session.confirm(f"{used}Move {source} anyway?", yes=yes)
    elif used:  # a move can be undone, so scripts are not stopped
        session.output.say(used.strip())


def _print(
    session: Session,
    done: FilesChanged,
    *,
    wait: bool,
    timeout: float,
    may_be_done: bool = False,
) -> None:
    """Print what was changed; `may_be_done` reads the state of the job without waiting for it."""
    job: Job | None = None
    if done.job_id is not None and (wait or may_be_done):
        jobs = session.client.jobs
        job = (
            jobs.wait(done.job_id, timeout=timeout, sleep=session.wiring.sleep)
            if wait
            else jobs.get(done.job_id)
        )
    state = job.state if job is not None else "done" if done.job_id is None else "running"
    problems = () if job is None else job.problems
    session.output.document({**done.wire(), "jobState": state, "problems": list(problems)})
    session.output.rows(
        ["path", "job", "state"], [[path, done.job_id, state] for path in done.affected_files]
    )
    if not session.output.as_json:
        for problem in problems:
            session.output.say(f"left as it was: {problem}")
