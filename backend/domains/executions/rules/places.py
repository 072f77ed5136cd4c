"""Divides the places of concurrent executions among users. Pure."""

from collections import Counter, deque
from collections.abc import Collection, Sequence

from backend.domains.executions.models import ActiveExecution


def chosen(
    waiting: Sequence[ActiveExecution], admitted: Sequence[ActiveExecution], limit: int
) -> Sequence[ActiveExecution]:
    """Return the waiting executions to admit, in their order. `waiting` is sorted by age.

    A user alone may take all places. While others wait, no user gets more than half of them, and
    the last one is kept for a user who has none. The user with the fewest places comes first.
    Without this, 30 files of one user delay the file of another by the time of 30 files.
    """
    held = Counter(one.user for one in admitted)
    queues: dict[str, deque[ActiveExecution]] = {}
    for one in waiting:
        queues.setdefault(one.user, deque()).append(one)
    found: list[ActiveExecution] = []
    while queues and held.total() < limit:
        allowed = [user for user in queues if _may_take(user, queues.keys(), held, limit)]
        if not allowed:
            break
        user = min(allowed, key=lambda each: (held[each], queues[each][0].execution_id))
        found.append(queues[user].popleft())
        held[user] += 1
        if not queues[user]:
            del queues[user]
    return found


def _may_take(user: str, waiting: Collection[str], held: Counter[str], limit: int) -> bool:
    if len(waiting) == 1:
        return True
    is_last = held.total() == limit - 1
    return held[user] < max(1, limit // 2) and not (is_last and held[user])
