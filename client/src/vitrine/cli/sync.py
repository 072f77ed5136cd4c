"""Commands that keep a folder and an asset alike: sync push, sync pull."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from vitrine.cli.output import size_text
from vitrine.cli.progress import progress_on
from vitrine.cli.session import FAILED, Session, YesOption, command
from vitrine.cli.transfers import FolderArgument, JobsOption
from vitrine.cli.uploads import settings_of
from vitrine.errors import ConfigurationError
from vitrine.transfer.names import UnusableNameError, relative_key
from vitrine.transfer.report import Report, Status
from vitrine.transfer.sync_plan import Action, Direction, Options
from vitrine.transfer.syncing import DELETIONS, Folders, Plan, Sync

PlaceArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATABASE/ASSET[/PATH]", help="The asset, by id or name, or a folder of it."
    ),
]
DryOption = Annotated[bool, typer.Option("--dry-run", help="Only list what would be done.")]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite files that changed on both sides.")
]
ChecksumOption = Annotated[
    bool, typer.Option("--checksum", help="Compare contents, not only sizes and times.")
]


@command("sync push")
def push(  # noqa: PLR0913, PLR0917 - a parameter for each option; Typer calls it by name
    session: Session,
    folder: FolderArgument,
    place: PlaceArgument,
    delete: Annotated[
        bool,
        typer.Option("--delete", help="Archive files of the asset that the folder no longer has."),
    ] = False,
    force: ForceOption = False,
    checksum: ChecksumOption = False,
    dry_run: DryOption = False,
    jobs: JobsOption = 8,
    yes: YesOption = False,
) -> None:
    """Upload what changed in a folder since the last sync.

    A file that changed on both sides is a conflict: it is listed and left. Files that match a
    pattern of `.vitrineignore` in DIR are left out. With --delete, archiving more than 50 files or
    10 % of them asks first. The exit code is 1 if a file failed or is a conflict.
    """
    options = Options(delete=delete, force=force, checksum=checksum)
    _sync(session, Direction.PUSH, (folder, place), options, jobs=jobs, dry_run=dry_run, yes=yes)


@command("sync pull")
def pull(  # noqa: PLR0913, PLR0917 - a parameter for each option; Typer calls it by name
    session: Session,
    folder: FolderArgument,
    place: PlaceArgument,
    delete: Annotated[
        bool,
        typer.Option(
            "--delete", help="Remove files that a pull wrote and that the asset no longer has."
        ),
    ] = False,
    force: ForceOption = False,
    checksum: ChecksumOption = False,
    dry_run: DryOption = False,
    jobs: JobsOption = 8,
    yes: YesOption = False,
) -> None:
    """Download what changed in an asset since the last sync.

    A file that changed on both sides is a conflict: it is listed and left. With --delete, only
    files that a pull wrote and that are unchanged are removed; more than 50, or 10 % of all, after
    a question. The exit code is 1 if a file failed or is a conflict.
    """
    options = Options(delete=delete, force=force, checksum=checksum)
    _sync(session, Direction.PULL, (folder, place), options, jobs=jobs, dry_run=dry_run, yes=yes)


def _sync(
    session: Session,
    direction: Direction,
    sides: tuple[Path, str],
    options: Options,
    *,
    jobs: int,
    dry_run: bool,
    yes: bool,
) -> None:
    with progress_on(session.output.err, f"{direction.value}ing") as observer:
        sync = sync_of(session, *sides, jobs=jobs)
        sync.observer = observer
        plan = sync.plan(direction, options)
        report = Report(files=())
        if not dry_run and not plan.needs_confirmation:
            report = sync.run(plan)
    if not dry_run and plan.needs_confirmation:
        count = len(plan.of(*DELETIONS))
        verb = "Archive" if direction is Direction.PUSH else "Remove"
        session.confirm(f"{verb} {count} of {plan.total} files?", yes=yes)
        report = sync.run(plan)
    _print(session, plan, report, dry_run=dry_run)
    failed = report.of(Status.FAILED, Status.REFUSED) or plan.unreadable
    if failed or plan.of(Action.CONFLICT):
        raise typer.Exit(FAILED)


def sync_of(session: Session, folder: Path, place: str, *, jobs: int = 8) -> Sync:
    """Return the synchronization of a folder with DATABASE/ASSET[/PATH].

    Raises:
        ConfigurationError: the place or the ignore file is invalid.
    """
    database, _, rest = place.partition("/")
    asset, _, path = rest.partition("/")
    if not database or not asset:
        raise ConfigurationError(f"{place} is not of the form DATABASE/ASSET[/PATH]")
    try:
        below = relative_key(path.strip("/").split("/")) if path.strip("/") else ""
    except UnusableNameError as error:
        raise ConfigurationError(f"PATH: {error}") from error
    return Sync(
        client=session.client,
        folders=Folders(root=folder, asset=session.asset_ids(database, asset), path=below),
        state_folder=session.wiring.sync_folder,
        jobs=jobs,
        settings=settings_of(session),
    )


def _print(session: Session, plan: Plan, report: Report, *, dry_run: bool) -> None:
    changes = [step for step in plan.steps if step.action is not Action.SAME]
    counts: dict[str, JsonValue] = {
        action.value: len(plan.of(action)) for action in Action if plan.of(action)
    }
    failures = len(report.of(Status.FAILED, Status.REFUSED))
    document: dict[str, JsonValue] = {
        "items": [step.wire() for step in changes],
        "files": [outcome.wire() for outcome in report.files],
        "counts": {**counts, "failed": failures},
        "dryRun": dry_run,
    }
    session.output.document(document)
    if session.output.as_json:
        return
    session.output.rows(
        ["action", "file", "size", ""],
        [[step.action, step.path, size_text(step.size), step.reason] for step in changes],
    )
    for outcome in report.of(Status.REFUSED, Status.FAILED):
        session.output.say(f"{outcome.status.value}: {outcome.path}: {outcome.reason}")
    said = ", ".join(f"{count} {name}" for name, count in counts.items()) or "no files"
    failed = f"; {failures} failed" if failures else ""
    session.output.say(f"{'would do: ' if dry_run else ''}{said}{failed}")
