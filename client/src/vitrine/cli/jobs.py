"""Commands for jobs: list, show, cancel, resume, wait."""

from itertools import islice
from typing import Annotated

import typer

from vitrine.cli.session import Session, command
from vitrine.models import Job

JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Job id.")]


@command("jobs list")
def list_jobs(
    session: Session,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of jobs.")] = 50,
) -> None:
    """List the jobs that you started, newest first."""
    session.output.items(
        islice(session.client.jobs.list(), limit),
        ["job", "kind", "state", "done", "database", "asset", "started"],
        lambda job: [
            *(job.job_id, job.kind, job.state, _progress(job)),
            *(job.database_id, job.asset_id, job.created_at),
        ],
    )


@command("jobs show")
def show(session: Session, job: JobArgument) -> None:
    """Show the state of a job."""
    _print(session, session.client.jobs.get(job))


@command("jobs cancel")
def cancel(session: Session, job: JobArgument) -> None:
    """Cancel a job; changes already made are kept unless the job undoes them."""
    _print(session, session.client.jobs.cancel(job))


@command("jobs resume")
def resume(session: Session, job: JobArgument) -> None:
    """Resume a failed job, or a cancelled one that has not undone its last step."""
    _print(session, session.client.jobs.resume(job))


@command("jobs wait")
def wait(
    session: Session,
    job: JobArgument,
    timeout: Annotated[float, typer.Option(min=0, help="Maximum seconds to wait.")] = 600.0,
) -> None:
    """Wait until a job is done; fails if the job fails, is cancelled or times out."""

    def print_state(job_reply: Job) -> None:
        if session.output.err.is_terminal:
            session.output.say(f"{job_reply.state}: {_progress(job_reply)}")

    job_reply = session.client.jobs.wait(
        job, timeout=timeout, seen=print_state, sleep=session.wiring.sleep
    )
    _print(session, job_reply)


def _print(session: Session, job: Job) -> None:
    session.output.reply(
        job, job=job.job_id, state=job.state, done=_progress(job), asset=job.asset_id
    )
    if not session.output.as_json:
        for problem in job.problems:
            session.output.say(f"problem: {problem}")


def _progress(job: Job) -> str:
    return str(job.items_done) if job.items_total is None else f"{job.items_done}/{job.items_total}"
