"""Commands for administrators of the search indexes: check, repair, rebuild."""

from collections.abc import Mapping
from typing import Annotated

import typer

from vitrine.cli.session import FAILED, Session, command
from vitrine.errors import ConfigurationError
from vitrine.models import Job
from vitrine.resources.facts import RenewalWork
from vitrine.resources.search_indexes import Consistency, Work

WaitOption = Annotated[bool, typer.Option("--wait", help="Wait until the job has ended.")]
TimeoutOption = Annotated[float, typer.Option(min=0, help="Maximum seconds to wait.")]


@command("admin search status")
def status(session: Session) -> None:
    """Show the state of the indexes and the last check; fails if they differ."""
    _print_report(session, session.client.search_indexes.consistency())


@command("admin search check")
def check(session: Session, timeout: TimeoutOption = 3600.0) -> None:
    """Compare the indexes with the tables and buckets; fails if they differ."""
    _wait(session, session.client.search_indexes.check(), timeout)
    _print_report(session, session.client.search_indexes.consistency())


@command("admin search repair")
def repair(
    session: Session,
    database: Annotated[str | None, typer.Option(help="Only documents of this database.")] = None,
    asset: Annotated[
        str | None, typer.Option(help="Only documents of this asset; requires --database.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All documents that differ.")] = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 3600.0,
) -> None:
    """Rebuild search documents that differ from the stored data."""
    check_all_or_part(everything, {"--database": database})
    if asset is not None and database is None:
        raise ConfigurationError("--asset requires --database")
    work = session.client.search_indexes.repair(database_id=database, asset_id=asset)
    print_work(session, work, timeout=timeout if wait else None)


@command("admin search reindex")
def reindex(session: Session, wait: WaitOption = False, timeout: TimeoutOption = 3600.0) -> None:
    """Rebuild the indexes while searches use the old ones; `jobs cancel` undoes it."""
    work = session.client.search_indexes.reindex()
    print_work(session, work, timeout=timeout if wait else None)


@command("admin search fields")
def fields(session: Session) -> None:
    """List the fields that can be searched, by index."""
    mappings = session.client.search.mappings()
    session.output.document(mappings)
    rows: list[list[object]] = []
    for index, entry in sorted(mappings.items()):
        mapping = entry.get("mappings") if isinstance(entry, dict) else None
        properties = mapping.get("properties") if isinstance(mapping, dict) else None
        for name, field in (properties if isinstance(properties, dict) else {}).items():
            rows.append([index, name, field.get("type") if isinstance(field, dict) else None])
    session.output.rows(["index", "field", "type"], rows)


def check_all_or_part(everything: bool, parts: Mapping[str, object]) -> None:
    """Require either --all or an option that names a part.

    Raises:
        ConfigurationError: both or neither are given.
    """
    names = [name for name, value in parts.items() if value not in (None, [])]
    if everything and names:
        raise ConfigurationError(f"--all cannot be used together with {' and '.join(names)}")
    if not everything and not names:
        raise ConfigurationError(f"give --all, or {' or '.join(parts)}")


def print_work(session: Session, work: Work | RenewalWork, *, timeout: float | None) -> None:
    """Print a job; with `timeout`, wait until it has ended and print its outcome."""
    fact = "began" if work.started else "was already running"
    if timeout is None:
        session.output.document(work.wire())
        session.output.rows(["job", "fact"], [[work.job_id, fact]])
        return
    job = _wait(session, work, timeout)
    session.output.document({**work.wire(), "job": job.wire()})
    session.output.rows(
        ["job", "fact", "state", "done"], [[work.job_id, fact, job.state, job.items_done]]
    )
    if not session.output.as_json:
        for problem in job.problems:
            session.output.say(f"problem: {problem}")


def _wait(session: Session, work: Work | RenewalWork, timeout: float) -> Job:
    return session.client.jobs.wait(work.job_id, timeout=timeout, sleep=session.wiring.sleep)


def _print_report(session: Session, consistency: Consistency) -> None:
    """Print the report; the exit code shows whether a correction is needed."""
    session.output.document(consistency.wire())
    session.output.rows(
        ["index", "searched", "written", "mapping"],
        [
            [
                index.alias,
                index.reads,
                ", ".join(index.writes),
                "differs" if index.differences else "as declared",
            ]
            for index in consistency.indexes
        ],
    )
    report = consistency.report
    if report is not None:
        if not session.output.as_json:
            session.output.line(
                f"{report.documents} documents: {report.missing} missing, {report.stale} stale, "
                f"{report.extra} extra; the oldest change that is not indexed is "
                f"{report.oldest_unindexed_seconds} s old; checked at {report.finished_at}"
            )
        session.output.rows(
            ["drift", "document"],
            [[example.drift, example.document_id] for example in report.examples],
        )
    if not session.output.as_json:
        for job in consistency.work:
            session.output.say(f"{job.kind}: {job.job_id} is {job.state}, {job.items_done} done")
        for correction in consistency.corrections:
            session.output.say(f"to correct this: {correction}")
    if consistency.corrections:
        raise typer.Exit(FAILED)
