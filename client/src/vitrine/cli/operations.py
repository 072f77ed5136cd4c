"""Commands for administrators: failures and dead letters."""

from typing import Annotated

import typer

from vitrine.cli.output import size_text
from vitrine.cli.session import FAILED, Session, command
from vitrine.errors import ConfigurationError
from vitrine.resources.operations import Replayed

# As `session._EXIT_CODES` has it for what does not exist.
NOT_FOUND = 3
ConsumerOption = Annotated[
    str | None, typer.Option(help="Only failures of this function, such as IndexChanges.")
]


@command("admin failures list")
def list_failures(session: Session, consumer: ConsumerOption = None) -> None:
    """List changes that could not be indexed or processed."""
    session.output.items(
        session.client.failures.list(consumer=consumer),
        ["key", "consumer", "failed", "attempts", "reason"],
        lambda failure: [
            failure.key,
            failure.consumer,
            failure.failed_at,
            failure.attempts,
            failure.reason,
        ],
    )


@command("admin failures show")
def show_failure(
    session: Session,
    failure: Annotated[str, typer.Argument(metavar="KEY", help="Key of the failure, as listed.")],
) -> None:
    """Show a failure with its stored message."""
    failure_reply = session.client.failures.get(failure)
    wire = failure_reply.wire()
    session.output.document(wire)
    shown = {**wire, "size": size_text(failure_reply.size)}
    session.output.rows(["field", "value"], [[name, value] for name, value in shown.items()])


@command("admin failures replay")
def replay_failures(
    session: Session,
    keys: Annotated[list[str] | None, typer.Argument(metavar="KEY...")] = None,
    consumer: ConsumerOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Replay all failures.")] = False,
) -> None:
    """Replay failures: by key, all of a function, or all; those that fail again are kept."""
    if [bool(keys), consumer is not None, everything].count(True) != 1:
        raise ConfigurationError("give keys, --consumer or --all")
    if keys:
        replayed = session.client.failures.replay(keys)
    else:
        replayed = session.client.failures.replay_all(consumer=consumer)
    done: list[Replayed] = []
    for result in replayed:
        done.append(result)
        session.output.rows(
            ["outcome", "key", "reason"], [[result.outcome, result.key, result.reason]]
        )
    session.output.document({"items": [result.wire() for result in done]})
    outcomes = {result.outcome for result in done}
    counts = ", ".join(
        f"{sum(result.outcome == name for result in done)} {name}" for name in sorted(outcomes)
    )
    if not session.output.as_json:
        session.output.say(counts or "there are no failures to replay")
    if outcomes & {"failed", "changed"}:
        raise typer.Exit(FAILED)
    if "absent" in outcomes:
        raise typer.Exit(NOT_FOUND)


@command("admin queues list")
def list_queues(session: Session) -> None:
    """List the queues with their waiting messages and dead letters."""
    session.output.items(
        session.client.queues.list(),
        ["queue", "waiting", "in flight", "delayed", "dead letters", "last redrive"],
        lambda queue: [
            *(queue.queue_name, queue.waiting, queue.in_flight, queue.delayed),
            *(queue.dead_letters, queue.redrive.state.lower() if queue.redrive else ""),
        ],
    )


@command("admin queues redrive")
def redrive_queue(session: Session, queue: Annotated[str, typer.Argument(metavar="QUEUE")]) -> None:
    """Move the dead letters of a queue back into the queue."""
    done = session.client.queues.redrive(queue)
    session.output.reply(done, **{"queue": done.queue_name, "dead letters": done.dead_letters})
    if done.message and not session.output.as_json:
        session.output.say(done.message)
