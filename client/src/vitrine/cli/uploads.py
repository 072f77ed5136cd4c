"""Commands for unfinished uploads: list, show, abort, resume."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, cast

import typer
from pydantic import JsonValue

from vitrine.cli.output import size_text
from vitrine.cli.progress import progress_on
from vitrine.cli.session import FAILED, Session, command
from vitrine.errors import ConfigurationError, NotFoundError
from vitrine.transfer.finishing import WAIT_SECONDS, Waiting
from vitrine.transfer.journal import JournalEntry, JournalFile
from vitrine.transfer.opening import Settings
from vitrine.transfer.report import FileOutcome, Observer, Report, Status
from vitrine.transfer.scan import LocalFile
from vitrine.transfer.uploading import BatchUpload
from vitrine.upload_models import UploadSummary

UploadArgument = Annotated[
    str, typer.Argument(metavar="UPLOAD", help="Upload id, as shown by `uploads list`.")
]
PartSizeOption = Annotated[
    int | None,
    typer.Option(
        "--part-size",
        min=5,
        max=5120,
        metavar="MIB",
        help="Part size; default: chosen by the server.",
    ),
]
FinishOption = Annotated[
    float,
    typer.Option(
        "--finish-timeout", min=0, help="Maximum seconds to wait for large files to be completed."
    ),
]
MIB = 1024 * 1024


def settings_of(
    session: Session, *, part_size: int | None = None, finish_timeout: float = WAIT_SECONDS
) -> Settings:
    """Return the settings of uploads in this session, with its journal."""
    return Settings(
        journal=session.journal,
        part_bytes=None if part_size is None else part_size * MIB,
        waiting=Waiting(seconds=finish_timeout),
    )


@command("uploads list")
def list_uploads(
    session: Session,
    here: Annotated[
        bool,
        typer.Option("--here", help="Only those started on this machine, without any request."),
    ] = False,
) -> None:
    """List your unfinished uploads; those started on this machine can be resumed here."""
    journal = {entry.upload_id: entry for entry in session.journal.entries()}
    if here:
        rows = [_row_here(upload) for upload in journal.values()]
    else:
        there = [upload for upload in session.client.uploads.list() if upload.state != "completed"]
        rows = [
            _row_here(journal[upload.upload_id]) if upload.upload_id in journal else _row(upload)
            for upload in there
        ]
    session.output.document({"items": [*rows]})
    session.output.rows(
        ["upload", "database", "asset", "files", "size", "started"],
        [
            [
                *(row["uploadId"], row["databaseId"], row["assetId"], row["files"]),
                size_text(cast("int", row["size"])),
                "on this machine" if row["startedHere"] else "on another machine",
            ]
            for row in rows
        ],
    )


def _row(upload: UploadSummary) -> dict[str, JsonValue]:
    return {
        "uploadId": upload.upload_id,
        "databaseId": upload.database_id,
        "assetId": upload.asset_id,
        "files": upload.files - upload.files_done - upload.files_failed,
        "size": upload.size,
        "startedHere": False,
    }


def _row_here(entry: JournalEntry) -> dict[str, JsonValue]:
    """Return an upload that was started here, with the files that are left to send."""
    return {
        "uploadId": entry.upload_id,
        "databaseId": entry.database_id,
        "assetId": entry.asset_id,
        "files": len(entry.left),
        "size": _size(entry),
        "startedHere": True,
    }


def _size(entry: JournalEntry) -> int:
    return sum(entry.files[key].size for key in entry.left)


@command("uploads show")
def show(session: Session, upload: UploadArgument) -> None:
    """Show the state of an upload and its files."""
    upload_reply = session.client.uploads.get(upload)
    session.output.document(upload_reply.wire())
    session.output.rows(
        ["file", "size", "state", ""],
        [
            [file.relative_key, size_text(file.file_size), file.state, file.error]
            for file in upload_reply.files
        ],
    )
    if not session.output.as_json:
        session.output.say(
            f"{upload_reply.upload_id}: {upload_reply.state}, until {upload_reply.expires_at}"
        )


@command("uploads abort")
def abort(session: Session, upload: UploadArgument) -> None:
    """Cancel an upload: stored parts are removed, completed files are kept."""
    answer = session.client.uploads.abort(upload)
    try:
        session.journal.entry(upload).remove()
    except ConfigurationError:
        session.output.say("this upload was started on another machine")
    session.output.reply(answer, upload=upload, state="given up")


@command("uploads resume")
def resume(
    session: Session,
    upload: UploadArgument,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, max=64, help="Number of parallel transfers.")
    ] = 8,
    finish_timeout: FinishOption = WAIT_SECONDS,
) -> None:
    """Resume an upload started on this machine; stored parts are not sent again."""
    entry = session.journal.entry(upload)
    try:
        session.client.uploads.get(upload)
    except NotFoundError:
        entry.remove()
        raise
    files = [entry.files[key] for key in sorted(entry.left)]
    with progress_on(session.output.err, "uploading") as observer:
        outcomes = _resume_files(session, entry, files, observer, jobs, finish_timeout)
    report = Report(files=tuple(outcomes))
    counts: dict[str, JsonValue] = {**report.counts()}
    session.output.document({**report.wire(), "counts": counts})
    session.output.rows(
        ["file", "size", "", ""],
        [[file.path, size_text(file.size), file.status, file.reason] for file in report.files],
    )
    if report.failed:
        raise typer.Exit(FAILED)


def _resume_files(
    session: Session,
    entry: JournalEntry,
    files: list[JournalFile],
    observer: Observer,
    jobs: int,
    finish_timeout: float,
) -> list[FileOutcome]:
    there = [LocalFile(path=Path(file.path), key=file.key, size=file.size) for file in files]
    observer.planned(files=len(there), size=sum(file.size for file in there))
    gone = [file for file in there if not file.path.is_file()]
    missing = [
        FileOutcome(
            path=str(file.path), status=Status.FAILED, key=file.key, reason="no longer exists"
        )
        for file in gone
    ]
    with ThreadPoolExecutor(jobs, thread_name_prefix="vitrine-part") as pool:
        batch = BatchUpload(
            session.client,
            database_id=entry.database_id,
            asset_id=entry.asset_id,
            parts=pool,
            observer=observer,
            stopped=threading.Event(),
            settings=settings_of(session, finish_timeout=finish_timeout),
        )
        return [*missing, *batch.run([file for file in there if file not in gone])]
