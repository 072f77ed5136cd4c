"""Commands that move files or wait for them: import, download, wait, demo."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from vitrine import demo as trial
from vitrine.cli.options import AssetArgument, DatabaseArgument
from vitrine.cli.output import size_text
from vitrine.cli.progress import progress_on
from vitrine.cli.session import FAILED, Session, command
from vitrine.cli.standard_streams import is_standard
from vitrine.cli.uploads import FinishOption, PartSizeOption, settings_of
from vitrine.errors import ConfigurationError
from vitrine.lookup import find_asset
from vitrine.transfer.downloading import download as download_files
from vitrine.transfer.finishing import WAIT_SECONDS
from vitrine.transfer.importing import import_directory
from vitrine.transfer.report import ImportReport, Report, Status
from vitrine.waiting import wait_until_drained

FolderArgument = Annotated[
    Path,
    typer.Argument(metavar="DIR", exists=True, file_okay=False, dir_okay=True, readable=True),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database", help="Database, created if it does not exist; default: the name of DIR."
    ),
]
TagOption = Annotated[
    list[str] | None, typer.Option("--tag", help="Tag for each asset; may be repeated.")
]
JobsOption = Annotated[
    int, typer.Option("--jobs", min=1, max=64, help="Number of parallel transfers.")
]
TimeoutOption = Annotated[float, typer.Option("--timeout", min=0, help="Maximum seconds to wait.")]


@command("import")
def import_folder(
    session: Session,
    folder: FolderArgument,
    database: DatabaseOption = None,
    tag: TagOption = None,
    jobs: JobsOption = 8,
    part_size: PartSizeOption = None,
    finish_timeout: FinishOption = WAIT_SECONDS,
) -> None:
    """Import a folder, creating an asset for each folder in it.

    Files at its first level become one more asset. A second run uploads only missing and
    different files, and resumes interrupted ones. Files that the server does not accept are listed
    with the reason. The exit code is 1 only if a file failed.
    """
    with progress_on(session.output.err, "importing") as observer:
        report = import_directory(
            session.client,
            folder,
            database_id=database,
            tags=tag or [],
            jobs=jobs,
            observer=observer,
            settings=settings_of(session, part_size=part_size, finish_timeout=finish_timeout),
        )
    _print_import(session, report)
    if report.failed:
        raise typer.Exit(FAILED)


def _print_import(session: Session, report: ImportReport) -> None:
    counts: dict[str, JsonValue] = {**report.counts()}
    session.output.document({**report.wire(), "counts": counts})
    if session.output.as_json:
        return
    print_failures(session, report)
    stored = report.of(Status.UPLOADED, Status.SKIPPED)
    session.output.rows(
        ["asset", "name", "files", "size"],
        [
            [
                asset.asset_id,
                asset.asset_name,
                len(files := [outcome for outcome in stored if outcome.asset_id == asset.asset_id]),
                size_text(sum(file.size for file in files)),
            ]
            for asset in report.assets
        ],
    )
    session.output.say(f"{report.database_id}: {_summary(report)} in {report.seconds:.1f} s")


def print_failures(session: Session, report: Report) -> None:
    """Print every file that failed, with the reason."""
    for outcome in report.of(Status.REFUSED, Status.FAILED):
        session.output.say(f"{outcome.status.value}: {outcome.path}: {outcome.reason}")


def _summary(report: Report) -> str:
    counts = report.counts()
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "no files"


@command("download")
def download(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="File or folder in the asset.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Target; default: the asset's name."),
    ] = None,
    jobs: JobsOption = 4,
) -> None:
    """Download an asset, or a file or folder of it.

    Checksums are verified, and an interrupted download resumes.
    """
    if output is not None and is_standard(output):
        raise ConfigurationError(
            "--output names a folder; `vitrine cat` writes a file to standard output"
        )
    asset_reply = find_asset(session.client, database, asset)
    target = output or Path(asset_reply.asset_id)
    with progress_on(session.output.err, "downloading") as observer:
        report = download_files(
            session.client,
            database,
            asset_reply.asset_id,
            target,
            path=path,
            jobs=jobs,
            observer=observer,
        )
    counts: dict[str, JsonValue] = {**report.counts()}
    session.output.document({**report.wire(), "counts": counts})
    if not session.output.as_json:
        print_failures(session, report)
        done = report.of(Status.DOWNLOADED, Status.SKIPPED)
        session.output.rows(
            ["file", "size", ""],
            [[outcome.path, size_text(outcome.size), outcome.status] for outcome in done],
        )
    if report.failed:
        raise typer.Exit(FAILED)


@command("wait")
def wait(session: Session, timeout: TimeoutOption = 300.0) -> None:
    """Wait until a local runtime has processed all changes.

    This needs --endpoint.
    """
    seconds = _wait(session, timeout)
    session.output.document({"drained": True, "seconds": round(seconds, 3)})
    if not session.output.as_json:
        session.output.line(f"all changes processed after {seconds:.1f} s")


def _wait(session: Session, timeout: float) -> float:
    admin = session.connection.admin
    if admin is None:
        raise ConfigurationError("waiting is possible only with a local runtime: give --endpoint")
    return wait_until_drained(
        admin,
        timeout=timeout,
        http=session.wiring.admin_transport,
        sleep=session.wiring.sleep,
        say=lambda text: None if session.output.as_json else session.output.say(text),
    )


@command("demo")
def demo(
    session: Session,
    folder: FolderArgument,
    database: DatabaseOption = None,
    jobs: JobsOption = 8,
    timeout: TimeoutOption = 900.0,
) -> None:
    """Import a folder and check that search finds its files.

    The check begins when all files are processed. The last line is JSON. The exit code is 1 if a
    file failed or is not found.
    """
    with progress_on(session.output.err, "importing") as observer:
        result = trial.run(
            session.client,
            folder,
            database_id=database,
            jobs=jobs,
            observer=observer,
            drain=lambda: _wait(session, timeout),
        )
    if not session.output.as_json:
        _show_demo(session, result)
    session.output.json(trial.json_line(result))
    if result.failed:
        raise typer.Exit(FAILED)


def _show_demo(session: Session, result: trial.Demo) -> None:
    print_failures(session, result.report)
    session.output.table(
        [
            *("asset", "files", "size", "found"),
            *("facts", "thumbs", "glbs", "refused", "other"),
        ],
        trial.table_rows(result),
    )
    for name, counted in result.facets.items():
        shown = ", ".join(f"{row.key} {row.doc_count}" for row in counted[:8])
        session.output.say(f"{name}: {shown}")
    for key, reason in result.refused:
        session.output.say(f"refused: {key}: {reason}")
    for reason, count in result.not_inspected.most_common():
        session.output.say(f"{reason}: {count}")
    for problem in result.problems:
        session.output.say(f"error: {problem}")
