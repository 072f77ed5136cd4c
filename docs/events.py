"""The page on events, from their declarations."""

import json
from collections.abc import Iterator

from backend.spec.events import COMMON_FIELDS, EVENT_TYPES, SOURCE, schema_of
from docs.tables import rows

_INTRODUCTION = f"""\
With the setting `events`, each change of an asset is published as an event: on a bus of EventBridge
(`bus`; the output `EventBusName` names it), or in an SQS queue (`queue`, `EventFeedUrl`). An event
has ids, versions and the actor, and no content: who may read content decides the API, when a reader
requests it. But the events of all assets are on one bus: a reader learns that an asset exists, its
paths and its users. Therefore the bus has no policy, and the deployment grants no access. You
decide by rules and by the bus's policy who receives events.

- The source is `{SOURCE}`, the detail type that of the table, the detail as its schema says.
- Delivery is at least once. `id` is the same in each repetition.
- `number` orders publishing, by asset and without gaps: a number that a reader lacks is that of an
  event which it lost or has not received yet. `at` orders changes; they may be published in another
  order.
- The source is the audit log. What it does not record causes no event: changes of files that other
  programs write into the bucket of an existing asset (S3's own events report these), and files that
  a job cannot change. An asset that such files become has the actor `SYSTEM`. The deletion of a
  database is one change of the database, not of its assets.
- The queue is for the local runtime, too: start it with `python -m local up --set events=queue`;
  `vitrine events --follow` prints the events and removes them.
- Changes of an upload, a folder or an execution's outputs are one event.
- Events that the bus refuses return to the queue `OutgoingEvents`. After 800 attempts they are dead
  letters, with an alarm; redrive them as others (`vitrine admin queues redrive OutgoingEvents`).
- `eventArchiveDays` archives the events of the bus. EventBridge replays them from `EventArchive`;
  replayed events have their numbers, and the field `replay-name`.
- Fields may be added. An unknown operation is a later release's."""


def events_page() -> Iterator[str]:
    """Return the lines of the page."""
    yield from _INTRODUCTION.splitlines()
    yield ""
    yield from rows(
        ("event", "meaning", "operations"),
        (
            (
                f"`{e.name}`",
                e.description,
                ", ".join(f"`{o}`" for o in e.operations) or "all others",
            )
            for e in EVENT_TYPES
        ),
    )
    yield from ("", "## Fields of all events", "")
    yield from rows(("field", "meaning"), ((f"`{f.name}`", f.description) for f in COMMON_FIELDS))
    for event in EVENT_TYPES:
        yield from ("", f"## {event.name}", "")
        if event.fields:
            yield from rows(
                ("field", "meaning"),
                (
                    (f"`{f.name}`", f.description + " (optional)" * (not f.required))
                    for f in event.fields
                ),
            )
            yield ""
        yield from ("```json", json.dumps(schema_of(event), indent=1), "```")
