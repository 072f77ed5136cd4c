"""Divides the places of concurrent executions among users. Pure."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence

from backend.domains.executions.models import ActiveExecution


def executions_to_admit(
    waiting: Sequence[ActiveExecution],
    admitted: Sequence[ActiveExecution],
    limit: int,
    last_places: Mapping[str, str],
) -> Sequence[ActiveExecution]:
    """Return the waiting executions to admit, in their order. `waiting` is sorted by age.

    A user alone may take all places. While others wait, no user gets more than half of them, and
    the last one is kept for a user who has none. The user with the fewest places comes first, of
    these the one who has been without a place for longest (`last_places`: when an execution of a
    user last ended). Without this, 30 files of one user, or 10 of each of three, delay the file of
    another by the time of all of them.
    """

    def turn(user: str) -> tuple[int, str, str]:
        first = queues[user][0]
        return held[user], max(last_places.get(user, ""), first.since), first.execution_id

    held = Counter(execution.user for execution in admitted)
    queues: dict[str, deque[ActiveExecution]] = {}
    for execution in waiting:
        queues.setdefault(execution.user, deque()).append(execution)
    executions: list[ActiveExecution] = []
    while queues and held.total() < limit:
        is_last = held.total() == limit - 1
        allowed = [
            user
            for user in queues
            if len(queues) == 1
            or (held[user] < max(1, limit // 2) and not (is_last and held[user]))
        ]
        if not allowed:
            break
        user = min(allowed, key=turn)
        executions.append(queues[user].popleft())
        held[user] += 1
        if not queues[user]:
            del queues[user]
    return executions
