"""Commands for buckets: list, register, import objects."""

from typing import Annotated

import typer
from pydantic import JsonValue

from vitrine.cli.session import Session, command
from vitrine.errors import ConfigurationError
from vitrine.models import Bucket, Job

ROOT = "/"
PrefixOption = Annotated[
    str | None, typer.Option(help="Prefix whose folders become assets; default: the root.")
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(help="Database for new assets; created if it does not exist."),
]


@command("buckets list")
def list_buckets(session: Session) -> None:
    """List the buckets that hold assets."""
    _print(session, list(session.client.buckets.list()), listed=True)


@command("buckets register")
def register(
    session: Session,
    bucket: Annotated[str, typer.Argument(metavar="BUCKET", help="Name of the S3 bucket.")],
    prefix: PrefixOption = None,
    database: DatabaseOption = None,
) -> None:
    """Register a bucket, or a prefix in a bucket, as asset storage."""
    record = session.client.buckets.register(bucket, prefix=prefix, database=database)
    _print(session, [record], listed=False)


@command("import-bucket")
def import_bucket(
    session: Session,
    bucket: Annotated[str, typer.Argument(metavar="BUCKET", help="Id or name of a bucket.")],
    prefix: PrefixOption = None,
    database: DatabaseOption = None,
    wait: Annotated[bool, typer.Option(help="Wait until the import has ended.")] = True,
    timeout: Annotated[float, typer.Option(min=0, help="Maximum seconds to wait.")] = 86_400.0,
) -> None:
    """Create assets from the objects of a bucket.

    The command registers the bucket if necessary. Each folder directly below the prefix becomes an
    asset. No object is changed. The import continues if the command is interrupted; see `vitrine
    jobs wait` and `vitrine jobs cancel`.
    """
    record = _require_registered(session, bucket, prefix, database)
    started = session.client.buckets.start_import(record.bucket_id)
    session.output.say(f"job {started.job_id}")
    jobs = session.client.jobs
    if wait:

        def show_progress(job: Job) -> None:
            session.output.say(f"{job.state}: {job.items_done} objects")

        job = jobs.wait(
            started.job_id,
            timeout=timeout,
            seen=show_progress if session.output.err.is_terminal else None,
            sleep=session.wiring.sleep,
        )
    else:
        job = jobs.get(started.job_id)
    session.output.reply(
        {**started.wire(), "job": job.wire()},
        bucket=record.bucket_name,
        job=job.job_id,
        state=job.state,
        objects=job.items_done,
    )
    if not session.output.as_json:
        for problem in job.problems:
            session.output.say(f"problem: {problem}")


def _require_registered(
    session: Session, bucket: str, prefix: str | None, database: str | None
) -> Bucket:
    """Return the registered bucket with that id or name; register it if there is none."""
    named = [
        record
        for record in session.client.buckets.list()
        if bucket in {record.bucket_id, record.bucket_name}
    ]
    if prefix is not None:
        named = [record for record in named if _plain(record.base_assets_prefix) == _plain(prefix)]
    if len(named) > 1:
        prefixes = ", ".join(record.base_assets_prefix or ROOT for record in named)
        raise ConfigurationError(
            f"{bucket} is registered with several prefixes, choose one with --prefix: {prefixes}"
        )
    if not named:
        return session.client.buckets.register(bucket, prefix=prefix, database=database)
    if database is not None and named[0].default_database_id != database:
        default = named[0].default_database_id or "the deployment's default database"
        raise ConfigurationError(
            f"{bucket} is already registered; its assets are added to {default}"
        )
    return named[0]


def _plain(prefix: str | None) -> str:
    return (prefix or ROOT).strip(ROOT)


def _print(session: Session, buckets: list[Bucket], *, listed: bool) -> None:
    answer: JsonValue = (
        {"items": [bucket.wire() for bucket in buckets]} if listed else buckets[0].wire()
    )
    session.output.document(answer)
    session.output.rows(
        ["bucket", "name", "prefix", "database"],
        [
            [
                bucket.bucket_id,
                bucket.bucket_name,
                bucket.base_assets_prefix,
                bucket.default_database_id,
            ]
            for bucket in buckets
        ],
    )
