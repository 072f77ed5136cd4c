"""`python -m tests.infra.without WHAT NAME FOLDER`: an assembly of an incomplete product.

WHAT is `function`, `uses` (a queue remains declared, but nothing uses it) or `queue`.
"""

import json
import sys
from dataclasses import replace

from backend.spec import functions, queues


def leave_out(what: str, name: str) -> None:
    """Change the declarations, before the modules of `infra` that read them are imported."""
    queues.STREAM_SUBSCRIPTIONS = tuple(
        s for s in queues.STREAM_SUBSCRIPTIONS if s.consumer != name
    )
    queues.QUEUE_SUBSCRIPTIONS = tuple(
        s for s in queues.QUEUE_SUBSCRIPTIONS if name not in (s.consumer, s.source.name)
    )
    kept = tuple(spec for spec in functions.FUNCTIONS if spec.name != name)
    if what != "function":
        kept = tuple(
            replace(
                spec,
                sends=tuple(queue for queue in spec.sends if queue.name != name),
                redrives=tuple(queue for queue in spec.redrives if queue.name != name),
            )
            for spec in kept
        )
    functions.FUNCTIONS = kept
    if what == "queue":
        queues.QUEUES = tuple(queue for queue in queues.QUEUES if queue.name != name)


def main(what: str, name: str, folder: str, context: str) -> None:
    leave_out(what, name)
    from infra.assembly import build

    build(folder, json.loads(context)).synth()


if __name__ == "__main__":
    main(*sys.argv[1:])
